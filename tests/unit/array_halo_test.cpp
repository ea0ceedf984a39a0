// Halos of distributed arrays: every width against the array itself.
#include "support/places.hpp"

#include <kith/array_halo.hpp>
#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <numeric>
#include <tuple>
#include <vector>

namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using array = kith::distributed_array<int>;
using halo = kith::array_halo<int>;

using kith::test::make_place_options;

/// Whether this place has, on both sides of its share, the elements that an array of numbers from `start` on has there.
bool has_neighbours(array a, halo h, int start) {
  const std::uint64_t own = a.local().size();
  if (own == 0) return h.before().empty() && h.behind().empty();
  const std::uint64_t first = a.element_at(kith::here(), 0), end = first + own;
  std::vector<int> before(std::min(h.width(), first)), behind(std::min(h.width(), a.size() - end));
  std::iota(before.begin(), before.end(), start + static_cast<int>(first - before.size()));
  std::iota(behind.begin(), behind.end(), start + static_cast<int>(end));
  return std::ranges::equal(before, h.before()) && std::ranges::equal(behind, h.behind());
}

class ArrayHalo : public testing::TestWithParam<int> {};

TEST_P(ArrayHalo, HasTheNeighboursOfEachShare) {
  kith::place_runtime rt(make_place_options(GetParam()));
  for (const std::uint64_t size : {0u, 1u, 3u, 4u, 7u, 40u, 61u}) {
    for (const std::uint64_t width :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{25}, ~std::uint64_t{0}}) {
      SCOPED_TRACE(testing::Message() << size << " elements, width " << width);
      rt.run([&] {
        const array a = array::make(size);
        const halo h = halo::make(a, width);
        for (const int start : {100, 500}) {
          std::vector<int> values(size);
          std::iota(values.begin(), values.end(), start);
          a.put(0, values);
          kith::finish([&] {
            for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn([](halo there) { there.send(); }, h);
          });
          for (int p = 0; p < kith::places(); ++p)
            EXPECT_TRUE(kith::at(p).async<has_neighbours>(a, h, start).get()) << "place " << p;
        }
        h.destroy();
        a.destroy();
      });
    }
  }
}
INSTANTIATE_TEST_SUITE_P(places, ArrayHalo, testing::Values(1, 2, 3, 5, 8));

TEST(ArrayHalo, TakesOneMessageForEachNeighbour) {
  constexpr std::uint64_t places = 4;
  kith::place_runtime rt(make_place_options(places));
  halo h;
  rt.run([&] { h = halo::make(array::make(100), 2); });
  rt.reset_statistics();
  rt.run([&] { kith::at(1).spawn([](halo there) { there.send(); }, h); });
  EXPECT_EQ(rt.statistics()[1].spawns_sent, 2u);
  EXPECT_EQ(rt.statistics()[0].spawns_accepted + rt.statistics()[2].spawns_accepted, 2u);
}

TEST(ArrayHalo, RefusesWrongCalls) {
  kith::place_runtime rt(make_place_options(2));
  rt.run([&] {
    EXPECT_THAT([] { std::ignore = halo::make(array::make(9, kith::array_layout::cyclic()), 1); },
                ThrowsMessage<kith::error>(HasSubstr("blocks of 1 elements")));
    EXPECT_NO_THROW(std::ignore = halo::make(array::make(9, kith::array_layout::block_cyclic(7)), 1));
    EXPECT_THAT([] { halo().before(); }, ThrowsMessage<kith::error>(HasSubstr("there is no such halo")));
    const halo h = halo::make(array::make(9), 1);
    h.destroy();
    EXPECT_THAT([&] { h.behind(); }, ThrowsMessage<kith::error>(HasSubstr("there is no such halo")));
  });
}

}  // namespace
