// Settings of a runtime: each is what the program asks for (runtime_options), or else the environment variable, or else
// the default (base/variables.hpp). Errors name the one that was wrong.
#pragma once

#include "engine/native/engine.hpp"

#include <kith/runtime_options.hpp>

#include <cstdint>

namespace kith {

/// The options of the engine of such a runtime. Throws kith::error for wrong settings, and for those that do not go
/// together.
native::engine_options engine_options_of(const runtime_options& o, int workers, bool cores_shared);

/// Whether addresses are recorded: 0 if not, else the number of the run of `kith record --addresses`.
std::int64_t address_run();

}  // namespace kith
