#include "child.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace kith::tools {

bool child_result::clean() const noexcept { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
int child_result::signal() const noexcept { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

child_result run_child(std::vector<std::string> words,
                       const std::vector<std::pair<std::string, std::string>>& environment, bool quiet) {
  const std::string name = words.front();
  if (name == "kith") words.front() = std::filesystem::read_symlink("/proc/self/exe");  // wherever it lies
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int failed[2];
  if (::pipe2(failed, O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) throw error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    for (const auto& [key, value] : environment) ::setenv(key.c_str(), value.c_str(), 1);
    if (quiet) {
      const int nothing = ::open("/dev/null", O_WRONLY);
      if (nothing >= 0) ::dup2(nothing, 1);
    }
    ::execvp(argv.front(), argv.data());
    const int why = errno;
    if (::write(failed[1], &why, sizeof why) < 0) ::_exit(126);
    ::_exit(127);
  }
  ::close(failed[1]);
  int why = 0;
  const bool not_started = ::read(failed[0], &why, sizeof why) == sizeof why;
  ::close(failed[0]);
  child_result r;
  while (::waitpid(child, &r.status, 0) < 0 && errno == EINTR) {
  }
  if (not_started) throw error(name + ": cannot be run: " + std::strerror(why));
  return r;
}

}  // namespace kith::tools
