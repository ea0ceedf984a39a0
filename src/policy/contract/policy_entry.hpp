// A policy's description, known without building it. `kith policies`, completion and the documents use it.
#pragma once

#include "policy/contract/policy_option.hpp"

#include <span>

namespace kith {

class explainer;

struct policy_entry {
  const char* name;
  const char* paper = "";    // NabbitC, MIR, RIP, ADS, HW (token and reference scheduling)
  const char* section = "";  // of the paper
  const char* summary = "";  // one line
  std::span<const policy_option> options;
  bool priorities = true;  // honours task priorities
  /// Says why a task of a recorded run ran where it did; null: only `summary` is printed.
  void (*explain)(explainer&) = nullptr;

  /// Whether one of the options is a file_name().
  constexpr bool needs_file() const noexcept {
    for (const policy_option& o : options) {
      if (o.is_text && !o.is_last) return true;
    }
    return false;
  }
};

}  // namespace kith
