// A task ends when its last child has ended. Then its captures are destroyed, its future is ready, and others may
// start.
#include <kith/kith.hpp>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

int main() {
  kith::runtime rt;
  rt.run([] {
    std::shared_ptr<int[]> table(new int[3], [](int* t) {
      std::printf("filled, and given back: %d %d %d\n", t[0], t[1], t[2]);
      delete[] t;
    });
    kith::task_ref fill = kith::spawn([table = std::move(table)] {
      int* const t = table.get();
      for (int i = 0; i < 3; ++i) kith::spawn([t, i] { t[i] = i; });
    });  // no wait(): `table` lives until the children have ended
    kith::spawn([] { std::puts("what comes after it"); }, kith::after{fill});
  });

  rt.run([] {
    kith::future<int> seven = kith::async([] {
      kith::spawn([] { throw std::runtime_error("a child failed later"); });
      return 7;
    });
    try {
      std::printf("%d\n", seven.get());
    } catch (const std::runtime_error& e) {
      std::puts(e.what());
    }
  });
}
