// Settings of a runtime: each is what the program asks for (runtime_options), or else the environment variable, or else
// the default (base/variables.hpp). Errors name the one that was wrong.
#pragma once

#include "engine/native/engine.hpp"

#include <kith/runtime_options.hpp>

#include <cstdint>

namespace kith {

/// How the engine of such a runtime is set up. Throws kith::error for wrong settings, and for those that do not go
/// together.
native::engine_options engine_options_of(const runtime_options& o, int workers, bool cores_shared);

/// Whether addresses are recorded: not (0), or in which of the two runs of `kith record --addresses`.
std::int64_t address_run();

}  // namespace kith
