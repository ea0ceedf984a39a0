// Whether a program fits into memory, before it runs. For `kith app`.
#pragma once

#include "apps/app.hpp"

#include <cstdint>
#include <string>

namespace kith::tools {

/// Bytes of address space that this process may write to. What it grows by while a program is made are its data: they are
/// reserved then, and touched when it runs.
std::uint64_t address_space();

struct memory_need {
  std::uint64_t data = 0, verifying = 0;
  std::uint64_t all() const noexcept { return data + verifying; }
};

/// Throws kith::error if less is left than is needed: how much that is, and how to record the program without running it.
/// `words` are its parameters.
void refuse_what_does_not_fit(const std::string& app, const std::vector<std::string>& words, const memory_need&);

}  // namespace kith::tools
