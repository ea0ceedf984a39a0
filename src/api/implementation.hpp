// The implementation of kith::runtime. Only for files of this folder, of src/places and of src/openmp.
#pragma once

#include "engine/native/engine.hpp"

#include <utility>

namespace kith {

class runtime::implementation {
 public:
  implementation(machine on, const worker_plan& plan, native::engine_options options)
      : engine(std::move(on), plan, std::move(options)) {}
  static native::engine& engine_of(const runtime& r) noexcept { return r.impl_->engine; }
  native::engine engine;
};

}  // namespace kith
