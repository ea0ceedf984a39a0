// The names of task types, by number. Type 0 is "task".
#pragma once

#include <cstdint>
#include <string>

namespace kith {

/// Thread-safe.
std::string task_type_name(std::uint16_t number);

}  // namespace kith
