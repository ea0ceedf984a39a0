// Functions of a user, next to his types, that have the names of helpers in the public headers. The headers must not
// find them by argument-dependent lookup: each is a better match than the helper, and would be called in its place.
#include "support/workers.hpp"

#include <kith/kith.hpp>
#include <kith/parallel_sort.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

namespace someones_program {

int called = 0;  // functions that are not for Kith

struct cell {
  int value = 0;
  bool operator<(const cell& other) const { return value < other.value; }
};
using cells = std::vector<cell>;

// ---- of spawn(), async() and static graphs
struct doubles {
  void operator()(cell& c) const { c.value *= 2; }
};
struct my_type : kith::task_type {
  using task_type::task_type;
};

void apply(auto&, const my_type&) { ++called; }
cell& parameter(cell*) {
  static cell other;
  ++called;
  return other;
}
std::span<cell> parameter(std::span<cell>) {
  static std::array<cell, 2> others;
  ++called;
  return others;
}
std::size_t bytes_of(cell*, std::size_t, std::size_t) {
  ++called;
  return 0;
}
auto bind_parameters(doubles&&, cell*) {
  ++called;
  return [] {};
}
auto bind_accesses(doubles&&, const auto&...) {
  ++called;
  return [] {};
}
kith::task_ref create(kith::detail::scope&, auto&&, const auto&...) {
  ++called;
  return {};
}
std::tuple<const cell&> value_of(const kith::future<cell>& f) {
  ++called;
  return {f.get()};
}
std::tuple<const cell&> values_of(const std::tuple<kith::future<cell>>& all) {
  ++called;
  return {std::get<0>(all).get()};
}

// ---- of join()
struct seven {
  cell operator()() const { return {7}; }
};
cell call_half(seven&) {
  ++called;
  return {};
}
cell call_half(const seven&) {
  ++called;
  return {};
}
// ---- of parallel_sort()
cells::iterator part(cells::iterator first, cells::iterator, auto&) {
  ++called;
  return first + 1;
}
cells::iterator middle_of(cells::iterator a, cells::iterator, cells::iterator, auto&) {
  ++called;
  return a;
}
void sort_parts(cells::iterator, cells::iterator, auto&, int) { ++called; }

// ---- of explore()
struct chain {
  using key = int;
  int computed = 0;
  void predecessors(key k, kith::keys<key>& all) {
    if (k > 0) all.add(k - 1);
  }
  void compute(key) { ++computed; }
  my_type type(key) const {
    static const my_type one("node of a chain");
    return one;
  }
};
kith::exploration explore(chain&, std::span<const int>) {
  ++called;
  return {};
}

namespace {

class names_of_users : public testing::Test {
 protected:
  names_of_users() { called = 0; }
  ~names_of_users() override { EXPECT_EQ(called, 0); }
  kith::runtime rt{kith::test::make_options(2, "steal")};
};

TEST_F(names_of_users, of_what_makes_tasks) {
  cell one{1};
  cells several{{1}, {2}};
  rt.run([&] {
    kith::spawn(doubles(), kith::inout(one));
    kith::async(doubles(), kith::inout(one)).get();
    kith::spawn([](std::span<cell> all) { all[1].value *= 2; }, kith::inout(several));
    kith::spawn([](std::span<cell> all) { all[0].value *= 2; }, kith::inout(several.data(), 1));
  });
  EXPECT_EQ(one.value, 4);
  EXPECT_EQ(several[0].value, 2);
  EXPECT_EQ(several[1].value, 4);
}

TEST_F(names_of_users, of_what_gives_futures) {
  const int sum = rt.run([] {
    const auto both = kith::when_all(kith::async(seven()), kith::async(seven()));
    return both.then([](const cell& a, const cell& b) { return a.value + b.value; }).get() +
           kith::when_all(kith::async(seven())).then([](const cell& a) { return a.value; }).get();
  });
  EXPECT_EQ(sum, 21);
}

TEST_F(names_of_users, of_joins) {
  rt.run([] {
    const auto [a, b] = kith::join(seven(), seven());
    EXPECT_EQ(a.value + b.value, 14);
    seven f;
    EXPECT_EQ(kith::join(f, f).second.value, 7);
  });
}

TEST_F(names_of_users, of_sorts) {
  cells all(10000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].value = static_cast<int>(i * 7919 % all.size());
  rt.run([&] { kith::parallel_sort(all.begin(), all.end()); });
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].value, static_cast<int>(i));
}

TEST_F(names_of_users, of_graphs) {
  chain c;
  rt.run([&] {
    kith::explore(c, 9);
    kith::explore(c, {3, 4});
  });
  EXPECT_EQ(c.computed, 15);
}

}  // namespace

}  // namespace someones_program
