// Distributed arrays: every layout against a plain array.
#include "base/atomic.hpp"
#include "base/rng.hpp"
#include "support/places.hpp"

#include <kith/distributed_array.hpp>
#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using kith::test::make_place_options;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using array = kith::distributed_array<int>;

class DistributedArray : public testing::TestWithParam<std::tuple<int, std::uint64_t>> {};

TEST_P(DistributedArray, KeepsWhatIsPut) {
  const auto [places, block] = GetParam();
  kith::place_runtime rt(make_place_options(places));
  for (const std::uint64_t size : {0u, 1u, 5u, 64u, 101u}) {
    rt.run([&] {
      const array a = array::make(size, {block});
      std::vector<int> plain(size);
      kith::rng random(size + 1, kith::purpose::pick, 0);
      for (int round = 0; round < 30; ++round) {
        const std::uint64_t first = random.below(static_cast<std::uint32_t>(size + 1));
        std::vector<int> values(random.below(static_cast<std::uint32_t>(size - first + 1)));
        for (int& v : values) v = static_cast<int>(random.below(1000));
        std::ranges::copy(values, plain.begin() + static_cast<std::ptrdiff_t>(first));
        a.put(first, values);
        ASSERT_EQ(a.get(0, size), plain);
        ASSERT_EQ(a.get(first, values.size()), values);
      }
      a.destroy();
    });
  }
}

TEST_P(DistributedArray, SharesAreWhereTheLayoutSays) {
  const auto [places, block] = GetParam();
  constexpr std::uint64_t size = 37;
  kith::place_runtime rt(make_place_options(places));
  rt.run([&] {
    const array a = array::make(size, {block});
    std::vector<int> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 0);
    a.put(0, numbers);
    kith::finish([&] {
      for (int p = 0; p < kith::places(); ++p) {
        kith::at(p).spawn(
            [](array b) {
              for (std::uint64_t k = 0; k < b.local().size(); ++k) {
                EXPECT_EQ(b.local()[k], static_cast<int>(b.element_at(kith::here(), k)));
                EXPECT_EQ(b.place_of(b.element_at(kith::here(), k)), kith::here());
                EXPECT_EQ(b.position_of(b.element_at(kith::here(), k)), k);
                b.local()[k] *= 2;
              }
            },
            a);
      }
    });
    for (int& n : numbers) n *= 2;
    EXPECT_EQ(a.get(0, size), numbers);
  });
}

INSTANTIATE_TEST_SUITE_P(All, DistributedArray,
                         testing::Combine(testing::Values(1, 2, 3, 8),
                                          testing::Values(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3},
                                                          std::uint64_t{1} << 63)));

TEST(DistributedArrayLayout, AsNamed) {
  kith::place_runtime rt(make_place_options(3));
  rt.run([] {
    const auto owners = [](kith::array_layout layout) {
      const array a = array::make(7, layout);
      std::vector<int> places;
      for (std::uint64_t i = 0; i < 7; ++i) places.push_back(a.place_of(i));
      return places;
    };
    EXPECT_THAT(owners(kith::array_layout::blocks()), ElementsAre(0, 0, 0, 1, 1, 1, 2));
    EXPECT_THAT(owners(kith::array_layout::cyclic()), ElementsAre(0, 1, 2, 0, 1, 2, 0));
    EXPECT_THAT(owners(kith::array_layout::block_cyclic(2)), ElementsAre(0, 0, 1, 1, 2, 2, 0));
  });
}

TEST(DistributedArrayErrors, AreSaid) {
  kith::place_runtime rt(make_place_options(2));
  rt.run([] {
    const array a = array::make(10);
    EXPECT_THAT([&] { a.get(8, 3); }, ThrowsMessage<kith::error>(HasSubstr("the array has 10")));
    EXPECT_THAT([&] { a.put(11, std::vector<int>()); }, ThrowsMessage<kith::error>(HasSubstr("put()")));
    EXPECT_THROW(a.get(1, ~std::uint64_t{0}), kith::error);
    a.put(9, 4);
    EXPECT_EQ(a.get(9), 4);
    a.destroy();
    EXPECT_THAT([&] { a.get(9); }, ThrowsMessage<kith::place_error>(HasSubstr("no such array")));
    EXPECT_THAT([] { array().local(); }, ThrowsMessage<kith::error>(HasSubstr("no such array")));
    EXPECT_THROW(std::ignore = array::make(~std::uint64_t{0}), kith::error);
  });
}

/// At place 1, whose only worker is blocked until the other place has read and written there.
kith::atomic<bool> is_held{false}, may_go{false};
void hold_the_worker() {
  is_held.store(true, kith::release);
  while (!may_go.load(kith::acquire)) std::this_thread::yield();
}

TEST(DistributedArray, IsReadAndWrittenWhileItsPlaceIsBusy) {
  for (const auto admission : {kith::place_admission::refusals, kith::place_admission::credits}) {
    kith::place_options o = make_place_options(2);
    o.admission = admission;
    o.fab_slots = 2;  // one activity that waits fills it
    kith::place_runtime rt(o);
    is_held.store(false, kith::release);
    may_go.store(false, kith::release);
    rt.run([] {
      const array a = array::make(100);
      kith::finish([&] {
        kith::at(1).spawn<hold_the_worker>();
        while (!is_held.load(kith::acquire)) std::this_thread::yield();
        kith::at(1).spawn([] {});
        std::vector<int> numbers(100);
        std::iota(numbers.begin(), numbers.end(), 0);
        a.put(0, numbers);
        EXPECT_EQ(a.get(0, 100), numbers);
        may_go.store(true, kith::release);
      });
      EXPECT_EQ(a.get(99), 99);
      a.destroy();
      EXPECT_THAT([&] { a.put(99, 1); }, ThrowsMessage<kith::place_error>(HasSubstr("no such array")));
    });
    const std::vector<kith::place_statistics> counts = rt.statistics();
    EXPECT_LE(counts[1].fab_peak, 2u);
    EXPECT_EQ(counts[1].spawns_forced, 0u);
  }
}

TEST(DistributedArray, IsRefusedByAnotherNumberOfPlaces) {
  array left;
  {
    kith::place_runtime rt(make_place_options(4));
    rt.run([&] { left = array::make(100); });
  }
  kith::place_runtime rt(make_place_options(2));
  rt.run([&] {
    for (const auto& use : std::vector<std::function<void()>>{[&] { left.get(0, 100); }, [&] { left.put(0, 1); },
                                                              [&] { left.local(); }}) {
      EXPECT_THAT(use, ThrowsMessage<kith::error>(HasSubstr("made with 4 places, and now there are 2")));
    }
  });
}

}  // namespace
