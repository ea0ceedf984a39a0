// Modes of the program job in which places are lost and the others go on.
#include "job.hpp"

#include <kith/array_halo.hpp>
#include <kith/collectives.hpp>
#include <kith/data_flow.hpp>
#include <kith/distributed_array.hpp>
#include <kith/kith.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace job {

namespace {

constexpr long numbers = 96;
using array = kith::distributed_array<long>;

struct slots {
  std::array<std::atomic<long>, numbers> of;
};
kith::place_local<slots> local;

void set(long i, long value) { local->of[static_cast<std::size_t>(i)] = value; }

/// Ends the process of that place, and does nothing elsewhere.
void end_process(int place) {
  if (kith::here() == place) kill(getpid(), SIGKILL);
}

long square(long i, int victim) {
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  if (i % 7 == 3) end_process(victim);
  return i * i;
}
/// Asks another place for the square, and writes it at place 0.
void send_square(long i, int victim) {
  const int next = static_cast<int>(i + kith::here() + 1) % kith::places();
  kith::at(0).spawn<set>(i, kith::at(next).idempotent().async<square>(i, victim).get());
}
kith::activity<long> square_later(long i, int victim) {
  const int next = static_cast<int>(i + kith::here() + 1) % kith::places();
  co_return co_await kith::at(next).idempotent().async<square>(i, victim);
}
void fail() { throw std::runtime_error("this was to be expected"); }

/// All squares are right, independently of the losses meanwhile.
void check_squares(int victim) {
  for (auto& s : local->of) s = -1;
  std::vector<kith::place_future<long>> plain, later;
  kith::finish([&] {
    for (long i = 0; i < numbers; ++i) {
      const kith::place_ref to = kith::at(static_cast<int>(i) % kith::places()).idempotent();
      to.spawn<send_square>(i, victim);
      plain.push_back(to.async<square>(i, victim));
      later.push_back(to.async<square_later>(i, victim));
    }
  });
  for (long i = 0; i < numbers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    check(plain[at].get() == i * i && later[at].get() == i * i, "results of idempotent activities");
    check(local->of[at] == i * i, "and of what they have spawned");
  }
}

/// Whether `f` throws place_lost of that place.
template <class F>
bool loses(int place, F f) {
  try {
    f();
  } catch (const kith::place_lost& e) {
    return e.place() == place;
  }
  return false;
}

void check_failures() {
  try {
    kith::finish([] { kith::at(1).idempotent().spawn<fail>(); });
    check(false, "an idempotent activity fails");
  } catch (const kith::place_error& e) {
    check(e.reason() == "this was to be expected", "its failure goes to the finish");
  }
  const auto failing = kith::at(1).idempotent().async<fail>();
  try {
    failing.get();
    check(false, "its future fails");
  } catch (const kith::place_error& e) {
    check(e.place() == 1, "and says where");
  }
}

/// Calls that need the lost place fail, and no others do.
void check_loss_of(int victim) {
  kith::place_future<long> here, there;
  const bool fails = loses(victim, [&] {
    kith::finish([&] {
      here = kith::at(0).async<square>(5L, victim);
      kith::at(victim).spawn<end_process>(victim);
      while (!kith::at(victim).is_lost()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  check(fails && here.get() == 25, "a finish fails that waits for a lost place, and no future of another one");
  check(loses(victim, [&] { kith::at(victim).spawn<set>(0L, 0L); }), "nothing is spawned at a lost place");
  check(loses(victim, [&] { there = kith::at(victim).async<square>(1L, victim); }), "and nothing is asked of it");
  check(loses(victim, [] { kith::barrier(); }), "a collective fails");
}

void add_up_after_loss(int victim) {
  check(loses(victim, [] { kith::barrier(); }), "a collective fails");
  check(kith::all_reduce(1, kith::reduction::sum) == kith::places() - 1, "and the next one is of the survivors");
}

/// Adds up over all places until that fails, and then several more times. All survivors stop at the same collective.
void add_up_often() {
  const int all = kith::places();
  std::vector<long> many(10'000);
  int failed = -1, victim = -1;
  long sum = 0;
  for (int i = 0; failed < 0 || i < failed + 50; ++i) {
    try {
      const long mine = 1L << kith::here();
      if (i % 8 == 7) {
        std::ranges::fill(many, mine);
        kith::all_reduce(many, kith::reduction::sum);
        check(std::ranges::all_of(many, [&](long m) { return m == many.front(); }), "large sums are whole");
        sum = many.front();
      } else {
        sum = kith::all_reduce(mine, kith::reduction::sum);
      }
      check(failed >= 0 || sum == (1L << all) - 1, "sums of all places");
      check(failed < 0 || sum == (1L << all) - 1 - (1L << victim), "sums of the survivors");
    } catch (const kith::place_lost& e) {
      check(failed < 0, "one collective fails");
      failed = i;
      victim = e.place();
    }
  }
  std::printf("sums: collective %d failed for place %d, then %ld\n", failed, victim, sum);
  std::fflush(stdout);
}

kith::place_options survivors() {
  kith::place_options o = options();
  o.on_loss = kith::place_loss::survivors_go_on;
  if (std::getenv("JOB_CREDITS") != nullptr) o.admission = kith::place_admission::credits;
  return o;
}

/// A task of a data_flow that needs elements of several places asks all of them, and waits for all answers.
void check_flow(const array& one_each, int victim) {
  kith::detail::range_copy<long> copy(one_each, 0, one_each.size());
  check(copy.parts().size() == one_each.size(), "all places are asked");
  for (const auto& part : copy.parts()) part->ended.wait();
  check(loses(victim, [&] { static_cast<void>(copy.values()); }), "and the lost one does not answer");
  const auto add_up = [](std::span<const long> all) { static_cast<void>(all); };
  check(loses(victim,
              [&] {
                kith::data_flow flow;
                flow.at(0).spawn(add_up, kith::in(one_each.range(0, one_each.size())));
                flow.wait();
              }),
        "which the task's data_flow throws");
}
/// The elements of an array at the survivors remain.
void check_array(const array& one_each, const kith::array_halo<long>& halo, int victim) {
  const auto lost = static_cast<std::uint64_t>(victim);
  check(one_each.get(0, lost) == std::vector<long>(lost, 5), "elements of survivors");
  check(loses(victim, [&] { static_cast<void>(one_each.get(lost)); }), "there are none of a lost place");
  check_flow(one_each, victim);
  halo.destroy();
  one_each.destroy();
  check(loses(victim, [] { static_cast<void>(array::make(1)); }), "an array needs all places");
}

/// Continues after the loss of the place that has spawned it, and after the end of the finish that both were in.
void outlive() {
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  check(kith::at(0).async<square>(6L, -1).get() == 36, "what a lost place has spawned can use the others");
  std::puts("it has outlived its spawner");
  std::fflush(stdout);
}
void leave_behind() {
  kith::at(1).spawn<outlive>();
  end_process(kith::here());
}

}  // namespace

int run_survive() {
  kith::place_runtime places(survivors());
  const int last = places.places() - 1;
  places.run([&] {
    check_failures();
    check_squares(-1);
    check_collectives();
  });
  places.run([&] {
    check_squares(last);
    check(kith::at(last).is_lost() && !kith::at(0).is_lost(), "a place was lost");
  });
  places.run([&] {
    // The first place is lost already.
    kith::place_future<long> there;
    check(loses(last, [&] { kith::at(last).spawn<set>(0L, 0L); }), "a second run knows of it");
    kith::finish([&] { there = kith::at(last).idempotent().async<square>(9L, -1); });
    check(there.get() == 81, "an idempotent activity runs elsewhere at once");
  });
  if (last > 2) {
    places.run([&] {
      kith::finish([&] {
        for (int p = 0; p < last; ++p) kith::at(p).spawn<add_up_after_loss>(last);
      });
      check_squares(last - 1);
    });
  }
  const auto counts = places.statistics();
  check(counts.size() == static_cast<std::size_t>(places.places()), "an entry for each place");
  if (places.has_place(0)) check(counts[0].activities != 0 && counts.back().activities == 0, "none of a lost place");
  if (places.has_place(0)) std::printf("fine: survive %d\n", places.places());
  return 0;
}

int run_lose() {
  kith::place_runtime places(survivors());
  const int last = places.places() - 1;
  places.run([&] {
    const auto size = static_cast<std::uint64_t>(places.places());
    const auto one_each = array::make(size);
    const auto halo = kith::array_halo<long>::make(one_each, 1);
    one_each.put(0, std::vector<long>(size, 5));
    check_loss_of(last);
    check_array(one_each, halo, last);
    check_squares(-1);
    if (last > 2) check_loss_of(last - 1);
    check_squares(-1);
  });
  if (places.has_place(0)) std::puts("fine: lose");
  return 0;
}

int run_outlive(bool counted) {
  kith::place_runtime places(survivors());
  const int last = places.places() - 1;
  places.run(
      [&] { check(loses(last, [&] { kith::finish([&] { kith::at(last).spawn<leave_behind>(); }); }), "a loss"); });
  if (counted) {
    const auto counts = places.statistics();
    if (places.has_place(0)) check(counts[1].activities == 1, "counts wait for what still runs");
    places.reset_statistics();
  }
  if (places.has_place(0)) std::puts("fine: outlive");
  return 0;
}

int run_end_after() {
  int here = 0;
  {
    kith::place_runtime places(survivors());
    places.run([] { check_squares(-1); });
    while (!places.has_place(here)) ++here;
    if (here == places.places() - 1) here = -1;
  }
  if (here == -1) kill(getpid(), SIGKILL);
  if (here == 0) std::puts("fine: end");
  return 0;
}

int run_squares(bool without_first) {
  kith::place_runtime places(survivors());
  if (places.has_place(0)) std::fprintf(stderr, "started\n");
  places.run([&] {
    for (int round = 0; round < 12; ++round) check_squares(-1);
    if (without_first) end_process(0);
  });
  if (places.has_place(0)) std::puts("fine: squares");
  return 0;
}

int run_sums() {
  kith::place_runtime places(survivors());
  if (places.has_place(0)) std::fprintf(stderr, "started\n");
  places.run([] {
    try {
      kith::finish([] {
        for (int p = 0; p < kith::places(); ++p) {
          try {
            kith::at(p).spawn<add_up_often>();
          } catch (const kith::place_lost&) {  // the others go on
          }
        }
      });
    } catch (const kith::place_lost&) {  // of an activity that was not idempotent
    }
  });
  if (places.has_place(0)) std::puts("fine: sums");
  return 0;
}

}  // namespace job
