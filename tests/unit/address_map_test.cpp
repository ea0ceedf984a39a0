// The table of a scope's ranges, over many waits.
#include "task/address_map.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using kith::address_map;
using kith::nested_range;

kith::detail::tracker& named(address_map& map, std::uintptr_t address, std::uint64_t bytes) {
  return map.find({reinterpret_cast<const void*>(address), bytes, nullptr, kith::mode::inout}, 0, [](nested_range&) {});
}

TEST(address_map, stays_small_where_each_epoch_names_fresh_addresses) {
  address_map map;
  std::uintptr_t next = 1 << 20;
  for (int epoch = 0; epoch < 2'000; ++epoch) {
    for (int i = 0; i < 100; ++i, next += 64) named(map, next, 64).writer = 7;
    map.next_epoch();
  }
  EXPECT_LE(map.capacity(), 1024u);
}

TEST(address_map, keeps_its_table_where_each_epoch_names_the_same_addresses) {
  address_map map;
  std::uint64_t after_first = 0;
  for (int epoch = 0; epoch < 1'000; ++epoch) {
    for (std::uintptr_t i = 0; i < 100; ++i) {
      kith::detail::tracker& k = named(map, (1 << 20) + i * 64, 64);
      EXPECT_EQ(k.writer, 0u);
      k.writer = 7;
    }
    if (epoch == 0) after_first = map.capacity();
    map.next_epoch();
  }
  EXPECT_EQ(map.capacity(), after_first);
}

TEST(address_map, forgets_what_earlier_scopes_named) {
  address_map map;
  for (int scope = 0; scope < 200; ++scope) {
    kith::detail::tracker& k = named(map, 4096, 64);
    EXPECT_EQ(k.writer, 0u);
    EXPECT_EQ(k.member, 0u);
    k.writer = k.member = 9;
    map.next_epoch();
    map.clear();
  }
}

TEST(address_map, keeps_regions_for_the_scopes_of_one_engine_only) {
  address_map map;
  named(map, 4096, 64).region = 5;
  map.next_epoch();
  map.clear();
  EXPECT_EQ(named(map, 4096, 64).region, 5u);
  map.next_epoch();
  map.forget_regions();
  EXPECT_EQ(named(map, 4096, 64).region, 0u);
}

/// More waits than epochs have numbers.
TEST(address_map, lets_ranges_be_cut_anew_after_any_number_of_waits) {
  address_map map;
  for (int epoch = 0; epoch < 70'000; ++epoch) {
    const std::uintptr_t shift = epoch % 2 == 0 ? 0 : 32;
    ASSERT_EQ(named(map, 4096 + shift, 64).writer, 0u) << epoch;
    named(map, 4096 + shift, 64).writer = 3;
    ASSERT_THROW(named(map, 4096 + shift + 16, 64), kith::error) << epoch;
    map.next_epoch();
  }
}

/// Ranges are found, and crossings of their neighbours refused, whatever the order in which they were named.
TEST(address_map, knows_the_neighbours_of_each_range) {
  for (const std::uintptr_t stride : {1u, 7u, 31u, 63u}) {  // odd: each visits all 64 places
    address_map map;
    const auto place = [&](std::uintptr_t i) { return (1 << 20) + i * stride % 64 * 64; };
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (std::uintptr_t i = 0; i < 64; ++i) {
        named(map, place(i), 64).writer = i + 1;
        EXPECT_EQ(named(map, place(i), 64).writer, i + 1);
        EXPECT_THROW(named(map, place(i) + 32, 64), kith::error);
        EXPECT_THROW(named(map, place(i) - 32, 64), kith::error);
      }
      for (std::uintptr_t i = 0; i < 64; ++i) EXPECT_EQ(named(map, place(i), 64).writer, i + 1);
      map.next_epoch();
      EXPECT_EQ(named(map, place(5) + 32, 64).writer, 0u);  // cut anew: the earlier ranges go
      map.next_epoch();
    }
  }
}

bool has_ended(const kith::detail::tracker& k) { return k.writer % 2 == 1; }

TEST(address_map, stays_small_where_ever_new_ranges_are_named_and_their_tasks_end) {
  address_map map;
  for (std::uintptr_t i = 0; i < 200'000; ++i) {
    if (map.is_about_to_grow()) map.forget_ended(has_ended);
    named(map, (1 << 20) + i * 64, 64).writer = 1;
  }
  EXPECT_LE(map.capacity(), 1u << 13);
}

/// Of the ranges every third has a task that has not ended, and every hundredth contains another one.
TEST(address_map, forgets_only_what_nothing_has_to_wait_for) {
  address_map map;
  constexpr std::uintptr_t count = 20'000;
  const auto place = [](std::uintptr_t i) { return (1 << 20) + i * 64; };
  const auto contains = [](std::uintptr_t i) { return i % 100 == 50; };
  int forgotten = 0;
  for (std::uintptr_t i = 0; i < count; ++i) {
    if (map.is_about_to_grow()) {
      map.forget_ended(has_ended);
      ++forgotten;
      EXPECT_FALSE(map.is_about_to_grow());
    }
    kith::detail::tracker& k = named(map, place(i), 64);
    k.writer = i % 3 == 0 ? 2 : 1;
    k.region = static_cast<std::uint32_t>(i + 1);
    if (contains(i)) named(map, place(i) + 8, 8).writer = 1;
  }
  EXPECT_GT(forgotten, 1);
  map.forget_ended(has_ended);
  for (std::uintptr_t i = 0; i < count; ++i) {
    if (i % 3 == 0 || contains(i)) {
      EXPECT_THROW(named(map, place(i) + 32, 64), kith::error) << i;
      EXPECT_EQ(named(map, place(i), 64).writer, i % 3 == 0 ? 2u : 1u) << i;
    } else if (i % 3 == 1 && i + 1 < count && !contains(i + 1)) {
      EXPECT_EQ(named(map, place(i) + 32, 64).writer, 0u) << i;  // cut anew
    }
  }
}

}  // namespace
