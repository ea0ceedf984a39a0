// A policy registered from outside: the example of docs/policies.md, natively and in the simulator.
#include "../../examples/policies/by_type.cpp"
#include "engine/sim/simulation.hpp"
#include "policy/list.hpp"
#include "support/recordings.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace {

using kith::error;
using kith::test::make_options;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Registers it once in this process; a policy stays registered.
void add_by_type() {
  static const int interface_of_example = kith_register_policies();
  EXPECT_EQ(interface_of_example, kith::policy_interface);
}

/// Registers a policy by name only; it is never made.
void refuse_or_add(const char* name) {
  kith::register_policy({.name = name, .paper = "", .section = "", .summary = "", .options = {}}, nullptr, nullptr);
}

TEST(registered_policy, is_listed_and_takes_its_options) {
  add_by_type();
  const std::vector<kith::policy_entry> all = kith::policy_list();
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& p) { return std::string(p.name) == "by-type"; }), 1);
  EXPECT_THAT([] { kith::runtime rt(make_options(1, "by-type:steal=perhaps")); },
              ThrowsMessage<error>(HasSubstr("policy 'by-type': steal=perhaps: expected one of on, off")));
  EXPECT_THAT([] { kith::runtime rt(make_options(1, "by-typ")); },
              ThrowsMessage<error>(HasSubstr("did you mean 'by-type'?")));
}

TEST(registered_policy, runs_natively_and_in_the_simulator) {
  add_by_type();
  const std::array<kith::task_type, 2> types{kith::task_type("red"), kith::task_type("green")};
  std::array<std::atomic<int>, 200> ran{};
  const kith::recording r = kith::test::record(make_options(2, "by-type"), [&](kith::runtime& rt) {
    rt.run([&] {
      for (std::size_t i = 0; i < ran.size(); ++i) kith::spawn([&ran, i] { ++ran[i]; }, types[i % 2]);
    });
  });
  EXPECT_TRUE(std::ranges::all_of(ran, [](const std::atomic<int>& n) { return n == 1; }));
  kith::sim::run_options s;
  s.policy = "by-type:steal=off";
  s.workers = 2;
  s.keep_schedule = true;
  const kith::sim::result simulated = kith::sim::simulate(kith::sim::program_of(r), kith::model_by_name("epyc-2x4"), s);
  std::array<std::int32_t, 2> worker{-1, -1};
  for (const kith::recorded_task& t : simulated.schedule.tasks) {
    const std::string& type = simulated.schedule.types[t.type];
    if (type != "red" && type != "green") continue;
    std::int32_t& first = worker[type == "red" ? 0 : 1];
    if (first < 0) first = t.worker;
    EXPECT_EQ(t.worker, first) << type;
  }
  EXPECT_NE(worker[0], worker[1]);
}

TEST(registered_policy, has_a_name_of_its_own) {
  add_by_type();
  EXPECT_THAT([] { kith::register_policy<by_type>(); },
              ThrowsMessage<error>(HasSubstr("there is a policy 'by-type' already")));
  EXPECT_THAT([] { refuse_or_add("replay"); }, ThrowsMessage<error>(HasSubstr("there is a policy 'replay' already")));
  EXPECT_THAT([] { refuse_or_add("two words"); },
              ThrowsMessage<error>(HasSubstr("'two words': expected a name of letters")));
}

}  // namespace
