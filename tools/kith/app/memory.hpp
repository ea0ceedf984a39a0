// Checks, before a program runs, whether it fits into memory. For `kith app`.
#pragma once

#include "apps/app.hpp"

#include <cstdint>
#include <string>

namespace kith::tools {

/// The bytes of address space that this process may write to. The growth while a program is constructed is
/// its data: the address space is reserved then, and touched when the program runs.
std::uint64_t address_space();

struct memory_need {
  std::uint64_t data = 0, verifying = 0;
  std::uint64_t all() const noexcept { return data + verifying; }
};

/// Throws kith::error if less memory is left than the program needs. The error says how much it needs, and
/// how to record it without running it. `words` are its parameters.
void refuse_what_does_not_fit(const std::string& app, const std::vector<std::string>& words, const memory_need&);

}  // namespace kith::tools
