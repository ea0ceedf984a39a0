// Which worker runs a queued task, and which frees its slot: one worker takes it from the queue, and two
// claim it past the queue.
#include "engine/life/claim.hpp"
#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;

struct queued_task {
  atomic<task_state> state{task_state::created};
  atomic<bool> in_queue{false};      // the queue: one entry, which one worker may take
  il::shared<int> contents{0};       // what its creator wrote
  il::shared<int> result{0};         // written by its body, and read by the party that frees the slot
  il::shared<int> read_by_queue{0};  // what the holder of the entry did with the slot before it dropped the entry
  atomic<int> runs{0}, frees{0};

  void create() {
    contents.write(7);
    state.store(task_state::queued, release);
    in_queue.store(true, release);
  }
  void run() {
    il::check(contents.read() == 7, "who runs a task sees what its creator wrote");
    il::check(runs.fetch_add(1, relaxed) == 0, "a task runs once");
    result.write(1);
  }
  /// `other`: the other party of K2 has been here before.
  void free(bool other) {
    il::check(frees.fetch_add(1, relaxed) == 0, "a slot is freed once");
    if (!other) return;
    il::check(result.read() == 1, "a slot is freed after its task has run");
    result.write(0);
    read_by_queue.write(0);
  }
  void take_from_queue() {
    if (!in_queue.exchange(false, acquire)) return;
    read_by_queue.write(1);
    switch (life::take(state)) {
      case life::taken_entry::runs:
        run();
        free(false);  // no other party refers to it: no exchange
        break;
      case life::taken_entry::last: free(true); break;
      case life::taken_entry::dead: break;
    }
  }
  void claim_past_queue() {
    if (!life::claim(state)) return;
    run();
    if (life::ended(state)) free(true);
  }
};

/// A creator that claims its own child, a worker that takes it from the queue, and another worker that
/// tries to claim it.
void three_want_it(il::program& p) {
  auto s = std::make_shared<queued_task>();
  p.thread(
      [=] {
        s->create();
        s->claim_past_queue();
      },
      "creator");
  p.thread([=] { s->take_from_queue(); }, "queue");
  p.thread([=] { s->claim_past_queue(); }, "waiter");
  p.after([=] {
    s->take_from_queue();  // every entry is taken sometime
    il::check(s->runs.load(relaxed) == 1 && s->frees.load(relaxed) == 1, "it has run, and its slot is free");
  });
}

TEST(ClaimInterleaved, OneRunsItAndOneFreesIt) {
  const auto r = il::explore({.preemptions = 3}, three_want_it);
  EXPECT_TRUE(r.ok) << r.report;
  EXPECT_GT(r.schedules, 100u);
}

TEST(ClaimInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 3}, {three_want_it}, "engine/life/claim.hpp");
}

TEST(Claim, PlainStatesDoTheSame) {
  task_state s = task_state::queued;
  EXPECT_TRUE(life::claim(life::sequential_state{s}));
  EXPECT_FALSE(life::claim(life::sequential_state{s}));
  EXPECT_TRUE(life::is_dead(life::sequential_state{s}));
  EXPECT_EQ(life::take(life::sequential_state{s}), life::taken_entry::dead);
  EXPECT_TRUE(life::ended(life::sequential_state{s}));
  s = task_state::queued;
  EXPECT_EQ(life::take(life::sequential_state{s}), life::taken_entry::runs);
  EXPECT_TRUE(life::ended(life::sequential_state{s}));
  s = task_state::queued;
  EXPECT_TRUE(life::claim(life::sequential_state{s}));
  EXPECT_FALSE(life::ended(life::sequential_state{s}));
  EXPECT_EQ(life::take(life::sequential_state{s}), life::taken_entry::last);
}

}  // namespace
}  // namespace kith
