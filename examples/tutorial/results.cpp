// Tasks with results, edges that no data explains, and groups.
#include <kith/kith.hpp>

#include <cstdio>
#include <string>

int main() {
  kith::runtime rt;
  rt.run([] {
    kith::future<int> answer = kith::async([] { return 6 * 7; });
    kith::task_ref first = kith::spawn([] { std::puts("first"); });
    kith::spawn([] { std::puts("second"); }, kith::after{first});
    kith::wait();

    kith::group g;  // waited for on its own
    for (int i = 0; i < 10; ++i) g.spawn([] {});
    g.wait();
    std::printf("%d\n", answer.get());
  });
  // From any thread, without run():
  std::puts(rt.submit([] { return std::string("from outside"); }).get().c_str());
}
