// Where the system calls of memory policy are refused, as in many containers: everything works, by first
// touch; one line says so, and `kith doctor` says what is refused.
#include "real_nodes.hpp"
#include "sandbox.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <span>

namespace {

using namespace kith;
using kith::test::child;
using kith::test::in_sandbox;
using kith::test::memory;
using testing::HasSubstr;

constexpr const char* no_filter = "this system lets no process filter its system calls";
constexpr const char* refusal =
    "kith: memory: the system refuses to place pages (mbind: Operation not permitted), so they lie where they are "
    "first "
    "touched; `kith doctor` says more\n";

std::size_t times(const std::string& line, const std::string& in) {
  std::size_t n = 0;
  for (std::size_t at = in.find(line); at != std::string::npos; at = in.find(line, at + 1)) ++n;
  return n;
}

class Refused : public kith::test::several_nodes {
 protected:
  /// Runs `body` in the sandbox. It must succeed, and say once what is refused.
  template <class Body>
  void expect_fine(Body body) {
    const child c = in_sandbox(kith::test::memory_policy_calls, body);
    if (!c.possible()) GTEST_SKIP() << no_filter;
    EXPECT_EQ(c.code, 0) << c.said;
    EXPECT_EQ(times(refusal, c.said), 1u) << c.said;
  }
};

TEST_F(Refused, EveryDistributionIsFirstTouchAndNothingIsClaimed) {
  expect_fine([&] {
    EXPECT_EQ(numa::process_rights().bind, EPERM);
    EXPECT_EQ(numa::process_rights().move, EPERM);
    runtime rt(kith::test::with_policy("dep+pm")), second(kith::test::with_policy("steal"));
    for (distribution how : {distribution(distribution::fine), distribution(distribution::coarse),
                             distribution(distribution::block), distribution(distribution::local),
                             distribution(distribution::deferred), distribution(node{0}).in_huge_pages()}) {
      const memory m(rt, 20 * page, how);
      rt.run([&] {
        for (std::size_t i = 0; i < 20; ++i)
          spawn([p = m.at(i * page)] { *p = std::byte{9}; }, inout(m.at(i * page), page));
      });
      EXPECT_EQ(m.at(19 * page)[0], std::byte{9});
      // Nothing is claimed about a placement that did not happen; what is known comes from first touch.
      EXPECT_EQ(known_bytes_on_nodes(rt, m.at(), 20 * page).back(), 0u);
      EXPECT_EQ(count_pages(rt, m.at(), 20 * page), std::nullopt);
    }
    EXPECT_EQ(rt.statistics().migrated_bytes, 0u);
    return 0;
  });
}

/// Chains of tasks on workers that are bound nevertheless.
void run_chains(const std::string& policy) {
  runtime rt(kith::test::with_policy(policy));
  constexpr std::size_t chains = 12;
  constexpr int links = 2;
  const kith::test::pages data = kith::test::untouched_pages(chains);
  const auto value = [&](std::size_t c) { return reinterpret_cast<int*>(&data[c * kith::test::page_bytes()]); };
  std::atomic<int> unbound{0};
  rt.run([&] {
    for (int i = 0; i < links; ++i) {
      for (std::size_t c = 0; c < chains; ++c) {
        spawn(
            [&](std::span<int> v) {
              ++v[0];
              cpu_set_t allowed;
              sched_getaffinity(0, sizeof allowed, &allowed);
              const std::set<int> own = kith::test::cpus_of_node(static_cast<int>(kith::test::here().node));
              unbound += CPU_COUNT(&allowed) != static_cast<int>(own.size());
            },
            inout(value(c), 1));
      }
    }
  });
  for (std::size_t c = 0; c < chains; ++c) EXPECT_EQ(*value(c), links);
  EXPECT_EQ(unbound, 0);
  EXPECT_EQ(rt.statistics().total.tasks, chains * links);
}

class RefusedTo : public Refused, public testing::WithParamInterface<const char*> {};

TEST_P(RefusedTo, APolicyRunsProgramsOnBoundWorkers) {
  expect_fine([] {
    run_chains(GetParam());
    return 0;
  });
}
INSTANTIATE_TEST_SUITE_P(Policies, RefusedTo, testing::Values("steal", "dep", "socket"),
                         [](const auto& tested) { return std::string(tested.param); });

struct call {
  const char* name;
  long number;
};
constexpr call asked_for[] = {
    {"get_mempolicy", SYS_get_mempolicy}, {"set_mempolicy", SYS_set_mempolicy}, {"mbind", SYS_mbind}};

class Doctor : public kith::test::several_nodes, public testing::WithParamInterface<call> {};

TEST_P(Doctor, NamesTheRefusedCall) {
  const char* const tool = std::getenv("KITH_TOOL");
  if (tool == nullptr) GTEST_SKIP() << "KITH_TOOL does not say where `kith` is";
  const std::string command = std::string(tool) + " doctor --json >&2 2>/dev/null";  // into what the child said
  const child c = in_sandbox({GetParam().number}, [&] { return WEXITSTATUS(std::system(command.c_str())); });
  if (!c.possible()) GTEST_SKIP() << no_filter;
  EXPECT_EQ(c.code, 1) << c.said;  // limited
  nlohmann::json finding;
  const nlohmann::json all = nlohmann::json::parse(c.said);
  for (const nlohmann::json& f : all["findings"]) {
    if (f["key"] == "memory_policy") finding = f;
  }
  EXPECT_EQ(finding["status"], "limited");
  EXPECT_THAT(finding["fact"], HasSubstr("does not let this process place memory"));
  for (const call& other : asked_for) {
    const bool refused = other.number == GetParam().number;
    EXPECT_THAT(finding["details"][other.name], refused ? HasSubstr("refused") : HasSubstr("allowed")) << other.name;
  }
}
INSTANTIATE_TEST_SUITE_P(Calls, Doctor, testing::ValuesIn(asked_for),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
