// What exact.cpp does with memory that is unmapped in parts, resized and moved: tasks touch the same bytes before and
// after, whose names must be the same.
#pragma once

#include "recorded_touches.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

constexpr std::size_t page = 4096;

inline unsigned char* fresh_mapping(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::runtime_error("no memory");
  return static_cast<unsigned char*>(at);
}
inline void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Runs its tasks one after the other, as numbers from `first` on.
template <class InTask>
class memory_cases {
 public:
  memory_cases(const InTask& in_task, std::uint64_t first) : in_task_(in_task), next_(first) {}

  void run() {
    cut();
    cut_first();
    parts_of_pages();
    resize_in_place();
    move();
    reallocate();
    lend_stack(fresh_mapping(100 * page), "a mapping");
    auto* const on_heap = static_cast<unsigned char*>(std::malloc(100 * page));
    lend_stack(on_heap, "a block on the heap");
    std::free(on_heap);
  }

  template <class Check>
  void compare(recording& found, const Check& check) const {
    for (const alone& a : alone_) check(found.of[a.task].elsewhere == a.elsewhere, a.what);
    for (const std::uint64_t task : wholes_)
      check(found.of[task].named.size() == 2 && found.of[task].numbers.size() == 1, "parts are of one block");
    for (const same& s : stacks_) {
      const recorded &one = found.of[s.task], &other = found.of[s.other];
      const bool more = one.stacks.size() + 1 == other.stacks.size();  // tasks read their parameters on another stack
      check(more && other.named.size() == 1 && other.elsewhere == 0, s.what + " is a stack");
    }
    for (const copy& c : copies_) {
      const auto is = [](counts& all, const unsigned char* begin, std::size_t bytes) {
        const auto at = reinterpret_cast<std::uintptr_t>(begin);
        return all[at] == 1 && all[at + bytes - 1] == 1 && all[at + bytes] == 0;
      };
      recorded& r = found.of[c.task];
      check(is(r.reads, c.from, c.bytes) && is(r.writes, c.to, c.bytes), "realloc copies " + std::to_string(c.bytes));
    }
    for (const same& s : same_) {
      const recorded &one = found.of[s.task], &other = found.of[s.other];
      check(one.elsewhere == 0 && other.elsewhere == 0, s.what + " is known");
      check(one.named.size() == 2 && one.named == other.named, s.what + " has its name");
    }
  }

 private:
  struct alone {
    std::string what;
    std::uint64_t task, elsewhere;  // touches of memory of no known block
  };
  struct copy {
    std::uint64_t task;
    const unsigned char *from, *to;
    std::size_t bytes;
  };
  struct same {
    std::string what;
    std::uint64_t task, other;
  };

  std::uint64_t touch(unsigned char* one, unsigned char* other) {
    in_task_(next_, [=] {
      *one = 1;
      *other = 1;
    });
    return next_++;
  }

  /// What remains when the middle is unmapped, and then the beginning.
  void cut() {
    unsigned char* const all = fresh_mapping(6 * page);
    const std::uint64_t before = touch(all + 1, all + 5 * page), untouched = touch(all + 3 * page, all + 4 * page);
    munmap(all + 2 * page, page);
    same_.push_back({"memory behind a gap", before, touch(all + 1, all + 5 * page)});
    munmap(all, 2 * page);
    same_.push_back({"memory with another beginning", untouched, touch(all + 3 * page, all + 4 * page)});
  }

  /// Parts of a block that is touched only after it was cut.
  void cut_first() {
    unsigned char* const all = fresh_mapping(7 * page);
    munmap(all + 3 * page, page);
    munmap(all + page, page);
    wholes_.push_back(touch(all, all + 2 * page));
    wholes_.push_back(touch(all + 2 * page, all + 6 * page));
  }

