// Where the pages of allocations are, by distribution. Four nodes are pretended, so the output is the same anywhere.
#include <kith/kith.hpp>

#include <cstdio>

int main() {
  kith::runtime_options on;
  on.machine = "node:4 core:1";
  kith::runtime rt(on);
  constexpr std::size_t page = 4096, pages = 8;
  const auto show = [&](const char* text, kith::distribution how) {
    void* const data = kith::allocate(rt, pages * page, how);
    std::printf("%-9s", text);
    for (auto bytes : kith::known_bytes_on_nodes(rt, data, pages * page)) std::printf("%4zu", bytes / page);
    std::printf("\n");
    kith::deallocate(data);
  };
  std::printf("pages on    0   1   2   3   ? (not known yet)\n");
  show("fine", kith::distribution::fine);
  show("coarse", kith::distribution::coarse);
  show("coarse", kith::distribution::coarse);
  show("block", kith::distribution::block);
  show("node:2", kith::node{2});
  show("system", kith::distribution::system);
  show("deferred", kith::distribution::deferred);
}
