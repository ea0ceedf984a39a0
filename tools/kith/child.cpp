#include "child.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace kith::tools {

namespace {

volatile pid_t running = 0;  // the child's id, for the handler
void pass_on(int signal) {
  if (running > 0) ::kill(running, signal);
}

/// Handles signals while a child runs, as system() does. What the terminal sends to both processes (Ctrl-C,
/// Ctrl-\\) is left to the child. What is sent only to this process is passed on to the child, so that this
/// process remains and can finish what the child has begun. Signals that were ignored stay ignored.
class signals_to_child {
 public:
  signals_to_child() {
    sigset_t held;
    sigemptyset(&held);
    for (int s : passed) sigaddset(&held, s);
    ::sigprocmask(SIG_BLOCK, &held, &mask_);  // until the child runs
    for (std::size_t i = 0; i < std::size(ignored); ++i) set(ignored[i], SIG_IGN, before_ignored_[i]);
    for (std::size_t i = 0; i < std::size(passed); ++i) set(passed[i], pass_on, before_passed_[i]);
  }
  ~signals_to_child() {
    running = 0;
    restore();
  }
  signals_to_child(const signals_to_child&) = delete;
  signals_to_child& operator=(const signals_to_child&) = delete;

  void started(pid_t child) {
    running = child;
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  /// Restores the state before; the child starts with it, too.
  void restore() const {
    for (std::size_t i = 0; i < std::size(ignored); ++i) ::sigaction(ignored[i], &before_ignored_[i], nullptr);
    for (std::size_t i = 0; i < std::size(passed); ++i) ::sigaction(passed[i], &before_passed_[i], nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  static constexpr int ignored[] = {SIGINT, SIGQUIT}, passed[] = {SIGTERM, SIGHUP};
  static void set(int signal, void (*handler)(int), struct sigaction& before) {
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;
    struct sigaction now{};
    now.sa_handler = handler;
    sigemptyset(&now.sa_mask);
    ::sigaction(signal, &now, nullptr);
  }
  struct sigaction before_ignored_[std::size(ignored)], before_passed_[std::size(passed)];
  sigset_t mask_;
};

/// Returns the child's status when it has ended.
int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

bool child_result::clean() const noexcept { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
int child_result::signal() const noexcept { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

child_result run_child(std::vector<std::string> words,
                       const std::vector<std::pair<std::string, std::string>>& environment, bool quiet, bool bound,
                       const std::function<void(pid_t)>& started) {
  const std::string name = words.front();
  if (name == "kith") words.front() = std::filesystem::read_symlink("/proc/self/exe");  // wherever it is installed
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int failed[2];
  if (::pipe2(failed, O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
  signals_to_child to_child;
  const pid_t child = ::fork();
  if (child < 0) {
    const int why = errno;
    ::close(failed[0]);
    ::close(failed[1]);
    throw error(std::string("fork: ") + std::strerror(why));
  }
  if (child == 0) {
    to_child.restore();
    for (const auto& [key, value] : environment) ::setenv(key.c_str(), value.c_str(), 1);
    if (bound) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (quiet) {
      const int nothing = ::open("/dev/null", O_WRONLY);
      if (nothing >= 0) ::dup2(nothing, 1);
    }
    ::execvp(argv.front(), argv.data());
    const int why = errno;
    if (::write(failed[1], &why, sizeof why) < 0) ::_exit(126);
    ::_exit(127);
  }
  to_child.started(child);
  ::close(failed[1]);
  try {
    if (started) started(child);
  } catch (...) {
    ::kill(child, SIGTERM);
    wait_for(child);
    ::close(failed[0]);
    throw;
  }
  int why = 0;
  ssize_t got = 0;
  while ((got = ::read(failed[0], &why, sizeof why)) < 0 && errno == EINTR) {
  }
  const bool not_started = got == sizeof why;
  ::close(failed[0]);
  const child_result r{wait_for(child)};
  if (not_started) throw error(name + ": cannot be run: " + std::strerror(why));
  return r;
}

}  // namespace kith::tools
