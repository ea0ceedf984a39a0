// Messages between two places, for `kith-bench places`: place 1 adds up the first number of each message.
//
// usage: kith-bench-places-kith CASE COUNT     as two processes of an MPI job; place 0 prints the value
//        kith-bench-places-kith idle SECONDS   prints what share of a core each place uses that has nothing to do
//        kith-bench-places-kith collective-BYTES COUNT [survivors]
//                                              prints the microseconds of an all_reduce of BYTES bytes, 0: of a
//                                              barrier, of all places; `survivors`: where survivors go on
//
// rate-8 and rate-1k: the program collects small messages, and sends some KiB of them as the argument of one activity.
// In activity-8 and bandwidth-1m each message is an activity. A spawn returns when its activity was accepted, so
// several tasks spawn at once. The buffer of fresh activities has room for what they have under way: refusals would
// measure its bound, not the messages.
#include <kith/collectives.hpp>
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<std::uint64_t> sum{0};

/// Adds up messages of `words` numbers each.
void add(std::size_t words, std::span<const std::uint64_t> all) {
  std::uint64_t here = 0;
  for (std::size_t at = 0; at < all.size(); at += words) here += all[at];
  sum.fetch_add(here, std::memory_order_relaxed);
}

struct messages {
  std::size_t bytes;    // of each
  std::size_t in_one;   // in one activity
  std::uint64_t tasks;  // that spawn concurrently
};

/// Sends every `m.tasks`-th message from `first` on.
void send(const messages& m, std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> message(m.bytes / sizeof(std::uint64_t)), collected;
  collected.reserve(m.in_one * message.size());
  for (std::uint64_t n = first; n < count; n += m.tasks) {
    message[0] = n;
    if (m.in_one > 1) {
      collected.insert(collected.end(), message.begin(), message.end());
      if (collected.size() < m.in_one * message.size() && n + m.tasks < count) continue;
    }
    const std::span<const std::uint64_t> all(m.in_one > 1 ? collected : message);
    kith::at(1).spawn<add>(message.size(), all);
    collected.clear();
  }
}

/// Seconds until all messages have been added up.
double seconds_of(const messages& m, std::uint64_t count) {
  const auto began = std::chrono::steady_clock::now();
  kith::finish([&] {
    for (std::uint64_t t = 0; t < m.tasks; ++t) kith::spawn([=] { send(m, t, count); });
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double round_trips(std::uint64_t count) {
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t m = 0; m < count; ++m)
    if (kith::at(1).async([](std::uint64_t n) { return n + 1; }, m).get() != m + 1) std::abort();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// ---- idle

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Prints the share of a core, in percent, that each place uses while place 0 waits for a task of place 1,
/// which sleeps.
void idle(std::uint64_t seconds) {
  const auto used = [] { return kith::at(1).async([] { return cpu_seconds(); }).get(); };
  const double here = cpu_seconds(), there = used();
  kith::finish([&] {
    kith::at(1).spawn([](std::uint64_t s) { std::this_thread::sleep_for(std::chrono::seconds(s)); }, seconds);
  });
  const double percent = 100 / static_cast<double>(seconds);
  std::printf("place 0: %.2f %%, place 1: %.2f %%\n", (cpu_seconds() - here) * percent, (used() - there) * percent);
}

// ---- collectives

void collect(std::uint64_t bytes, std::uint64_t count) {
  std::vector<double> values(bytes / sizeof(double), 1);
  for (std::uint64_t i = 0; i < count; ++i)
    bytes == 0 ? kith::barrier() : kith::all_reduce(values, kith::reduction::least);
}

double microseconds_of_collective(std::uint64_t bytes, std::uint64_t count) {
  const auto began = std::chrono::steady_clock::now();
  kith::finish([&] {
    for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<collect>(bytes, count);
  });
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
  return took.count() / static_cast<double>(count);
}

double value_of(const std::string& what, std::uint64_t count) {
  const auto n = static_cast<double>(count);
  if (const std::string prefix = "collective-"; what.starts_with(prefix))
    return microseconds_of_collective(std::strtoull(what.c_str() + prefix.size(), nullptr, 10), count);
  if (what == "spawn") return round_trips(count) / n * 1e6;
  const messages m = what == "rate-8"       ? messages{8, 512, 16}
                     : what == "rate-1k"    ? messages{1 << 10, 32, 8}
                     : what == "activity-8" ? messages{8, 1, 256}
                                            : messages{1 << 20, 1, 8};
  const double seconds = seconds_of(m, count);
  const std::uint64_t came = kith::at(1).async([] { return sum.exchange(0); }).get();
  if (came != count * (count - 1) / 2) {
    std::fprintf(stderr, "kith-bench: place 1 has added up %llu\n", static_cast<unsigned long long>(came));
    std::abort();
  }
  return what == "bandwidth-1m" ? n * static_cast<double>(m.bytes) / seconds / 1e9 : n / seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  const std::string what = argv[1];
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  kith::place_options o;
  o.fab_slots = 1024;
  if (argc == 4) o.on_loss = kith::place_loss::survivors_go_on;
  kith::place_runtime places(o);
  places.run([&] {
    if (what == "idle") return idle(count);
    value_of(what, count / 10 + 2);  // fresh memory, first messages
    std::printf("%.6g\n", value_of(what, count));
  });
}
