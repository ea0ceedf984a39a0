// Tasks with results, tasks that follow them, edges without data, and groups.
#include <kith/kith.hpp>

#include <chrono>
#include <cstdio>
#include <string>

int main() {
  kith::runtime rt;
  rt.run([] {
    kith::future<int> six = kith::async([] { return 6; }), seven = kith::async([] { return 7; });
    // Nothing waits here: both are tasks that start when the ones before them have ended.
    kith::future<int> product = kith::when_all(six, seven).then([](int a, int b) { return a * b; });
    kith::future<std::string> text = product.then([](int n) { return "the answer is " + std::to_string(n); });

    kith::task_ref first = kith::spawn([] { std::puts("first"); });
    kith::spawn([] { std::puts("second"); }, kith::after{first});
    kith::wait();

    kith::group g;  // waited for on its own
    for (int i = 0; i < 10; ++i) g.spawn([] {});
    g.wait();
    if (text.wait_for(std::chrono::hours(1))) std::puts(text.get().c_str());
  });
  // From any thread, without run():
  std::puts(rt.submit([] { return std::string("from outside"); }).get().c_str());
}
