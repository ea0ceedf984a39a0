// A sandbox that refuses memory policy, as those of containers do: everything runs, and `kith doctor` says what is refused.
#include "kernel_view.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>

namespace kith {
namespace {

using testing::HasSubstr;

/// Of this process and its children, from now on: the calls fail with EPERM. False if the system does not let us.
bool refuse(std::initializer_list<long> calls) {
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

constexpr int no_filter = 77;

/// The exit code of a child process that does `body` where the calls are refused.
int in_sandbox(std::initializer_list<long> calls, const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int code = refuse(calls) ? body() : no_filter;
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// 0 if chains of tasks end with the right values, on workers that are bound.
int run_chains(const char* policy) {
  runtime_options o;
  o.policy = policy;
  runtime rt(o);
  constexpr std::size_t chains = 16;
  constexpr int links = 4;
  const test::pages memory = test::untouched_pages(chains);
  const auto value = [&](std::size_t c) { return reinterpret_cast<int*>(&memory[c * test::page_bytes()]); };
  std::atomic<int> unbound{0};
  rt.run([&] {
    for (int i = 0; i < links; ++i) {
      for (std::size_t c = 0; c < chains; ++c) {
        kith::spawn(
            [&](std::span<int> v) {
              ++v[0];
              cpu_set_t allowed;
              sched_getaffinity(0, sizeof allowed, &allowed);
              unbound += CPU_COUNT(&allowed) != 1;
            },
            kith::inout(value(c), 1));
      }
    }
  });
  for (std::size_t c = 0; c < chains; ++c) {
    if (*value(c) != links) return 1;
  }
  if (unbound != 0) return 2;
  return rt.statistics().total.tasks == chains * links ? 0 : 3;
}

TEST(NumaRefused, ProgramsRunWithoutMemoryPolicy) {
  for (const char* policy : {"steal", "dep", "socket"}) {
    const int code = in_sandbox({SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_move_pages, SYS_migrate_pages},
                                [&] { return run_chains(policy); });
    if (code == no_filter) GTEST_SKIP() << "this system lets no process filter its system calls";
    EXPECT_EQ(code, 0) << policy;
  }
}

/// What `kith doctor` finds about memory policy where the calls are refused, and its exit code.
struct examined {
  int code = 0;
  nlohmann::json finding;
};
examined doctor(std::initializer_list<long> refused) {
  const std::string answer = testing::TempDir() + "doctor.json";
  const std::string command = std::string(std::getenv("KITH_TOOL")) + " doctor --json > " + answer;
  examined e;
  e.code = in_sandbox(refused, [&] { return WEXITSTATUS(std::system(command.c_str())); });
  if (e.code == no_filter) return e;
  std::ifstream file(answer);
  const nlohmann::json all = nlohmann::json::parse(file);
  for (const nlohmann::json& f : all["findings"]) {
    if (f["key"] == "memory_policy") e.finding = f;
  }
  return e;
}

TEST(NumaRefused, TheDoctorNamesEachRefusedCall) {
  KITH_NEEDS_NODES(2);
  if (std::getenv("KITH_TOOL") == nullptr) GTEST_SKIP() << "KITH_TOOL does not say where `kith` is";
  const std::map<std::string, long> calls{
      {"get_mempolicy", SYS_get_mempolicy}, {"set_mempolicy", SYS_set_mempolicy}, {"mbind", SYS_mbind}};
  for (const auto& [name, number] : calls) {
    const examined e = doctor({number});
    if (e.code == no_filter) GTEST_SKIP() << "this system lets no process filter its system calls";
    EXPECT_EQ(e.code, 1) << name;  // limited
    EXPECT_EQ(e.finding["status"], "limited") << name;
    EXPECT_THAT(e.finding["fact"], HasSubstr("does not let this process place memory")) << name;
    for (const auto& [other, unused] : calls) {
      EXPECT_THAT(e.finding["details"][other], other == name ? HasSubstr("refused") : HasSubstr("allowed")) << name;
    }
  }
}

}  // namespace
}  // namespace kith
