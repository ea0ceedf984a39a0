// Locks that are kept over fork(), in any number. A library of policies that links Kith brings its own.
#include "base/fork.hpp"

#include <gtest/gtest.h>

#include <array>
#include <mutex>

#include <sys/wait.h>
#include <unistd.h>

namespace {

TEST(fork_locks, are_as_many_as_needed_and_free_in_the_child) {
  static std::array<std::mutex, 20> locks;  // never destroyed before the last fork
  for (std::mutex& m : locks) kith::keep_over_fork(m);
  const pid_t child = fork();
  if (child == 0) {
    for (std::mutex& m : locks) {
      if (!m.try_lock()) _exit(1);
    }
    _exit(0);
  }
  ASSERT_GT(child, 0);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
