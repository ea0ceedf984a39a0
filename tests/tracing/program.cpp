// A program with known mistakes for tests/cli/check_test.py, which greps for the marks after `//!`. Its argument
// selects the mistake.
#include <kith/kith.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t count = 1000;
int table[count];    // filled before tasks run, and only read by them
int shared_counter;  // written by tasks
thread_local int mine = 0;
std::atomic<int> turn{0};

const kith::task_type good("good"), bad("bad");

/// Tasks without mistakes: all their data is declared, or needs no declaration.
void fine(kith::runtime& rt) {
  for (std::size_t i = 0; i < count; ++i) table[i] = static_cast<int>(i);
  std::vector<int> data(count), copy(count), twice(count);
  rt.run([&] {
    for (int round = 0; round < 4; ++round) {
      kith::spawn(
          [](std::span<int> d) {
            std::map<int, int> own;  // the task's own allocations
            for (std::size_t i = 0; i < d.size(); ++i) d[i] += own[static_cast<int>(i % 7)]++ + table[i];
            mine += d[0];
          },
          good, kith::inout(data));
      kith::spawn([](std::span<const int> from, std::span<int> to) { std::memcpy(to.data(), from.data(), 4 * count); },
                  good, kith::in(data), kith::out(copy));
    }
    kith::spawn([](std::span<int> few, std::span<const int> all) { few[0] = all[count - 1]; }, good,
                kith::inout(twice.data(), 10), kith::in(twice));
  });
}

/// Tasks that create tasks and wait for them.
long sum(std::span<const long> of) {
  if (of.size() == 1) return of[0];
  const std::size_t half = of.size() / 2;
  long left = 0, right = 0;
  const auto part = [](long& to, std::span<const long> numbers) { to = sum(numbers); };
  kith::spawn(part, good, kith::out(left), kith::in(of.data(), half));
  kith::spawn(part, good, kith::out(right), kith::in(of.data() + half, of.size() - half));
  kith::wait();
  return left + right;
}
void nested(kith::runtime& rt) {
  std::vector<long> numbers(64, 1);
  long all = 0;
  rt.run([&] { all = sum(numbers); });
  if (all != 64) throw std::logic_error("a wrong sum");
}

void undeclared(kith::runtime& rt) {
  std::vector<int> one(count), other(count);
  rt.run([&] {
    int* const hidden = other.data();
    kith::spawn([](std::span<int> d) { d[0] = 1; }, good, kith::inout(one));
    kith::spawn(
        [hidden](std::span<int> d) {
          d[0] += 1;
          hidden[10] = 3;  //! hidden write
        },
        bad, kith::inout(one));
    kith::spawn(
        [](std::span<const int> d) {
          const_cast<int&>(d[5]) = 3;  //! write of input
        },
        bad, kith::in(one));
    kith::spawn(
        [](std::span<int>) {
          ++shared_counter;  //! variable
        },
        bad, kith::inout(other));
  });
}

constexpr std::size_t part = 10;
/// A task names ten numbers twice, of an array that another one has named as a whole.
void named_twice(kith::runtime& rt) {
  std::vector<int> data(100);
  rt.run([&] {
    kith::spawn([](std::span<int> all) { all[0] = 1; }, good, kith::inout(data));
    kith::wait();
    kith::spawn([](std::span<const int> few, std::span<int> same) { same.data()[50] = few[0]; },  //! beyond both
                bad, kith::in(data.data(), 10), kith::out(data.data(), 10));
  });
}

/// Parts of an array are regions. A task that declares one of them writes all, in one touch and one by one.
void neighbours(kith::runtime& rt) {
  std::vector<int> data(3 * part);
  rt.run([&] {
    int* const all = data.data();
    for (std::size_t i = 0; i < 3; ++i)
      kith::spawn([](std::span<int> d) { d[0] = 1; }, good, kith::inout(all + i * part, part));
    kith::wait();
    kith::spawn(
        [all](std::span<int>) {
          std::memset(all + 1, 0, sizeof(int) * (3 * part - 2));       //! at once
          for (std::size_t i = 1; i < 3 * part - 1; ++i) all[i] += 1;  //! one by one
        },
        bad, kith::inout(all + part, part));
  });
}

/// Tasks that read memory on the heap which no task declares: one block that none of them writes, and one that another
/// task does.
void constants(kith::runtime& rt) {
  const std::vector<long> sizes{1, 2, 3, 4};
  std::vector<int> written(count), data(3);
  rt.run([&] {
    static const kith::task_type reads("reads"), writes("writes");
    const long* const of = sizes.data();
    int* const other = written.data();
    for (int i = 0; i < 3; ++i) {
      kith::spawn(
          [of, other](int& d) {
            d = static_cast<int>(of[1] + of[2]);  //! constant
            d += other[7];                        //! read elsewhere
          },
          reads, kith::inout(data[static_cast<std::size_t>(i)]));
    }
    kith::wait();
    kith::spawn([other] { other[8] = 1; }, writes);  //! written elsewhere
  });
}

/// What a task touches depends on which of two runs first.
void by_schedule(kith::runtime& rt) {
  std::vector<int> cells(count);
  rt.run([&] {
    int* const c = cells.data();
    for (int i = 0; i < 64; ++i) {
      kith::spawn(
          [c, i] {
            const int at = turn.fetch_add(1);
            c[at == i ? i : i + 100] = 1;
          },
          bad);
    }
  });
}

/// Tasks that touch the stack of a thread that runs none.
void stacks(kith::runtime& rt) {
  int n = 0;
  rt.submit([&] { n = 1; }).get();
  std::thread other([&] {
    int m = 0;
    rt.submit([&] { m = n; }).get();
    n = m + 1;
  });
  other.join();
  if (n != 2) throw std::logic_error("a wrong number");
}

/// Touches as many cells as standard input says.
void input(kith::runtime& rt) {
  int cells = 0;
  if (std::scanf("%d", &cells) != 1) cells = 0;
  std::vector<int> data(count);
  rt.run([&] {
    kith::spawn(
        [cells](std::span<int> d) {
          for (std::size_t i = 0; i < static_cast<std::size_t>(cells); ++i) d[i] = 1;
        },
        good, kith::inout(data));
  });
  std::fprintf(stderr, "cells: %d\n", cells);
}

bool again() { return std::strcmp(std::getenv("KITH_RECORD_ADDRESSES"), "2") == 0; }

/// Two runtimes, which begin in another order in the second run.
void two_runtimes(bool other_cells) {
  std::vector<int> data(count);
  for (int i = 0; i < 2; ++i) {
    kith::runtime rt;
    const bool odd = (i == 1) != again();
    const std::size_t cell = !odd ? 0 : other_cells && again() ? 2 : 1;
    rt.run([&] { kith::spawn([cell](std::span<int> d) { d[cell] = 1; }, good, kith::inout(data)); });
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  if (what == "two-runtimes" || what == "two-others") {
    two_runtimes(what == "two-others");
    return 0;
  }
  kith::runtime rt;
  if (what == "stacks") stacks(rt);
  if (what == "input") input(rt);
  if (what == "stopped" && again()) std::raise(SIGINT);
  if (what == "fine" || what == "stopped") fine(rt);
  if (what == "nested") nested(rt);
  if (what == "constants") constants(rt);
  if (what == "undeclared") undeclared(rt);
  if (what == "named-twice") named_twice(rt);
  if (what == "neighbours") neighbours(rt);
  if (what == "by-schedule") by_schedule(rt);
  std::printf("%s\n", what.c_str());
}
