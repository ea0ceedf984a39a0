// Where workers' threads may run, as a setting.
#pragma once

#include <string>

namespace kith {

enum class bind_mode {
  automatic,  // nodes where there are several, else off
  cores,      // each on one CPU of its core
  nodes,      // each on the CPUs of its memory node that this process may use
  off,        // wherever the process may
};

/// The option if it is not empty, else KITH_BIND, else automatic. Throws kith::error that names what there is.
bind_mode bind_setting(const std::string& option = {});
const char* name_of(bind_mode m) noexcept;

}  // namespace kith
