// With "+pm" the pages that a task writes move to the node of the worker that runs it.
#include <kith/kith.hpp>

#include <cstdio>

int main() {
  constexpr std::size_t page = 4096, pages = 16;
  for (const char* policy : {"socket:steal=off", "socket+pm:steal=off"}) {
    kith::runtime_options on;
    on.policy = policy;
    on.machine = "node:2 core:1";
    kith::runtime rt(on);
    auto* const data = static_cast<char*>(kith::allocate(rt, pages * page, kith::node{0}));
    for (int round = 0; round < 3; ++round)
      rt.run([&] { kith::spawn([] {}, kith::inout(data, pages * page), kith::node{1}); });
    const kith::statistics s = rt.statistics();
    std::printf("%-20s %2d pages moved, %d of %d accesses remote\n", policy, static_cast<int>(s.migrated_bytes / page),
                static_cast<int>(s.remote_accesses), static_cast<int>(s.remote_accesses + s.local_accesses));
    kith::deallocate(data);
  }
}
