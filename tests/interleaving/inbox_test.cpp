// The inbox: what any thread pushes is taken once, in each producer's order, together with what was written to it.
#include "queue/native/inbox.hpp"
#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;

struct letter {
  il::shared<letter*> next{nullptr};
  int sender = 0;
  int number = 0;
  int taken = 0;
};
void set_next(letter& l, letter* next) { l.next.write(next); }
letter* get_next(const letter& l) { return l.next.read(); }

struct state {
  native::inbox<letter> inbox;
  letter letters[3][2];

  void take_all() {
    int last[3] = {-1, -1, -1};
    for (letter* l = inbox.take_all(); l != nullptr; l = get_next(*l)) {
      il::check(++l->taken == 1, "a letter is taken once");
      il::check(l->number > last[l->sender], "the letters of one sender come in order");
      last[l->sender] = l->number;
    }
  }
};

std::function<void(il::program&)> mail(int senders, int letters, int takers) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>();
    for (int i = 0; i < senders; ++i) {
      p.thread([=] {
        for (int n = 0; n < letters; ++n) {
          letter& l = s->letters[i][n];
          l.sender = i;
          l.number = n;
          s->inbox.push(l);
        }
      });
    }
    for (int i = 0; i < takers; ++i) {
      p.thread([=] {
        s->take_all();
        if (!s->inbox.empty()) s->take_all();
      });
    }
    p.after([=] {
      s->take_all();
      for (int i = 0; i < senders; ++i) {
        for (int n = 0; n < letters; ++n) il::check(s->letters[i][n].taken == 1, "no letter is lost");
      }
    });
  };
}

TEST(InboxInterleaved, EachLetterArrivesOnceAndInOrder) {
  for (const auto& program : {mail(2, 2, 1), mail(2, 1, 2), mail(3, 1, 1)}) {
    const auto r = il::explore({.preemptions = 3}, program);
    EXPECT_TRUE(r.ok) << r.report;
  }
}

TEST(InboxInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 2}, {mail(2, 1, 1)}, "queue/native/inbox.hpp");
}

}  // namespace
}  // namespace kith
