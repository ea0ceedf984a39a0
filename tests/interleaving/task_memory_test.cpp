// Memory of tasks that end on other threads than made them: a piece has one user at a time, and who gets it again sees
// that the one before has left it.
#include "openmp/kmpc/task_memory.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;
using openmp::kmpc::memory_origin;
using openmp::kmpc::task_memory;

struct piece {
  void* memory = nullptr;
  memory_origin origin{};
};

struct state {
  std::array<task_memory, 3> of_thread;  // the first one makes the pieces
  std::array<atomic<int>, 3> handed{};   // 1: the piece of this thread is there
  std::array<piece, 3> pieces;
  std::map<const void*, il::shared<int>> content;  // as what tasks write there

  piece make() {
    piece p;
    p.memory = of_thread[0].take(64, p.origin);
    content[p.memory].write(1);
    return p;
  }
};

/// The first thread makes a piece for each of the others, then takes two more. The others give theirs back.
std::function<void(il::program&)> maker_and(int others) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>();
    p.thread(
        [=] {
          for (int i = 1; i <= others; ++i) {
            s->pieces[static_cast<std::size_t>(i)] = s->make();
            s->handed[static_cast<std::size_t>(i)].store(1, release);
          }
          const piece a = s->make(), b = s->make();
          il::check(a.memory != b.memory, "two pieces in use are apart");
          s->of_thread[0].give(a.memory, a.origin);
          s->of_thread[0].give(b.memory, b.origin);
        },
        "maker");
    for (int i = 1; i <= others; ++i) {
      p.thread(
          [=] {
            const auto me = static_cast<std::size_t>(i);
            if (s->handed[me].load(acquire) == 0) {  // made later: given back afterwards
              return;
            }
            const piece mine = s->pieces[me];
            s->content[mine.memory].write(2);
            s->of_thread[me].give(mine.memory, mine.origin);
            s->of_thread[me].send();
            s->handed[me].store(2, relaxed);
          },
          "user");
    }
    p.after([=] {
      for (int i = 1; i <= others; ++i) {
        const auto me = static_cast<std::size_t>(i);
        if (s->handed[me].load(relaxed) == 1) s->of_thread[0].give(s->pieces[me].memory, s->pieces[me].origin);
      }
    });
  };
}

TEST(TaskMemoryInterleaved, PiecesHaveOneUserAtATime) {
  for (const auto& program : {maker_and(1), maker_and(2)}) il::expect_passes(3, program);
}

TEST(TaskMemoryInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 2}, {maker_and(1), maker_and(2)}, "openmp/kmpc/task_memory.cpp");
}

}  // namespace
}  // namespace kith
