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
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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
  EXPECT_THAT([] { refuse_or_add(nullptr); }, ThrowsMessage<error>(HasSubstr("'': expected a name of letters")));
  EXPECT_THAT([] { refuse_or_add("never-made"); },
              ThrowsMessage<error>(HasSubstr("'never-made': expected a function that builds it")));
}

/// A policy whose constructor misuses its options, or throws. By default it does neither, because other tests run every
/// registered policy.
template <class World>
class mistaken final : public kith::policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      kith::one_of("does", "nothing|missing|word|number|values|throw|other", "its mistake"),
  };
  static constexpr kith::policy_entry about{
      .name = "mistaken", .summary = "its constructor makes a mistake", .options = options};

  mistaken(const kith::policy_context& context, const kith::policy_options& given)
      : queues_(context, kith::queue_order::fifo, true) {
    if (given.is("does", "missing")) static_cast<void>(given.text("absent"));
    if (given.is("does", "word")) static_cast<void>(given.is("does", "something"));
    if (given.is("does", "number")) static_cast<void>(given.number("does"));
    if (given.is("does", "values")) static_cast<void>(given.word("does", {1, 2}));
    if (given.is("does", "throw")) throw std::runtime_error("nothing to do");
    if (given.is("does", "other")) throw 1;
  }
  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason) override {
    queues_[0].push(tasks, self);
    return nullptr;
  }
  kith::poll_result next(worker& self) override { return queues_.next(self); }

 private:
  kith::worker_queues<World> queues_;
};

/// Registers it by several threads at once, in the first call. How many of them did.
int register_mistaken() {
  static const int registered = [] {
    constexpr int threads = 8;
    std::atomic<int> there{0}, registered{0};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        ++there;
        while (there < threads) {
        }
        try {
          kith::register_policy<mistaken>();
          ++registered;
        } catch (const error&) {
        }
      });
    }
    for (std::thread& t : all) t.join();
    return registered.load();
  }();
  return registered;
}

TEST(registered_policy, that_is_registered_by_several_threads_is_there_once) {
  EXPECT_EQ(register_mistaken(), 1);
  const std::vector<kith::policy_entry> listed = kith::policy_list();
  EXPECT_EQ(std::ranges::count_if(listed, [](const auto& p) { return std::string(p.name) == "mistaken"; }), 1);
}

TEST(registered_policy, whose_constructor_makes_a_mistake_is_named) {
  register_mistaken();
  const auto message_of = [](const std::string& does) {
    try {
      const kith::runtime rt(make_options(1, "mistaken:does=" + does));
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(message_of("missing"), HasSubstr("policy 'mistaken': its constructor asks for the option 'absent'"));
  EXPECT_THAT(message_of("word"), HasSubstr("'does' being 'something', which is not one of its words"));
  EXPECT_THAT(message_of("number"), HasSubstr("'does' as a number, but it may be a word"));
  EXPECT_THAT(message_of("values"), HasSubstr("'does' with 2 values for its 7 words"));
  EXPECT_THAT(message_of("throw"), HasSubstr("policy 'mistaken': its constructor failed: nothing to do"));
  EXPECT_THAT(message_of("other"), HasSubstr("policy 'mistaken': its constructor threw what is no std::exception"));
}

TEST(sequential_world, has_the_values_that_workers_share) {
  kith::sequential::world::shared<int> v{4};
  int expected = 5;
  EXPECT_FALSE(v.compare_exchange_strong(expected, 6, kith::relaxed));
  EXPECT_EQ(expected, 4);
  EXPECT_TRUE(v.compare_exchange_weak(expected, 6, kith::relaxed));
  EXPECT_EQ(v.exchange(9, kith::relaxed), 6);
  EXPECT_EQ(v.fetch_sub(2, kith::relaxed), 9);
  EXPECT_EQ(v.load(kith::relaxed), 7);
}

}  // namespace
