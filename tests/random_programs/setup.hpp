// How a random program is run: its runtime, and the threads that use it.
#pragma once

#include "program.hpp"

#include <string>

namespace kith::random_programs {

enum class kind : std::uint8_t {
  any,
  few_stacks,  // waits run out of stacks
  repeatable,  // shape::repeatable
};

struct setup {
  word seed;
  runtime_options options;
  shape size;
  int roots = 1;      // from one thread, one after the other
  int outsiders = 0;  // threads that run and submit bodies meanwhile

  /// Everything follows from the seed and the kind.
  setup(word s, kind k);
  /// Everything that the seed decided, for an error message.
  std::string text() const;

  static constexpr int of_each_outsider = 3;
  word root_seed(int r) const { return mix(seed) + static_cast<word>(r); }
  word outside_seed(int thread, int k) const {
    return mix(seed) + 100 + static_cast<word>(thread * of_each_outsider + k);
  }
};

}  // namespace kith::random_programs
