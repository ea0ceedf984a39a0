#include "job.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace kith::bench {

namespace {

constexpr auto time_limit = std::chrono::seconds(120);

/// Reads until the end of the output, or until the time limit: then false.
bool read_all(int from, std::string& text) {
  using clock = std::chrono::steady_clock;
  for (const auto until = clock::now() + time_limit;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{from, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    char part[4096];
    const ssize_t got = read(from, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string output_of(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start " + words.front() + ": " + std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out[1], STDOUT_FILENO);
    execv(argv.front(), argv.data());
    _exit(127);
  }
  close(out[1]);
  std::string text;
  const bool ended = read_all(out[0], text);
  close(out[0]);
  if (!ended) kill(child, SIGTERM);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : " ") + w;
  if (!ended) throw std::runtime_error("not ended after two minutes: " + all);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("failed: " + all);
  return text;
}

}  // namespace kith::bench
