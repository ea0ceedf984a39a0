// Deferred memory gets its home where the first task that writes it is placed, even if others touched it before.
#include <kith/kith.hpp>

#include <cstdio>

int main() {
  kith::runtime_options on;
  on.policy = "socket";
  on.machine = "node:4 core:1";
  kith::runtime rt(on);
  constexpr std::size_t page = 4096;
  auto* const data = static_cast<char*>(kith::allocate(rt, 6 * page, kith::distribution::deferred));
  const auto show = [&] {
    for (auto bytes : kith::known_bytes_on_nodes(rt, data, 6 * page))
      std::printf(" %d", static_cast<int>(bytes / page));
    std::printf("\n");
  };
  show();
  rt.run([&] {
    kith::spawn([] {}, kith::in(data, 2 * page), kith::node{1});  // a reader decides nothing
    kith::spawn([] {}, kith::out(data, 2 * page), kith::node{3});
    kith::spawn([] {}, kith::out(data + 2 * page, 3 * page), kith::node{2});
  });
  show();
  kith::deallocate(data);
}
