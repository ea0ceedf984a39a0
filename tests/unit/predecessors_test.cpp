// What a policy learns of a task's predecessors when the task becomes ready, and that a task with many of them keeps
// its place in the order of creation.
#include "engine/sim/simulation.hpp"
#include "policy/contract/register_policy.hpp"
#include "policy/worker_queues.hpp"
#include "support/recordings.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace {

/// By how many tasks that a completion made ready.
struct predecessor_answers {
  int of_this_worker = 0, of_the_next = 0;
};
predecessor_answers answered;

/// One queue, in the order of creation. Asks each task for its predecessors.
template <class World>
class asks_for_predecessors final : public kith::policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr kith::policy_entry about{.name = "asks-for-predecessors", .summary = "one queue", .options = {}};

  asks_for_predecessors(const kith::policy_context& context, const kith::policy_options& /*given*/)
      : queues_(context, kith::queue_order::created, true) {}

  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason why) override {
    for (kith::task* t : tasks) {
      if (one_worker_ && why == kith::ready_reason::completion) {
        answered.of_this_worker += t->mostly_follows(self.id) ? 1 : 0;
        answered.of_the_next += t->mostly_follows(kith::worker_id(self.id.value + 1)) ? 1 : 0;
      }
      queues_[0].push(*t, self);
    }
    return nullptr;
  }
  kith::poll_result next(worker& self) override { return queues_.next(self); }

 private:
  kith::worker_queues<World> queues_;
  bool one_worker_ = queues_.size() == 1;  // other tests run every policy, with several
};

constexpr int joins = 8, leaves = 20;

/// Tasks that wait for `leaves` others each, all of which wait for one. Returns the order in which they ran.
std::vector<int> run_joins() {
  int root = 0;
  std::array<int, leaves> read{};
  std::vector<int> order;
  kith::spawn([](int&) {}, kith::out(root));
  for (int& leaf : read) kith::spawn([](int, int&) {}, kith::in(root), kith::out(leaf));
  for (int j = 0; j < joins; ++j) {
    kith::access_list all;
    for (const int& leaf : read) all.add(kith::in(leaf));
    kith::spawn([j, &order] { order.push_back(j); }, all);
  }
  kith::wait();
  return order;
}

TEST(predecessors, are_known_when_a_task_becomes_ready) {
  static const bool registered = (kith::register_policy<asks_for_predecessors>(), true);
  ASSERT_TRUE(registered);
  kith::runtime_options o = kith::test::make_options(1, "asks-for-predecessors");
  o.inline_limit = 0;
  std::vector<int> order;
  answered = {};
  const kith::recording r = kith::test::record(o, [&](kith::runtime& rt) { rt.run([&] { order = run_joins(); }); });
  EXPECT_EQ(answered.of_this_worker, leaves + joins);
  EXPECT_EQ(answered.of_the_next, 0);
  EXPECT_EQ(order.size(), std::size_t{joins});
  EXPECT_TRUE(std::ranges::is_sorted(order)) << "the links of a task do not change its place";

  answered = {};
  kith::sim::run_options s;
  s.policy = "asks-for-predecessors";
  s.workers = 1;
  kith::sim::simulate(kith::sim::program_of(r), kith::model_by_name("epyc-2x4"), s);
  EXPECT_EQ(answered.of_this_worker, leaves + joins);
  EXPECT_EQ(answered.of_the_next, 0);
}

}  // namespace
