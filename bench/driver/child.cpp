#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace kith::bench {

namespace {

constexpr int time_limit_ms = 120'000;  // the slowest sample takes a few seconds

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

child::child(std::string system, const std::filesystem::path& program, int workers, bool realtime,
             const settings& environment)
    : system_(std::move(system)) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot start " + program.string() + ": no pipe: " + std::strerror(errno));
  }
  const std::string count = std::to_string(workers);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot start " + program.string() + ": " + std::strerror(errno));
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // otherwise a stopped child would outlive an interrupted driver
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execl(program.c_str(), program.c_str(), "--workers", count.c_str(), realtime ? "--realtime" : nullptr, nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  const reply hello = ask({});
  if (!hello.ok) throw std::runtime_error(program.string() + " did not start: " + hello.text);
  version_ = hello.text;
  kill(pid_, SIGSTOP);
}

child::~child() { end(); }

void child::end() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
  close_fd(to_);
  close_fd(from_);
}

child::turn::turn(child& c) : of_(c) {
  if (c.pid_ > 0) kill(c.pid_, SIGCONT);
}
child::turn::~turn() {
  if (of_.pid_ > 0) kill(of_.pid_, SIGSTOP);
}

reply child::lost(const std::string& why) {
  end();
  return {false, 0, 0, why};
}

reply child::ask(const request& what) {
  if (!alive()) return {false, 0, 0, "the process has ended before"};
  const std::string line = to_line(what) + "\n";
  if (write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return lost("the process has ended: " + std::string(std::strerror(errno)));
  }
  for (;;) {
    if (const auto end_of_line = buffer_.find('\n'); end_of_line != std::string::npos) {
      const std::string answer = buffer_.substr(0, end_of_line);
      buffer_.erase(0, end_of_line + 1);
      return reply_of(answer);
    }
    pollfd ready{from_, POLLIN, 0};
    const int n = poll(&ready, 1, time_limit_ms);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) return lost("no answer within " + std::to_string(time_limit_ms / 1000) + " s to: " + to_line(what));
    char part[512];
    const ssize_t got = read(from_, part, sizeof part);
    if (got <= 0) return lost("the process ended while it was asked: " + to_line(what));
    buffer_.append(part, static_cast<std::size_t>(got));
  }
}

}  // namespace kith::bench
