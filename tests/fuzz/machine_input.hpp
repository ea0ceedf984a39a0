// Reads a fuzzer's input as the description of a machine, and uses the machine if it can be read.
#pragma once

#include "engine/sim/links.hpp"
#include "fuzz/sample_recording.hpp"
#include "machine/model.hpp"

#include <kith/error.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace kith::test {

/// True if it could be read.
inline bool use_machine(std::span<const std::uint8_t> bytes) {
  try {
    const machine_model m = model_from_text({bytes.begin(), bytes.end()}, "machine.toml");
    to_json(m.hardware);
    if (m.hardware.nodes.size() > 256) return true;
    const sim::interconnect links(m);
    if (m.hardware.cores.size() <= 16) sample_recording::make(m, false);
    return true;
  } catch (const error&) {
    return false;
  }
}

}  // namespace kith::test
