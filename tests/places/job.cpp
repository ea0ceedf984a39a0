// A program on places that checks itself. It runs unchanged as threads of one process and under each MPI's mpirun.
//
// usage: job              all checks; prints "fine: P places, TRANSPORT" in the process of place 0
//        job endless      activities until a place is lost; prints what run() throws, and exits with 3
//        job name        what this executable calls itself: another one has another name, and is another program
//        job apart        other processes than place 0's do not call run(); place 0's uses collectives, and then forks
//        job again       places that cannot be made: nowhere, or at the last place only; afterwards they can
//        job differ      collectives that are not the same at all places
//        job fewer       place 0's process makes more place_runtimes than the others
//        job late        a place_runtime that ends after main()
//        job refuse       place 0's run fails: each process prints what its run() throws, and exits with 4
#include <kith/activity.hpp>
#include <kith/collectives.hpp>
#include <kith/data_flow.hpp>
#include <kith/distributed_array.hpp>
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

#ifdef KITH_OTHER_PROGRAM
constexpr const char* name_of_this = "other";
#else
constexpr const char* name_of_this = "job";
#endif

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "job: failed: %s\n", what);
  std::_Exit(1);
}

struct mine {
  std::atomic<long> sum = 0;
  std::vector<int> came;  // numbers of messages, in their order
};
kith::place_local<mine> local;

// ---- activities

void add(int depth, long value) {
  local->sum += value;
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
  for (int p = 0; p < kith::places(); ++p) all += kith::at(p).async([] { return local->sum.exchange(0); }).get();
  return all;
}

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

/// Tasks on ranges of up to 800 KB, at places in turn and where their bytes are, against the same one after the other.
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

/// What each place does in check_collectives().
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
  local->sum = 1;
  kith::barrier();
  local->sum += 1;
  kith::barrier();
}

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

void check_coroutines() {
  check(kith::at(kith::places() - 1).async<sum_of_tree>(5, 3L).get() == serial_sum(5, 3), "a tree of coroutines");
  check(sum_of_all() == serial_sum(5, 3), "and what their finishes have waited for");
}

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

kith::place_options options() {
  kith::place_options o;
  o.each.oversubscribe = true;
  if (std::getenv("KITH_WORKERS") == nullptr) o.each.workers = 2;
  return o;
}

int run_all() {
  std::string done;
  for (int round = 0; round < 2; ++round) {  // a second place_runtime in the same processes
    kith::place_runtime places(options());
    bool ran = false;
    places.run([&] {
      ran = true;
      check(kith::here() == 0, "run() starts at place 0");
      all_checks();
    });
    check(ran == places.has_place(0), "run() runs its function where place 0 is");
    places.reset_statistics();
    places.run([] {
      kith::finish([] {
        for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn([] {});
      });
    });
    const auto counts = places.statistics();
    check(counts.size() == static_cast<std::size_t>(places.places()), "an entry for each place");
    if (!places.has_place(0)) continue;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      check(counts[p].spawns_accepted == (p == 0 ? 0U : 1U), "one activity came to each other place");
      check(counts[p].activities == (p == 0 ? 3U : 1U), "and ran there");  // the root, the body of the finish, its own
      check(!counts[p].tasks.workers.empty(), "the workers of all places are counted");
    }
    done = "fine: " + std::to_string(places.places()) + " places, " + places.transport() + "\n";
  }
  std::fputs(done.c_str(), stdout);
  return 0;
}

/// Sends a large argument to all places. Its memory is gone as soon as spawn() has returned or thrown.
void send_large() {
  constexpr std::size_t bytes = 2 << 20;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "there is memory");
  const std::unique_ptr<void, void (*)(void*)> unmapped(memory, [](void* m) { munmap(m, bytes); });
  const std::span<char> data(static_cast<char*>(memory), bytes);
  std::ranges::fill(data, 'x');
  for (int p = 0; p < kith::places(); ++p) {
    kith::at(p).spawn(
        [](std::span<const char> d) {
          check(std::ranges::all_of(d, [](char c) { return c == 'x'; }), "a large argument is whole");
        },
        std::span<const char>(data));
  }
}

