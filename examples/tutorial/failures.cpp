// The first exception reaches the waiter; what has not started is skipped. Groups can be cancelled.
#include <kith/kith.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>

int main() {
  kith::runtime rt;
  int data = 0;
  try {
    rt.run([&] {
      for (int i = 0; i < 10; ++i) {
        kith::spawn(
            [i](int& d) {
              if (i == 3) throw std::runtime_error("step 3 failed");
              ++d;
            },
            kith::inout(data));
      }
    });
  } catch (const std::runtime_error& e) {
    std::printf("%s, after %d steps\n", e.what(), data);
  }

  std::atomic<int> searched{0};
  rt.run([&] {
    kith::group search;
    int found = 0;
    search.spawn([&](int&) { search.cancel(); }, kith::out(found));
    for (int i = 0; i < 1000; ++i) search.spawn([&](const int&) { ++searched; }, kith::in(found));
    search.wait();
  });
  std::printf("%d searched after the end\n", searched.load());
}
