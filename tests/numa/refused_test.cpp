// Where the system calls of memory policy are refused, as many containers do: everything works, by first touch, and one
// line says so. What is refused stays refused for a process: the test runs itself again in another.
#include "real_nodes.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace kith;
using kith::test::memory;
using testing::HasSubstr;

constexpr const char* inside = "KITH_TEST_REFUSED";

/// From here on this process may not place, move or look up pages.
bool refuse() {
  const auto refuse_if = [](std::uint32_t call) {
    return std::array<sock_filter, 2>{sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
                                      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
  };
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (int call : {SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_move_pages, SYS_migrate_pages}) {
    for (const sock_filter& f : refuse_if(static_cast<std::uint32_t>(call))) filter.push_back(f);
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Refused, Inside) {
  if (std::getenv(inside) == nullptr) GTEST_SKIP() << "run by the next test, in a process of its own";
  ASSERT_TRUE(refuse());
  EXPECT_EQ(numa::process_rights().bind, EPERM);
  EXPECT_EQ(numa::process_rights().move, EPERM);
  runtime rt(kith::test::with_policy("dep+pm")), second(kith::test::with_policy("steal"));
  const std::size_t page = page_size();
  for (distribution how : {distribution(distribution::fine), distribution(distribution::coarse),
                           distribution(distribution::block), distribution(distribution::local),
                           distribution(distribution::deferred), distribution(node{0}).in_huge_pages()}) {
    const memory m(rt, 20 * page, how);
    rt.run([&] {
      for (std::size_t i = 0; i < 20; ++i)
        spawn([p = m.at(i * page)] { *p = std::byte{9}; }, inout(m.at(i * page), page));
    });
    EXPECT_EQ(m.at(19 * page)[0], std::byte{9});
    // Nothing is claimed of a placement that did not happen: what is known comes from first touch.
    if (current_machine().nodes.size() > 1) {
      EXPECT_EQ(known_bytes_on_nodes(rt, m.at(), 20 * page).back(), 0u);
    }
    EXPECT_EQ(count_pages(rt, m.at(), 20 * page), std::nullopt);
  }
  EXPECT_EQ(rt.statistics().migrated_bytes, 0u);
}

TEST(Refused, WorksByFirstTouchAndSaysSoOnce) {
  if (std::getenv(inside) != nullptr) GTEST_SKIP() << "only from outside";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    setenv(inside, "1", 1);
    execl("/proc/self/exe", "kith_numa_tests", "--gtest_filter=Refused.Inside", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << said;
  EXPECT_THAT(said, HasSubstr("[  PASSED  ] 1 test"));
  const std::string line = "kith: memory: the system refuses to place pages (mbind: Operation not permitted)";
  std::size_t times = 0;
  for (std::size_t at = said.find(line); at != std::string::npos; at = said.find(line, at + 1)) ++times;
  const machine here = current_machine();
  EXPECT_EQ(times, here.nodes.size() > 1 && !here.pretended ? 1u : 0u) << said;
}

}  // namespace