void spin_for_ever() {
  while (true) {
    kith::finish([] {
      for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<add>(3, 1L);
      send_large();
      kith::at(0).spawn<sum_of_tree>(3, 1L);
    });
    check_data_flow(20'000, 2);
  }
}

int run_endless() {
  try {
    kith::place_runtime places(options());
    if (places.has_place(0)) std::fprintf(stderr, "started\n");
    places.run([] {
      kith::finish([] {
        for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<spin_for_ever>();
      });
    });
  } catch (const kith::place_lost& e) {
    std::fprintf(stderr, "%d: %s\n", getpid(), e.what());
  }
  try {
    const kith::place_runtime again(options());
  } catch (const kith::error& e) {
    check(std::string(e.what()).find("cannot meet again") != std::string::npos, "after a loss there are no new places");
    return 3;
  }
  return 0;
}

/// Runs `f` in a child; whether it returns true there.
template <class F>
bool in_child(F f) {
  const pid_t child = fork();
  if (child == 0) std::exit(f() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_apart() {
  {
    kith::place_runtime places(options());
    if (places.has_place(0)) {
      places.run([] {
        for (int step = 0; step < 10; ++step) check_collectives();
      });
    }
  }
  check(in_child([] { return true; }), "a child may call exit()");
  check(in_child([] {
          try {
            const kith::place_runtime places(options());
          } catch (const kith::error& e) {
            return std::string(e.what()).find("forked") != std::string::npos;
          }
          return false;
        }),
        "a child is no place of the job");
  kith::place_runtime places(options());  // the parent still is
  places.run([] { check_collectives(); });
  if (places.has_place(0)) std::puts("fine: apart");
  return 0;
}

/// What place_runtime's constructor throws.
std::string refusal_of(const kith::place_options& o) {
  try {
    const kith::place_runtime places(o);
  } catch (const kith::error& e) {
    return e.what();
  }
  return "nothing";
}

int run_again() {
  int last = 0;
  bool is_last = false;
  {
    const kith::place_runtime places(options());
    last = places.places() - 1;
    is_last = places.has_place(last);
  }
  const auto check_refusal = [&](const kith::place_options& wrong, const std::string& why) {
    check(refusal_of(wrong).find(why) == 0, "wrong options are refused");
    const std::string here = refusal_of(is_last ? wrong : options());
    check(here.find(is_last ? why : "place " + std::to_string(last) + " cannot start: " + why) == 0,
          "all places are told which one cannot start, and why");
  };
  kith::place_options wrong = options();
  wrong.fab_slots = 0;
  check_refusal(wrong, "place_options::fab_slots = 0");
  wrong = options();
  wrong.each.policy = "none";
  check_refusal(wrong, "no policy 'none'");
  wrong = options();
  wrong.places = last + 2;
  check_refusal(wrong, "places: " + std::to_string(last + 2) + " are asked for");
  kith::place_runtime places(options());
  places.run([] { check_collectives(); });
  if (places.has_place(0)) std::puts("fine: again");
  return 0;
}

/// Place 0 calls another collective than the others; all are told so.
void call_another(int which) {
  const bool other = kith::here() == 0;
  std::vector<int> few(1, 1), many(100'000, 1);
  std::vector<float> floats(1, 1);
  kith::barrier();
  std::string thrown = "nothing";
  try {
    switch (which) {
      case 0: other ? kith::barrier() : kith::all_reduce(std::span(few), kith::reduction::sum); break;
      case 1:
        other ? kith::all_reduce(std::span(few), kith::reduction::sum)
              : kith::all_reduce(std::span(floats), kith::reduction::sum);
        break;
      case 2: kith::all_reduce(std::span(other ? few : many), kith::reduction::sum); break;
      case 3: kith::broadcast(std::span(many), other ? 0 : 1); break;
      default: kith::all_reduce(std::span(many), other ? kith::reduction::least : kith::reduction::sum); break;
    }
  } catch (const kith::error& e) {
    thrown = e.what();
  }
  check(thrown.find("collective 1 of place") != std::string::npos && thrown.find(" differs from ") != std::string::npos,
        "a collective that differs is refused at all places");
  check(few == std::vector<int>(1, 1) && many == std::vector<int>(many.size(), 1), "and changes nothing");
}

int run_differ() {
  for (int which = 0; which < 5; ++which) {
    kith::place_runtime places(options());
    places.run([which] {
      kith::finish([&] {
        for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<call_another>(which);
      });
      kith::finish([] { kith::at(kith::places() - 1).spawn<add>(4, 1L); });
      check(sum_of_all() == serial_sum(4, 1), "activities go on");
    });
    if (places.has_place(0) && which == 4) std::puts("fine: differ");
  }
  return 0;
}

int run_fewer() {
  const auto whole_run = [] {
    kith::place_runtime places(options());
    places.run([] { check_collectives(); });
    return places.has_place(0);
  };
  if (!whole_run()) return 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      whole_run();
      check(false, "there are no places without the other processes");
    } catch (const kith::error& e) {
      check(std::string(e.what()).find("fewer place_runtimes") != std::string::npos, "place 0 is told that others end");
    }
  }
  std::puts("fine: fewer");
  return 0;
}

std::unique_ptr<kith::place_runtime> until_the_end;

int run_late() {
  until_the_end = std::make_unique<kith::place_runtime>(options());
  until_the_end->run([] { check_collectives(); });
  if (until_the_end->has_place(0)) std::puts("fine: late");
  return 0;
}

int run_refuse() {
  kith::place_runtime places(options());
  try {
    places.run([] { throw std::runtime_error("nothing to do"); });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 4;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "name") return std::puts(name_of_this) < 0 ? 1 : 0;
  try {
    return mode == "endless"  ? run_endless()
           : mode == "refuse" ? run_refuse()
           : mode == "again"  ? run_again()
           : mode == "fewer"  ? run_fewer()
           : mode == "late"   ? run_late()
           : mode == "differ" ? run_differ()
           : mode == "apart"  ? run_apart()
                              : run_all();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "job: %s\n", e.what());
    return 2;
  }
}
