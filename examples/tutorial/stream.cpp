// A stream of frames in bounded memory: no more are in flight than there are slots.
#include <kith/kith.hpp>

#include <array>
#include <cstdio>
#include <vector>

int main() {
  static constexpr std::size_t slots = 4, frames = 12;
  kith::runtime rt;
  std::array<std::vector<int>, slots> memory;
  std::vector<kith::handle<std::vector<int>>> slot(memory.begin(), memory.end());
  long total = 0;
  rt.run([&] {
    for (std::size_t i = 0; i < frames; ++i) {
      auto& frame = slot[i % slots];
      // Runs when the last task on this slot has ended.
      kith::spawn([i](std::vector<int>& f) { f.assign(1000 + 10 * i, static_cast<int>(i)); }, kith::out(frame));
      kith::spawn(
          [](std::vector<int>& f) {
            for (int& x : f) x *= 2;
          },
          kith::inout(frame));
      // One after the other, in the order of the frames, because all change `total`.
      kith::spawn([](const std::vector<int>& f, long& t) { t += f.back(); }, kith::in(frame), kith::inout(total));
    }
  });
  std::printf("%ld\n", total);
}
