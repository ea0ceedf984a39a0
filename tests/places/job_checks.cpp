// The checks of the job at its places: each function compares one feature with the same work done without places.
#include "job.hpp"

#include <kith/activity.hpp>
#include <kith/collectives.hpp>
#include <kith/data_flow.hpp>
#include <kith/distributed_array.hpp>
#include <kith/kith.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace job {

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "job: failed: %s\n", what);
  std::_Exit(1);
}

kith::place_options options() {
  kith::place_options o;
  o.each.oversubscribe = true;
  if (std::getenv("KITH_WORKERS") == nullptr) o.each.workers = 2;
  return o;
}

namespace {

kith::place_local<std::atomic<long>> sum;

}  // namespace

void add(int depth, long value) {
  *sum += value;
  if (depth == 0) return;
  for (int c = 0; c < 3; ++c) kith::at((kith::here() + c) % kith::places()).spawn<add>(depth - 1, value + c);
}
long serial_sum(int depth, long value) {
  long all = value;
  for (int c = 0; depth > 0 && c < 3; ++c) all += serial_sum(depth - 1, value + c);
  return all;
}
long sum_of_all() {
  long all = 0;
  for (int p = 0; p < kith::places(); ++p) all += kith::at(p).async([] { return sum->exchange(0); }).get();
  return all;
}

namespace {

void check_trees() {
  for (int depth : {0, 1, 4, 7}) {
    kith::finish([&] { kith::at(kith::places() - 1).spawn<add>(depth, 5L); });
    check(sum_of_all() == serial_sum(depth, 5), "a tree of activities adds up when its finish has ended");
  }
}

void check_nested_finishes() {
  kith::finish([] {
    for (int p = 0; p < kith::places(); ++p) {
      kith::at(p).spawn(
          [](long depth) {
            kith::finish(
                [&] { kith::at((kith::here() + 1) % kith::places()).spawn<add>(static_cast<int>(depth), 1L); });
          },
          4L);
    }
  });
  check(sum_of_all() == kith::places() * serial_sum(4, 1), "finishes at all places at once");
}

/// From a few bytes to more than any transport sends at once: each comes back as it was.
void check_sizes() {
  for (const std::size_t bytes : {0UL, 1UL, 100UL, 8000UL, 8128UL, 8200UL, 70'000UL, 1UL << 20, 20'000'000UL}) {
    std::vector<std::uint8_t> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
    for (int p = 0; p < kith::places(); ++p) {
      const auto back = kith::at(p).async([](std::vector<std::uint8_t> d) { return d; }, data).get();
      check(back == data, "an argument comes and goes as it was");
    }
  }
}

/// Large and small messages in turn, several at a time.
void check_mixture() {
  std::vector<kith::place_future<std::uint64_t>> sizes;
  std::uint64_t expected = 0, got = 0;
  for (int i = 0; i < 300; ++i) {
    const std::vector<double> data(i % 3 == 0 ? 20'000 + static_cast<std::size_t>(i) : static_cast<std::size_t>(i),
                                   1.0);
    expected += data.size();
    sizes.push_back(kith::at(i % kith::places())
                        .async(
                            [](std::span<const double> d) -> std::uint64_t {
                              return static_cast<std::uint64_t>(std::accumulate(d.begin(), d.end(), 0.0));
                            },
                            data));
  }
  for (const auto& s : sizes) got += s.get();
  check(got == expected, "large and small messages, mixed");
}

void check_failures() {
  const int last = kith::places() - 1;
  try {
    kith::finish([&] { kith::at(last).spawn([] { throw std::runtime_error("as it must"); }); });
    check(false, "a finish throws what an activity has thrown");
  } catch (const kith::place_error& e) {
    check(e.place() == last && e.reason() == "as it must", "the failure names its place");
    check(dynamic_cast<const kith::place_lost*>(&e) == nullptr, "nobody is lost");
  }
  const auto failed =
      kith::at(last).async([](int n) { return std::vector<int>(3).at(static_cast<std::size_t>(n)); }, 9);
  try {
    failed.get();
    check(false, "a future throws what its activity has thrown");
  } catch (const kith::place_error& e) {
    check(e.place() == last, "the future's failure names its place");
  }
}

void check_arrays() {
  for (const auto layout :
       {kith::array_layout::blocks(), kith::array_layout::cyclic(), kith::array_layout::block_cyclic(7)}) {
    auto a = kith::distributed_array<double>::make(1000, layout);
    std::vector<double> values(1000);
    std::iota(values.begin(), values.end(), 0.5);
    a.put(0, values);
    check(a.get(0, 1000) == values, "an array has what was put there");
    const auto middle =
        kith::at(kith::places() - 1).async([](kith::distributed_array<double> b) { return b.get(333, 334); }, a);
    check(middle.get() == std::vector<double>(values.begin() + 333, values.begin() + 333 + 334),
          "and another place sees it");
    a.destroy();
  }
}

using words = std::span<std::uint64_t>;

void rotate(std::span<const std::uint64_t> from, words to, std::uint64_t by) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[(i + by) % from.size()] * 3 + by;
}

}  // namespace

