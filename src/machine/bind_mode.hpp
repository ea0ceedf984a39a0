// The setting for where workers' threads may run.
#pragma once

#include <optional>
#include <string>

namespace kith {

enum class bind_mode {
  automatic,  // caches on one node with several that cores share, nodes if there are several nodes, else off
  cores,      // each on one CPU of its core
  caches,     // each on the CPUs that share its last-level cache, and are on its memory node
  nodes,      // each on the CPUs of its memory node
  off,        // wherever the process may run
};

/// The option if there is one, else KITH_BIND, else automatic. Throws kith::error that lists the modes.
bind_mode bind_setting(const std::optional<std::string>& option = {});
const char* name_of(bind_mode m) noexcept;

}  // namespace kith
