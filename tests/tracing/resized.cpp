// A program whose memory is unmapped in parts, moved and resized, for tests/cli/check_test.py, which greps for the
// marks after `//!`. Its argument selects what happens.
#include <kith/kith.hpp>

#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

constexpr std::size_t page = 4096;
const kith::task_type good("good"), bad("bad");

unsigned char* mapped(std::size_t pages) {
  void* const at = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::runtime_error("no memory");
  return static_cast<unsigned char*>(at);
}

/// Each task unmaps its own page, in any order.
void each_its_page(kith::runtime& rt) {
  constexpr std::size_t pages = 32;
  unsigned char* const all = mapped(pages);
  rt.run([&] {
    for (std::size_t i = 0; i < pages; ++i) {
      unsigned char* const mine = all + i * page;
      kith::spawn(
          [=] {
            mine[i] = mine[i + 1] = 1;
            munmap(mine, page);
          },
          good, kith::inout(mine, page));
    }
  });
}

void read_by_task(const unsigned char* from) {
  kith::spawn(
      [from] {
        if (from[5] != 1) throw std::runtime_error("other data");  //! read
      },
      bad);
}

/// Tasks read, undeclared, what was written before its memory was cut, moved or resized.
void cut(kith::runtime& rt) {
  unsigned char* const all = mapped(3);
  rt.run([&] {
    std::memset(all, 1, 3 * page);
    munmap(all + page, page);
    read_by_task(all);
    read_by_task(all + 2 * page);
  });
}

void moved(kith::runtime& rt) {
  unsigned char *const all = mapped(2), *const room = mapped(4);
  rt.run([&] {
    std::memset(all, 1, 2 * page);
    mremap(all, 2 * page, 4 * page, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    read_by_task(room + page);
  });
}

void reallocated(kith::runtime& rt) {
  constexpr std::size_t bytes = 1000;
  auto* const old = static_cast<unsigned char*>(std::malloc(bytes));
  unsigned char* fresh = nullptr;
  rt.run([&] {
    std::memset(old, 1, bytes);
    kith::spawn([=, &fresh] { fresh = static_cast<unsigned char*>(std::realloc(old, 1000 * bytes)); }, good,
                kith::inout(old, bytes), kith::out(&fresh, 1));
    kith::wait();
    read_by_task(fresh);
  });
}

/// The memory was a thread's stack.
void former_stack(kith::runtime& rt) {
  constexpr std::size_t pages = 64;
  unsigned char* const all = mapped(pages);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, all, pages * page);
  pthread_t thread{};
  if (pthread_create(&thread, &attributes, [](void*) -> void* { return nullptr; }, nullptr) != 0)
    throw std::runtime_error("no thread");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  rt.run([&] {
    std::memset(all, 1, page);
    read_by_task(all);
  });
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  kith::runtime rt;
  if (what == "each-its-page") each_its_page(rt);
  if (what == "cut") cut(rt);
  if (what == "moved") moved(rt);
  if (what == "reallocated") reallocated(rt);
  if (what == "former-stack") former_stack(rt);
  std::printf("%s\n", what.c_str());
}