/// Tasks on ranges of up to 800 KB, at places in turn and at their data, compared with the same tasks in order.
void check_data_flow(std::uint64_t size, int steps) {
  auto a = kith::distributed_array<std::uint64_t>::make(size), b = kith::distributed_array<std::uint64_t>::make(size);
  std::vector<std::uint64_t> expected(size), next(size);
  std::iota(expected.begin(), expected.end(), 1U);
  a.put(0, expected);
  {
    kith::data_flow flow;
    for (int s = 0; s < steps; ++s) {
      for (std::uint64_t part = 0; part < 4; ++part) {
        const std::uint64_t first = size * part / 4, count = size * (part + 1) / 4 - first;
        const std::uint64_t from = first / 2, many = size / 2, by = part + static_cast<std::uint64_t>(s);
        if (part % 2 == 0) {
          flow.at(s % kith::places())
              .spawn<rotate>(kith::in(a.range(from, many)), kith::out(b.range(first, count)), by);
        } else {
          flow.spawn<rotate>(kith::in(a.range(from, many)), kith::out(b.range(first, count)), by);
        }
        rotate(std::span(expected).subspan(from, many), words(next).subspan(first, count), by);
      }
      std::swap(a, b);
      std::swap(expected, next);
    }
    flow.wait();
  }
  check(a.get(0, size) == expected, "data-flow has the values of a serial program");
  a.destroy();
  b.destroy();
}

namespace {

/// The part of each place in check_collectives().
void take_part(int rounds) {
  const int all = kith::places(), here = kith::here();
  for (int r = 0; r < rounds; ++r) {
    check(kith::all_reduce(here + r, kith::reduction::sum) == all * (all - 1) / 2 + all * r, "sum of int");
    check(kith::all_reduce(1.5 * here, kith::reduction::largest) == 1.5 * (all - 1), "largest double");
    check(kith::all_reduce(std::uint64_t{7} + static_cast<unsigned>(here), kith::reduction::least) == 7,
          "least uint64");
    check(kith::broadcast(std::array{here, r}, all - 1) == std::array{all - 1, r}, "broadcast of the last place");
  }
  std::vector<float> many(100'000, static_cast<float>(here + 1));
  kith::all_reduce(std::span(many), kith::reduction::sum);
  check(many == std::vector<float>(many.size(), static_cast<float>(all * (all + 1)) / 2), "sum of many floats");
  std::ranges::fill(many, static_cast<float>(here));
  kith::broadcast(many, all - 1);
  check(many == std::vector<float>(many.size(), static_cast<float>(all - 1)), "broadcast of many floats");
  std::vector<int> few(3, here);
  kith::broadcast(few, all - 1);
  kith::all_reduce(few, kith::reduction::sum);
  check(few == std::vector<int>(3, all * (all - 1)), "broadcast and sum of a vector");
  const std::span<int, 2> ends(few.begin(), 2);
  few = {here, here, here};
  kith::broadcast(ends, all - 1);
  check(few == std::vector<int>{all - 1, all - 1, here}, "broadcast of a span of fixed size");
  std::array<double, 2> two{1, 2.5};
  kith::all_reduce(two, kith::reduction::sum);
  check(two == std::array{1.0 * all, 2.5 * all}, "sum of an array");
  *sum = 1;
  kith::barrier();
  *sum += 1;
  kith::barrier();
}

}  // namespace

void check_collectives() {
  kith::finish([] {
    for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<take_part>(20);
  });
  check(sum_of_all() == 2 * kith::places(), "all places have taken part");
}

kith::activity<long> sum_of_tree(int depth, long value) {
  long all = value;
  std::vector<kith::place_future<long>> children;
  for (int c = 0; depth > 0 && c < 3; ++c)
    children.push_back(kith::at((kith::here() + c) % kith::places()).async<sum_of_tree>(depth - 1, value + c));
  for (const auto& child : children) all += co_await child;
  co_await kith::async_finish([&] { kith::at((kith::here() + 1) % kith::places()).spawn<add>(0, value); });
  co_return all;
}

namespace {

void check_coroutines() {
  check(kith::at(kith::places() - 1).async<sum_of_tree>(5, 3L).get() == serial_sum(5, 3), "a tree of coroutines");
  check(sum_of_all() == serial_sum(5, 3), "and what their finishes have waited for");
}

}  // namespace

void all_checks() {
  check_coroutines();
  check_collectives();
  check_trees();
  check_nested_finishes();
  check_sizes();
  check_mixture();
  check_failures();
  check_arrays();
  check_data_flow(1000, 20);
  check_data_flow(100'000, 5);
}

}  // namespace job
