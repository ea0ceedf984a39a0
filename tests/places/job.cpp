// A program on places that checks itself. It runs unchanged as threads of one process and under each MPI's mpirun.
//
// usage: job              all checks; prints "fine: P places, TRANSPORT" in the process of place 0
//        job endless      activities until a place is lost; prints what run() throws, and exits with 3
//        job name         what this executable calls itself: another one has another name, and is another program
//        job apart        other processes than place 0's do not call run(); place 0's uses collectives, and then forks
//        job again        places that cannot be made: nowhere, or at the last place only; afterwards they can
//        job differ       collectives that are not the same at all places
//        job fewer        place 0's process makes more place_runtimes than the others
//        job late         a place_runtime that ends after main()
//        job survive      idempotent activities; the last place ends itself meanwhile, and the others go on
//        job lose         the last places end themselves; what needs them fails, and nothing else
//        job outlive      what the last place has spawned goes on after its loss, and after the run; with a second
//                         word, `counted`, statistics are asked for meanwhile
//        job end          the last place ends itself after its place_runtime, before MPI has ended
//        job squares      idempotent activities, while a test ends a place; prints "started" before.
//                         With a second word `lost`, place 0 ends itself at the end
//        job sums         collectives, while a test ends a place; prints "started" before.
//                         Each survivor prints which of them failed
//        job refuse       place 0's run fails: each process prints the error, and exits with 4
//        job small WHAT   one thing to record: coroutines, flow or nodes
#include "job.hpp"

#include <kith/kith.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace job {

namespace {

#ifdef KITH_OTHER_PROGRAM
constexpr const char* name_of_this = "other";
#else
constexpr const char* name_of_this = "job";
#endif

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

/// Eight tasks on each of two nodes.
void fill_nodes() {
  for (int t = 0; t < 16; ++t) kith::spawn([] {}, kith::node{t % 2}, kith::name("on_node"));
}

int run_small(const std::string& what) {
  kith::place_runtime places(options());
  places.run([&what] {
    const int last = kith::places() - 1;
    if (what == "coroutines") check(kith::at(last).async<sum_of_tree>(3, 3L).get() == serial_sum(3, 3), "the sum");
    if (what == "flow") check_data_flow(200, 4);
    if (what == "nodes") {
      kith::finish([] {
        for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<fill_nodes>();
      });
    }
  });
  return 0;
}

int run(const std::string& mode, const std::string& more) {
  if (mode == "name") return std::puts(name_of_this) < 0 ? 1 : 0;
  if (mode == "endless") return run_endless();
  if (mode == "apart") return run_apart();
  if (mode == "again") return run_again();
  if (mode == "differ") return run_differ();
  if (mode == "fewer") return run_fewer();
  if (mode == "late") return run_late();
  if (mode == "survive") return run_survive();
  if (mode == "lose") return run_lose();
  if (mode == "outlive") return run_outlive(more == "counted");
  if (mode == "end") return run_end_after();
  if (mode == "squares") return run_squares(more == "lost");
  if (mode == "sums") return run_sums();
  if (mode == "refuse") return run_refuse();
  if (mode == "small") return run_small(more);
  return run_all();
}

}  // namespace

}  // namespace job

int main(int argc, char** argv) {
  try {
    return job::run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "job: %s\n", e.what());
    return 2;
  }
}
