// Touches memory in known ways inside tasks, and compares the recording with these touches, byte by byte. Compiled with
// access callbacks by each compiler (exact_test.py); the folder for the recording is the argument.
#include "known_cases.hpp"
#include "memory_cases.hpp"
#include "recorded_touches.hpp"

#include "base/access_tracer.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

counts counted(const std::vector<bytes>& of) {
  counts all;
  for (const bytes& x : of) {
    for (std::size_t i = 0; i < x.count; ++i) ++all[reinterpret_cast<std::uintptr_t>(x.at) + i];
  }
  return all;
}

int failures = 0;
void check(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

/// Leaves out what is not in the buffers and atomics: the test's own variables.
counts of_interest(const counts& all) {
  counts some;
  const auto inside = [](std::uintptr_t at, const void* begin, std::size_t n) {
    return at - reinterpret_cast<std::uintptr_t>(begin) < n;
  };
  for (const auto& [at, n] : all) {
    if (inside(at, &a, sizeof a) || inside(at, &b, sizeof b) || inside(at, &word, 4) || inside(at, &wide, 8) ||
        inside(at, &tiny, 1))
      some[at] = n;
  }
  return some;
}

std::string shown(const counts& all) {
  std::string text;
  for (const auto& [at, n] : all) {
    const bool in_a = at - reinterpret_cast<std::uintptr_t>(&a) < sizeof a;
    text += (in_a ? " a+" : " b+") + std::to_string(at - reinterpret_cast<std::uintptr_t>(in_a ? &a : &b)) + "x" +
            std::to_string(n);
    if (text.size() > 300) break;
  }
  return text;
}

constexpr std::uint64_t nested_outer = 1000, nested_inner = 1001, first_thread = 100000, allocating = 3000,
                        long_loop = 4000, interrupted = 5000, foreign_stacks = 6000, unmapped = 6001, refused = 6005,
                        foreign_again = 6002, nothing = 6003, resized = 6004, first_of_memory = 7000;
constexpr int threads = 4, rounds = 2000;

/// Compilers may leave out a pair that they see.
void make_and_free() {
  char* volatile const made = new char[100];
  delete[] made;
}

/// A signal handler of the program that runs after each instruction of a task, so also of the recorder. It maps memory,
/// and writes into known memory and into this.
void handler(int) {
  a.at[3000] = 1;
  auto* const fresh =
      static_cast<unsigned char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  fresh[7] = 1;
  munmap(fresh, 4096);
}
void be_interrupted() {
#if defined(__x86_64__)
  std::signal(SIGTRAP, handler);
  constexpr unsigned long step = 0x100;  // the processor's trap flag
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | step);
#endif
  axpy(&in<double>(a, 0), &in<double>(b, 0), 4);
  make_and_free();
  munmap(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
#if defined(__x86_64__)
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~step);
#endif
}

/// Children of fork() allocate while other threads are in the recorder. True if all end.
bool children_end() {
  constexpr int children = 100;
  std::atomic<bool> enough{false};
  std::vector<std::thread> busy;
  for (int t = 0; t < 2; ++t) {
    busy.emplace_back([&enough] {
      while (!enough.load()) make_and_free();
    });
  }
  bool all = true;
  for (int i = 0; i < children && all; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      make_and_free();
      _exit(0);
    }
    int status = 1;
    all = waitpid(child, &status, 0) == child && status == 0;
  }
  enough.store(true);
  for (std::thread& t : busy) t.join();
  return all;
}

/// Pieces of mapped memory, unmapped at once, and mapped again without the recorder's knowledge.
unsigned char* mapped_behind() {
  constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS, rights = PROT_READ | PROT_WRITE;
  auto* const all = static_cast<unsigned char*>(mmap(nullptr, 4 * page, rights, how, -1, 0));
  mmap(all, page, rights, how | MAP_FIXED, -1, 0);
  mmap(all + page, page, rights, how | MAP_FIXED, -1, 0);
  munmap(all, 2 * page);
  syscall(SYS_mmap, all, 2 * page, rights, how | MAP_FIXED, -1, 0);
  return all;
}
/// Mapped memory that has grown, and perhaps moved.
unsigned char* grown_mapping() {
  void* const small = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<unsigned char*>(mremap(small, page, 256 * page, MREMAP_MAYMOVE));
}

/// Mapped memory that the system has refused to unmap and to let grow.
unsigned char* kept_mapping() {
  auto* const all =
      static_cast<unsigned char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (munmap(all + 1, page) != -1) throw std::runtime_error("an address inside a page was unmapped");
  if (mremap(all, page, 2 * page, 0) != MAP_FAILED) throw std::runtime_error("memory has grown over its neighbour");
  return all;
}

/// Runs functions as tasks: what they touch is recorded under the task's number.
class task_runner {
 public:
  task_runner(const kith::access_tracer& tracer, void* into) : tracer_(tracer), into_(into) {}
  template <class F>
  void operator()(std::uint64_t task, F&& f) const {
    void* const outer = tracer_.enter(into_, task);
    f();
    tracer_.leave(outer);
  }

 private:
  const kith::access_tracer& tracer_;
  void* into_;
};

