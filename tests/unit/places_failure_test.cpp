// Failures of activities on places in one process: where they are thrown, and what remains of them.
#include "support/places.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using kith::test::make_place_options;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::atomic<int> added{0};  // by activities; tests run one after the other

void throw_error(const std::string& why) { throw std::runtime_error(why); }

TEST(PlaceFailure, OfAnActivityGoesToItsFinish) {
  kith::place_runtime rt(make_place_options(3));
  added = 0;
  EXPECT_THAT(
      [&] {
        rt.run([] {
          for (int p = 0; p < 3; ++p) kith::at(p).spawn([] { added += 1; });
          kith::at(2).spawn<throw_error>("no luck");
        });
      },
      ThrowsMessage<kith::place_error>(HasSubstr("place 2: no luck")));
  EXPECT_EQ(added, 3);  // nothing else was cancelled
  rt.run([] {           // and nothing is left of it
    try {
      kith::finish(
          [] { kith::at(1).spawn([] { kith::at(2).spawn([] { kith::at(0).spawn<throw_error>("far away"); }); }); });
      ADD_FAILURE() << "finish() did not throw";
    } catch (const kith::place_error& e) {
      EXPECT_EQ(e.place(), 0);
      EXPECT_THAT(e.what(), HasSubstr("far away"));
    }
  });
}

TEST(PlaceFailure, OfAFutureGoesToWhoeverAsks) {
  kith::place_runtime rt(make_place_options(2));
  rt.run([] {
    const auto f = kith::at(1).async([](int n) -> int { throw std::runtime_error("number " + std::to_string(n)); }, 7);
    EXPECT_THAT([&] { f.get(); }, ThrowsMessage<kith::place_error>(HasSubstr("place 1: number 7")));
    EXPECT_THAT([&] { f.get(); }, ThrowsMessage<kith::place_error>(HasSubstr("number 7")));
  });
}

TEST(PlaceFailure, OfADroppedFutureGoesToItsFinish) {
  kith::place_runtime rt(make_place_options(2));
  EXPECT_THAT(
      [&] {
        rt.run([] {
          kith::finish([] {
            static std::atomic<bool> dropped;
            dropped = false;
            static_cast<void>(kith::at(1).async([] {
              dropped.wait(false);
              throw_error("unseen");
            }));
            dropped = true;
            dropped.notify_all();
          });
        });
      },
      ThrowsMessage<kith::place_error>(HasSubstr("unseen")));
}

TEST(PlaceFailure, OfTheBodyKeepsItsType) {
  kith::place_runtime rt(make_place_options(2));
  struct special {};
  added = 0;
  EXPECT_THROW(rt.run([] {
    kith::at(1).spawn([] { added += 1; });
    throw special();
  }),
               special);
  EXPECT_EQ(added, 1);  // the activity was waited for
}

TEST(PlaceFailure, DoesNotCancelActivitiesAnywhere) {
  kith::place_runtime rt(make_place_options(2));
  for (const int named : {0, 1}) {
    added = 0;
    EXPECT_THROW(rt.run([named] {
      for (int i = 0; i < 10; ++i) kith::at(named).spawn([] { added += 1; });
      throw std::runtime_error("the body");
    }),
                 std::runtime_error);
    EXPECT_EQ(added, 10) << named;
  }
}

TEST(PlaceFailure, GoesBeforeThatOthersWereCancelled) {
  kith::place_runtime rt(make_place_options(2));
  EXPECT_THAT(
      [&] {
        rt.run([] {
          kith::at(1).spawn([] {
            kith::at(1).spawn([] {});
            kith::cancel();
            throw std::runtime_error("the cause");
          });
        });
      },
      ThrowsMessage<kith::place_error>(HasSubstr("the cause")));
}

