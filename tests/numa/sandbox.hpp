// A process of its own in which system calls are refused, as containers refuse them. A refusal is
// permanent, and Kith asks for its rights only once in a process. So the child starts the program anew
// (GoogleTest's threadsafe death tests).
#pragma once

#include <gmock/gmock.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace kith::test {

/// The calls that place pages, move them, or report where they are.
inline const std::vector<long> memory_policy_calls{SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_move_pages,
                                                   SYS_migrate_pages};

/// From now on the calls fail with EPERM in this process and its children. False if the system does not permit that.
inline bool refuse(const std::vector<long>& calls) {
  const auto offset_of_call = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_call)};
  for (long call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

/// The result of the child: its exit code, and what it wrote to stderr.
struct child {
  static constexpr int no_filter = 77;
  int code = -1;
  std::string said;
  bool possible() const { return code != no_filter; }
};

/// Runs `body` where the calls are refused. Its result, or 1 if an expectation in it failed, is the exit
/// code. Only once in a test, because the child runs the test up to here as well.
template <class Body>
child in_sandbox(const std::vector<long>& refused, Body body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  child c;
  const auto keep_code = [&](int status) {
    c.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
  };
  const auto keep_words = [&](const std::string& words) {
    c.said = words;
    return true;
  };
  const auto act = [&] {
    if (!refuse(refused)) _exit(child::no_filter);
    const int code = body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : code);
  };
  EXPECT_EXIT(act(), keep_code, testing::Truly(keep_words));
  return c;
}

}  // namespace kith::test
