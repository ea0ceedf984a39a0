// The types of explicit tasks, by the functions that the compiler has made of their bodies.
#pragma once

#include <cstdint>

namespace kith::gomp {

/// The type of tasks with this body; recordings name it by the body's symbol, or by its place in the program's file.
/// Thread-safe. Types beyond the number that a process may have are of type 0. Cost: a look into a table.
std::uint16_t type_of(void (*body)(void*));

}  // namespace kith::gomp
