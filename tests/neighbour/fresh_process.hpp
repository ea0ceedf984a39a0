// A process of its own for each test, because forks, masks and claims belong to a process. The test program
// itself makes no runtime and starts no thread, so its children are as fresh as a program that starts.
#pragma once

#include <gmock/gmock.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace kith::test {

/// Long enough for a busy machine under a sanitizer. A process that takes longer is taken to hang, and is
/// ended by SIGALRM.
inline constexpr unsigned hangs_after_seconds = 100;

/// The exit code, or 128 plus the signal.
inline int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct outcome {
  int code = -1;
  std::string said;  // on stderr
};

/// The result of `body`; 1 if it threw, or an expectation in it failed.
template <class Body>
int result_of(const Body& body) {
  int code = 1;
  try {
    code = body();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "the child ended by an exception: " << e.what();
  }
  std::fflush(nullptr);
  return testing::Test::HasFailure() ? 1 : code;
}

/// Runs `body` in a child, which ends with the result as if it were that of main(): static objects are destroyed.
template <class Body>
outcome in_fresh_process(Body body) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(hangs_after_seconds);
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    std::exit(result_of(body));
  }
  close(ends[1]);
  outcome o;
  std::array<char, 4096> some;
  for (ssize_t got = 0; (got = read(ends[0], some.data(), some.size())) > 0;)
    o.said.append(some.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  o.code = wait_for(child);
  return o;
}

/// Runs `body` in a child of the calling process, which exits at once with the result. Returns that result.
template <class Body>
int in_child_of_this(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(hangs_after_seconds);
    _exit(result_of(body));
  }
  return wait_for(child);
}

/// The CPUs that the calling thread may run on.
inline std::vector<int> my_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> found;
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(static_cast<std::size_t>(c), &allowed)) found.push_back(c);
  }
  return found;
}

}  // namespace kith::test
