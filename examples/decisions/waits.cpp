// All tasks wait for the last one in the queue: each wait is suspended, and the next task runs on another stack.
#include <kith/kith.hpp>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  const int tasks = argc > 1 ? std::atoi(argv[1]) : 50, rounds = argc > 2 ? std::atoi(argv[2]) : 1;
  const bool wait = argc < 4;  // with a third argument no task waits: what the rest costs
  kith::runtime_options one_queue;
  one_queue.workers = 1;
  one_queue.policy = "fifo";
  one_queue.throttle = 0;
  kith::runtime rt(one_queue);
  long waits = 0;
  for (int round = 0; round < rounds; ++round) {
    rt.run([&] {
      kith::future<int> last;
      for (int i = 0; i < tasks; ++i) kith::spawn([&] { waits += wait ? last.get() : 0; });
      last = kith::async([] { return 1; });
      kith::wait();
    });
  }
  std::printf("%ld waits\n", waits);
}
