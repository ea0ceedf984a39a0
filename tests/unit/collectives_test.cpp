// Wrong use of collectives. tests/places checks their results on every transport.
#include "support/places.hpp"

#include <kith/collectives.hpp>
#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <vector>

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using kith::test::make_place_options;

TEST(Collectives, NeedAnActivity) {
  EXPECT_THAT([] { kith::barrier(); }, ThrowsMessage<kith::error>(HasSubstr("barrier()")));
  kith::place_runtime places(make_place_options(2));
  EXPECT_THAT([] { kith::barrier(); },
              ThrowsMessage<kith::error>(AllOf(HasSubstr("barrier()"), HasSubstr("no activity"))));
}

TEST(Collectives, NeedSeparatePlaces) {
  kith::place_options o = make_place_options(2);
  o.scheduling = kith::place_scheduling::cws;
  kith::place_runtime places(o);
  places.run([] { EXPECT_THAT([] { kith::barrier(); }, ThrowsMessage<kith::error>(HasSubstr("cws"))); });
}

TEST(Collectives, RefuseARootThatIsNotThere) {
  kith::place_runtime places(make_place_options(2));
  places.run([] {
    EXPECT_THAT([] { static_cast<void>(kith::broadcast(1, 2)); },
                ThrowsMessage<kith::error>(AllOf(HasSubstr("root = 2"), HasSubstr("0 to 1"))));
  });
}

TEST(Collectives, OfDifferentSizesAreRefusedAtAllPlaces) {
  kith::place_runtime places(make_place_options(2));
  places.run([] {
    const auto reduce = [](int count) {
      std::vector<int> values(static_cast<std::size_t>(count));
      kith::all_reduce(std::span(values), kith::reduction::sum);
    };
    const auto other = kith::at(1).async(reduce, 2);
    const auto differs = ThrowsMessage<kith::error>(HasSubstr("differs from that of place"));
    EXPECT_THAT([&] { reduce(3); }, differs);
    EXPECT_THAT([&] { other.get(); }, differs);
  });
}

}  // namespace
