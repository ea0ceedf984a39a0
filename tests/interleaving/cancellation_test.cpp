// A cancelled scope: every check after the cancellation sees it, while several threads check one scope at a time.
#include "task/cancellation.hpp"

#include "interleave/explore.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;
using detail::cancellation;

/// A group, a task in it, and the scope of that task's children, which `checkers` threads look at.
std::function<void(il::program&)> cancelled_around(int checkers) {
  return [=](il::program& p) {
    struct state {
      cancellation::counter all{1};
      cancellation group, task, children;
      atomic<bool> created{false};

      bool task_is_cancelled() const {
        return task.is_set(all, [&] { return task.look_around(all, [&](const auto& visit) { visit(group); }); });
      }
      bool children_are_cancelled() const {
        return children.is_set(all, [&] {
          return children.look_around(all, [&](const auto& visit) {
            if (!visit(task)) visit(group);
          });
        });
      }
    };
    auto s = std::make_shared<state>();
    p.thread([=] {
      s->group.set(s->all);
      s->created.store(true, release);
    });
    for (int i = 0; i < checkers; ++i) {
      p.thread([=] {
        const bool after = s->created.load(acquire);
        if (i == 1) static_cast<void>(s->task_is_cancelled());
        const bool cancelled = s->children_are_cancelled();
        il::check(cancelled || !after, "a child that was created after the cancellation does not start");
      });
    }
  };
}

TEST(CancellationInterleaved, IsSeenByAllWhoComeAfterIt) {
  const auto r = il::explore({.preemptions = 2}, cancelled_around(2));
  EXPECT_TRUE(r.ok) << r.report;
}

}  // namespace
}  // namespace kith