// A finish without a stack to wait on ends with an error, and its body, which uses the caller's frame, has ended or
// never runs.
TEST(PlaceFailure, OfAFinishWithoutAStackLeavesNoBodyBehind) {
  kith::place_options o = make_place_options(2, 2);
  o.each.stacks = 2;
  for (int round = 0; round < 5; ++round) {
    kith::place_runtime rt(o);
    try {
      rt.run([] {
        for (int i = 0; i < 100; ++i) {
          kith::at(0).spawn([] {
            std::vector<int> frame(100, 7);
            kith::finish([&] {
              kith::at(1).async([] { return 1; }).get();
              for (int& x : frame) EXPECT_EQ(x, 7);
            });
            std::ranges::fill(frame, -1);
          });
        }
      });
    } catch (const kith::error& e) {
      EXPECT_THAT(e.what(), HasSubstr("stack"));
    }
  }
}

TEST(PlaceFailure, OfAPlaceOfAnEarlierRuntime) {
  std::optional<kith::place_ref> far;
  {
    kith::place_runtime rt(make_place_options(4));
    rt.run([&] { far = kith::at(3); });
  }
  kith::place_runtime rt(make_place_options(2));
  const auto throws =
      ThrowsMessage<kith::error>(HasSubstr("this place_ref is of another place_runtime; now there are 2 places"));
  EXPECT_THAT([&] { rt.run([&] { far->spawn([] {}); }); }, throws);
  EXPECT_THAT([&] { static_cast<void>(far->is_lost()); }, throws);
  EXPECT_FALSE(kith::at(1).is_lost());
}

TEST(PlaceFailure, OfIdempotentActivitiesInOneProcess) {
  kith::place_options o = make_place_options(3);
  o.on_loss = kith::place_loss::survivors_go_on;  // no place of one process is lost alone
  kith::place_runtime rt(o);
  EXPECT_THAT([&] { rt.run([] { kith::at(2).idempotent().spawn([] { throw_error("again"); }); }); },
              ThrowsMessage<kith::place_error>(HasSubstr("place 2: again")));
  rt.run([] { EXPECT_EQ(kith::at(1).idempotent().async([](int i) { return i + 1; }, 41).get(), 42); });
}

TEST(PlaceFailure, KeepsItsPlaceOnTheWay) {
  kith::place_runtime rt(make_place_options(3));
  try {
    rt.run([] { kith::at(1).spawn([] { kith::at(2).async([] { throw_error("deep"); }).get(); }); });
    ADD_FAILURE() << "run() did not throw";
  } catch (const kith::place_error& e) {
    EXPECT_EQ(e.place(), 2);
    EXPECT_EQ(e.reason(), "deep");
    EXPECT_STREQ(e.what(), "place 2: deep");
  }
}

TEST(PlaceFailure, OfATaskOfAnActivity) {
  kith::place_runtime rt(make_place_options(2));
  EXPECT_THAT([&] { rt.run([] { kith::at(1).spawn([] { kith::spawn([] { throw_error("a task's"); }); }); }); },
              ThrowsMessage<kith::place_error>(HasSubstr("place 1: a task's")));
}

TEST(PlaceFailure, OfAnInnerFinishStaysThere) {
  kith::place_runtime rt(make_place_options(4));
  added = 0;
  rt.run([] {
    for (int p = 0; p < 4; ++p) {
      kith::at(p).spawn([] {
        EXPECT_THROW(kith::finish([] { kith::at((kith::here() + 1) % 4).spawn<throw_error>("inner"); }),
                     kith::place_error);
        added += 1;
      });
    }
  });
  EXPECT_EQ(added, 4);
}

TEST(PlaceFailure, CancelledActivitiesEndTheirFinish) {
  kith::place_runtime rt(make_place_options(1));
  added = 0;
  EXPECT_THAT(
      [&] {
        rt.run([] {
          kith::at(0).spawn([] { added += 1; });  // queued: there is one worker
          kith::cancel();
        });
      },
      ThrowsMessage<kith::place_error>(HasSubstr("cancelled before it started")));
  EXPECT_EQ(added, 0);
  rt.run([] {
    const auto f = kith::at(0).async([] { return 1; });
    kith::cancel();
    EXPECT_THAT([&] { f.get(); }, ThrowsMessage<kith::place_error>(HasSubstr("cancelled before it started")));
  });
}

}  // namespace
