// How the iterations of a loop are dealt.
#pragma once

#include <cstdint>

namespace kith {

/// How a loop's iterations are dealt. `static_`: one contiguous share for each worker, or, with a grain, chunks
/// dealt round robin. `dynamic`: chunks of `grain` iterations, taken as workers become free. `guided`: chunks
/// that shrink from remaining/workers down to `grain`. A grain of 0 means 1 (for static_: equal shares).
struct schedule {
  enum kind : std::uint8_t { static_, dynamic, guided };
  kind deal = guided;
  std::int64_t grain = 0;
};

}  // namespace kith
