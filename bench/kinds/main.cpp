// kith-bench-kinds: task programs without bodies, recorded dry by bench/auto.py to judge the policy `auto`. There is
// one for each kind of program that users write; only the accesses and the stated work of the tasks count. kinds.cpp
// says what the sizes mean.
#include "kinds.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace bench = kith::bench;

int main(int argc, char** argv) {
  std::vector<bench::kind> all;
  for (const auto more : {bench::tuned_on(), bench::initialisation(), bench::algorithms(), bench::linear_algebra(),
                          bench::simulation_codes(), bench::data_processing(), bench::machine_learning(),
                          bench::searching_and_sorting(), bench::streams()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  const auto found =
      std::ranges::find_if(all, [&](const bench::kind& k) { return argc > 1 && std::strcmp(k.name, argv[1]) == 0; });
  if (argc != 6 || found == all.end()) {
    std::fputs("usage: kith record --dry -o FILE -- kith-bench-kinds KIND BLOCKS BYTES STEPS WORK\nkinds:", stderr);
    for (const bench::kind& k : all) std::fprintf(stderr, " %s", k.name);
    std::fputs("\n", stderr);
    return 2;
  }
  const auto number = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  const bench::sizes s{number(2), number(3), number(4), std::strtod(argv[5], nullptr)};
  if (s.blocks < 1 || s.bytes < 1 || s.steps < 1 || s.work < 0) {
    std::fputs("kith-bench-kinds: BLOCKS, BYTES and STEPS must be 1 or more, WORK 0 or more\n", stderr);
    return 2;
  }
  kith::runtime_options options;
  options.dry = true;
  options.workers = 1;
  options.policy = "fifo";
  kith::runtime rt(options);
  rt.run([&] { found->spawn_all(s); });
}
