// The types of tasks, by the functions that the compiler has made of their bodies.
#pragma once

#include <cstdint>
#include <string>

namespace kith::openmp {

/// The function of a body, and how recordings name it.
struct body_code {
  template <class F>
  explicit body_code(F* function) noexcept : address(reinterpret_cast<std::uintptr_t>(function)) {}
  template <class F>
  body_code(F* function, std::string (*name_of)(const body_code&), const void* made_at) noexcept
      : address(reinterpret_cast<std::uintptr_t>(function)), name(name_of), site(made_at) {}

  std::uintptr_t address;
  std::string (*name)(const body_code&) = nullptr;  // null: the symbol, or its place in the program's file
  const void* site = nullptr;                       // for `name`
};

/// The type of tasks with this body. Thread-safe. Types beyond the number that a process may have are of type 0. Cost:
/// a look into a table; for a new body, a name is made.
std::uint16_t type_of(const body_code&);

}  // namespace kith::openmp