/// Two threads' stacks, one of which runs no task at first.
void touch_foreign_stacks(const task_runner& in_task) {
  std::vector<std::thread> two;
  std::atomic<unsigned char*> theirs{nullptr};
  std::atomic<int> step{0};
  const auto await = [&step](int reached) {
    while (step.load() != reached) std::this_thread::yield();
  };
  two.emplace_back([&] {  // runs no task at first, and nor did a thread before it
    unsigned char local[64] = {};
    theirs.store(local);
    step.store(1);
    await(2);
    in_task(nothing, [] {});
    step.store(3);
    await(4);
  });
  unsigned char mine[64] = {};
  two.emplace_back([&, at = mine] {
    await(1);
    const auto touch = [at, other = theirs.load()] { at[5] = other[7]; };
    in_task(foreign_stacks, touch);
    step.store(2);
    await(3);
    in_task(foreign_again, touch);
    step.store(4);
  });
  for (std::thread& t : two) t.join();
}

/// Many small tasks on several threads at a time.
void touch_by_threads(const task_runner& in_task) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i)
        in_task(first_thread + static_cast<std::uint64_t>(t * rounds + i), [&] {
          std::vector<char> own(static_cast<std::size_t>(16 + i % 64));
          a.at[static_cast<std::size_t>(64 * t + i % 64)] = own[3];
        });
    });
  }
  for (std::thread& t : all) t.join();
}

void touch_all(const task_runner& in_task, memory_cases<task_runner>& memory) {
  std::memcpy(b.at, "hello", 6);
  std::memcpy(a.at, "hex", 4);
  b.at[150] = 1;                                   // 50 bytes of b + 100 and a + 100 are equal
  for (std::size_t c = cases.size(); c-- != 0;) {  // texts come before what changes them
    in_task(c + 1, cases[c].run);
  }
  in_task(nested_outer, [&] {
    a.at[0] = 1;
    in_task(nested_inner, [] { a.at[1] = 1; });
    in_task(0, [] { a.at[2] = 1; });
    a.at[3] = 1;
  });
  a.at[4] = 1;  // outside tasks
  in_task(allocating, allocations);
  in_task(long_loop, [] {
    for (int i = 0; i < rounds; ++i) axpy(&in<double>(a, 0), &in<double>(b, 0), 512);
  });
  touch_foreign_stacks(in_task);
  touch_by_threads(in_task);
  unsigned char* const behind = mapped_behind();
  in_task(unmapped, [=] {
    for (const std::size_t i : {0, 1, 2}) behind[i * page] = 1;
  });
  unsigned char* const grown = grown_mapping();
  auto* const whole_page = static_cast<unsigned char*>(pvalloc(100));
  in_task(resized, [=] { grown[0] = grown[255 * page] = whole_page[page - 1] = 1; });
  unsigned char* const kept = kept_mapping();
  in_task(refused, [=] { kept[0] = kept[page] = 1; });
  memory.run();
  alarm(60);
  in_task(interrupted, be_interrupted);
  alarm(0);
}

void compare(recording& found) {
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const recorded& r = found.of[c + 1];
    const counts reads = of_interest(r.reads), writes = of_interest(r.writes);
    check(reads == counted(cases[c].reads), cases[c].name + ": reads" + shown(reads));
    check(writes == counted(cases[c].writes), cases[c].name + ": writes" + shown(writes));
    check(r.elsewhere == 0, cases[c].name + ": all blocks are known");
  }
  check(of_interest(found.of[nested_outer].writes) == counted({{a.at, 1}, {a.at + 3, 1}}), "outer task");
  check(of_interest(found.of[nested_inner].writes) == counted({{a.at + 1, 1}}), "inner task");
  check(found.of[foreign_stacks].elsewhere == 0, "stacks of threads without tasks are known");
  check(!found.of[foreign_stacks].stacks.empty() && found.of[foreign_stacks].stacks == found.of[foreign_again].stacks,
        "a thread's stack is the same block before and after its first task");
  check(found.of[unmapped].elsewhere == 2, "what was given back is not known");
  check(found.of[resized].elsewhere == 0, "mapped memory with another size is known, and so are whole pages");
  check(found.of[refused].elsewhere == 0, "memory that the system has not given back is known");
  counts loop = of_interest(found.of[interrupted].writes);
  loop.erase(reinterpret_cast<std::uintptr_t>(a.at + 3000));
  check(loop == counted({{a.at, 32}}), "a handler's touches do not spoil the task's");
  check(!found.of.contains(0), "task 0 is not recorded");
  check(found.of[allocating].heap_bytes >= 400, "the vector's memory is the heap's");
  check(found.size[long_loop] < 64 * rounds, "a loop takes few bytes: " + std::to_string(found.size[long_loop]));
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < rounds; ++i) {
      const recorded& r = found.of[first_thread + static_cast<std::uint64_t>(t * rounds + i)];
      const bool right = of_interest(r.writes) == counted({{a.at + 64 * t + i % 64, 1}}) && r.elsewhere == 0 &&
                         r.heap_bytes >= static_cast<std::uint64_t>(1);
      if (!right) check(false, "thread " + std::to_string(t) + ", task " + std::to_string(i));
    }
  }
}

}  // namespace

int main(int, char** argv) {
  const kith::access_tracer* const tracer = kith::the_access_tracer();
  if (tracer == nullptr) return std::puts("no tracer is registered"), 1;
  void* const into = tracer->start(argv[1]);
  const task_runner in_task(*tracer, into);
  memory_cases memory(in_task, first_of_memory);
  touch_all(in_task, memory);
  check(children_end(), "children of fork() end");
  check(tracer->finish(into) == 0, "everything was written");

  recording found(argv[1]);
  compare(found);
  memory.compare(found, check);
  std::puts(failures == 0 ? "exact" : "not exact");
  return failures == 0 ? 0 : 1;
}
