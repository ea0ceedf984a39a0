// The same program under two policies, as if on a machine with four memory nodes.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  for (const char* policy : {"dep", "socket"}) {
    kith::runtime_options options;
    options.policy = policy;            // or KITH_POLICY
    options.machine = "node:4 core:2";  // or KITH_MACHINE; pretended: counts are real, times are not
    kith::runtime rt(options);
    static const kith::task_type first_touch{"first touch"}, step{"step"};
    constexpr int blocks = 61;
    std::vector<double> data(blocks * 1024);
    rt.run([&] {
      for (int round = 0; round < 20; ++round) {
        for (int b = 0; b < blocks; ++b) {
          kith::spawn([](std::span<double> v) { v[0] += 1; }, round == 0 ? first_touch : step,
                      kith::inout(data.data() + b * 1024, 1024), kith::node{b * 4 / blocks});
        }
      }
    });
    const kith::statistics s = rt.statistics();
    std::printf("%-6s %llu tasks, %s\n", policy, static_cast<unsigned long long>(s.total.tasks),
                s.remote_access_percent < 1 ? "all at their data" : "many far from their data");
  }
}