  /// The system maps and unmaps whole pages.
  void parts_of_pages() {
    unsigned char* const one = fresh_mapping(100);
    alone_.push_back({"the rest of a page is known", touch(one, one + page - 1), 0});
    unsigned char* const all = fresh_mapping(3 * page);
    expect(munmap(all, page + 1) == 0, "munmap");
    syscall(SYS_mmap, all, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    alone_.push_back({"the rest of an unmapped page is not known", touch(all + page + 1, all + 2 * page), 1});
  }

  void resize_in_place() {
    unsigned char* const all = fresh_mapping(6 * page);
    munmap(all + 3 * page, 3 * page);
    const std::uint64_t before = touch(all + 1, all + 2 * page - 1);
    expect(mremap(all, 3 * page, 6 * page, 0) == all, "mremap, to grow");
    same_.push_back({"memory that has grown", before, touch(all + 1, all + 2 * page - 1)});
    alone_.push_back({"what was added is known", touch(all + 3 * page, all + 6 * page - 1), 0});
    expect(mremap(all, 6 * page, page + 1, 0) == all, "mremap, to shrink");
    syscall(SYS_mmap, all + page, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    same_.push_back({"memory that has shrunk", before, touch(all + 1, all + 2 * page - 1)});
    alone_.push_back({"what was given back is not known", touch(all + 2 * page, all + 6 * page - 1), 2});
  }

  /// The last four of six pages, of which one is unmapped, move and grow.
  void move() {
    unsigned char* const all = fresh_mapping(6 * page);
    munmap(all + page, page);
    const std::uint64_t before = touch(all + 3 * page, all + 6 * page - 1), kept = touch(all, all + 1);
    constexpr int how = MREMAP_MAYMOVE | MREMAP_FIXED;
    unsigned char* const room = fresh_mapping(6 * page);
    expect(mremap(all + 2 * page, 4 * page, 6 * page, how, room) == room, "mremap, to move");
    same_.push_back({"memory that was moved", before, touch(room + page, room + 4 * page - 1)});
    same_.push_back({"memory that was not moved", kept, touch(all, all + 1)});
    const std::uint64_t added = touch(room + 4 * page, room + 6 * page - 1);
    alone_.push_back({"what was added is known", added, 0});
    unsigned char* const back = fresh_mapping(3 * page);
    expect(mremap(room + 3 * page, 3 * page, 3 * page, how, back) == back, "mremap, to move two blocks");
    same_.push_back({"what was added and moved", added, touch(back + page, back + 3 * page - 1)});
  }

  /// A task reads what it gives to realloc, and writes what it gets.
  unsigned char* reallocated(unsigned char* old, std::size_t bytes, std::size_t kept) {
    unsigned char* made = nullptr;
    in_task_(next_, [&made, old, bytes] { made = static_cast<unsigned char*>(std::realloc(old, bytes)); });
    copies_.push_back({next_++, old, made, kept});
    return made;
  }
  void reallocate() {
    auto* const old = static_cast<unsigned char*>(std::malloc(1000));
    const std::uint64_t before = touch(old, old + 999);
    volatile std::size_t too_much = ~std::size_t{0} / 2;
    expect(std::realloc(old, too_much) == nullptr, "memory without end");
    same_.push_back({"what realloc has refused to resize", before, touch(old, old + 999)});
    unsigned char* const grown = reallocated(old, 100000, 1000);
    std::free(reallocated(grown, 100, 100));
  }

  /// 64 of 100 pages are a thread's stack for a while.
  void lend_stack(unsigned char* all, const std::string& where) {
    unsigned char *const stack = all + 4 * page, *const behind = all + 99 * page;
    const std::uint64_t before = touch(all, behind), within = touch(all + 4 * page, all + 20 * page);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    expect(pthread_attr_setstack(&attributes, stack, 64 * page) == 0, "pthread_attr_setstack");
    struct {
      std::atomic<unsigned char*> local{nullptr};
      std::atomic<bool> enough{false};
    } shared;
    const auto body = [](void* with) -> void* {
      auto* const s = static_cast<decltype(shared)*>(with);
      unsigned char local[64] = {};
      s->local.store(local);
      while (!s->enough.load()) sched_yield();
      return nullptr;
    };
    pthread_t thread{};
    expect(pthread_create(&thread, &attributes, body, &shared) == 0, "pthread_create");
    while (shared.local.load() == nullptr) sched_yield();
    same_.push_back({"what lies around a stack in " + where, before, touch(all, behind)});
    stacks_.push_back({"what a thread has in " + where, before, touch(all, shared.local.load())});
    shared.enough.store(true);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    same_.push_back({"a former stack in " + where, within, touch(all + 4 * page, all + 20 * page)});
  }

  const InTask& in_task_;
  std::uint64_t next_;
  std::vector<alone> alone_;
  std::vector<copy> copies_;
  std::vector<std::uint64_t> wholes_;
  std::vector<same> same_, stacks_;
};
