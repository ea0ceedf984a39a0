// Edges between tasks: whatever ends while a task is being created, the task becomes ready exactly once,
// after all of its predecessors, and sees what they did.
#include "task/edges.hpp"
#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;
using il::expect_passes;
constexpr int most = 7;

struct state {
  slot_space space{4096};
  slot_cache slots{space, 0};
  slot_index predecessors[most];
  reference references[most];
  slot_index successors[2];
  il::shared<int> done[most];       // written by the predecessor's body
  il::shared<int> linked[2][most];  // stands for the link word: written by the creator, read by the worker
                                    // that closes the list
  int expected[2] = {0, 0};         // predecessors of a successor
  int ready[2] = {0, 0};

  explicit state(int count) {
    for (int i = 0; i < count; ++i) {
      task& t = slots.take();
      predecessors[i] = space.index_of(t);
      edges::start_join(t);
      edges::open_join(t, 0);
      references[i] = edges::reference_to(space, t);
    }
    for (slot_index& s : successors) s = space.index_of(slots.take());
  }

  void became_ready(task& t) {
    const int i = space.index_of(t) == successors[0] ? 0 : 1;
    il::check(++ready[i] == 1, "a task becomes ready once");
    for (int k = 0; k < expected[i]; ++k) il::check(done[k].read() == 1, "every predecessor has ended before");
  }

  /// The creator's part: successor `i` after the first `count` predecessors. With `twice` it names all of them again.
  void create(int i, int count, slot_cache& cache, bool twice = false) {
    expected[i] = count;
    task& t = space[successors[i]];
    t.flags = 0;
    edges::start_join(t);
    std::size_t made = 0;
    for (int k = 0; k < count; ++k) {
      linked[i][k].write(1);
      if (i == 1 && made < task::embedded_links) {
        edges::add_embedded(t, successors[i], references[k], made, space.all());
      } else {
        edges::add(t, successors[i], references[k], made, cache);
      }
    }
    if (twice) {
      const std::size_t made_before = made;
      for (int k = 0; k < count; ++k) edges::add(t, successors[i], references[k], made, cache);
      il::check(made == made_before, "no edge is added twice");
    }
    if (edges::open_join(t, made)) became_ready(t);
  }

  /// The part of the worker that runs predecessor `i`.
  void run(int i) {
    done[i].write(1);
    const std::uint32_t link = edges::close(space[predecessors[i]]);
    const slot_index first = link >> edges::link_number_bits;
    for (int k = 0; k < 2; ++k) {
      if (link != 0 && first == successors[k])
        il::check(linked[k][i].read() == 1, "a link is there before it is listed");
    }
    edges::release(space, link, worker_id(0), [this](task& t) { became_ready(t); });
  }

  void expect_ready(int successors_made) {
    for (int i = 0; i < successors_made; ++i) il::check(ready[i] == 1, "no task is forgotten");
  }
};

/// One creator, and `workers` threads that end `count` predecessors in turns.
std::function<void(il::program&)> join(int count, int workers, bool named_twice = false) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(count);
    p.thread([=] { s->create(0, count, s->slots, named_twice); }, "creator");
    for (int w = 0; w < workers; ++w) {
      p.thread(
          [=] {
            for (int i = w; i < count; i += workers) s->run(i);
          },
          "worker");
    }
    p.after([=] { s->expect_ready(1); });
  };
}

/// Two creators add to the list of one predecessor while it ends.
void two_creators(il::program& p) {
  struct two : state {
    two() : state(1) {}
    slot_cache other{space, 1};
  };
  auto s = std::make_shared<two>();
  p.thread([=] { s->create(0, 1, s->slots); });
  p.thread([=] { s->create(1, 1, s->other); });
  p.thread([=] { s->run(0); });
  p.after([=] { s->expect_ready(2); });
}

/// The worker reuses the ended task's slot: a reference to the old task must not become an edge to the new one.
void slot_used_again(il::program& p) {
  auto s = std::make_shared<state>(1);
  p.thread([=] { s->create(0, 1, s->slots); }, "creator");
  p.thread(
      [=] {
        s->run(0);
        task& next = s->space[s->predecessors[0]];
        edges::start_join(next);
        edges::open_join(next, 0);
        il::check(edges::reference_to(s->space, next) != s->references[0], "another task, another reference");
        edges::release(s->space, edges::close(next), worker_id(0),
                       [](task&) { il::check(false, "the new task has no successor"); });
      },
      "worker");
  p.after([=] { s->expect_ready(1); });
}

TEST(EdgesInterleaved, OnePredecessor) { expect_passes(6, join(1, 1)); }
TEST(EdgesInterleaved, TwoPredecessorsOfTwoWorkers) { expect_passes(3, join(2, 2)); }
TEST(EdgesInterleaved, ThreePredecessorsOfThreeWorkers) { expect_passes(2, join(3, 3)); }
TEST(EdgesInterleaved, MorePredecessorsThanEmbeddedLinks) { expect_passes(2, join(6, 2)); }
TEST(EdgesInterleaved, PredecessorsNamedTwice) { expect_passes(3, join(2, 2, true)); }
TEST(EdgesInterleaved, MorePredecessorsThanEmbeddedLinksNamedTwice) { expect_passes(2, join(6, 1, true)); }
TEST(EdgesInterleaved, TwoCreators) { expect_passes(3, two_creators); }
TEST(EdgesInterleaved, ASlotUsedAgain) { expect_passes(5, slot_used_again); }

TEST(EdgesInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 3}, {join(1, 1), join(2, 2), two_creators}, "task/edges.hpp");
}

}  // namespace
}  // namespace kith
