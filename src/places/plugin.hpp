// Transports that are loaded when a program starts: one shared library for each MPI, because no program can be linked
// to two. A plug-in defines kith_make_transport, and uses nothing of the library but headers.
#pragma once

#include "places/transport.hpp"

#include <cstdint>

namespace kith::distributed {

/// What all processes of a job must agree on, and what a transport needs to know.
struct join_options {
  static constexpr std::uint32_t current = 6;

  std::uint32_t version = current;
  std::uint64_t program = 0;     // a hash of the executable and of its functions: the same in all processes
  double silence_seconds = 4;    // after this time without a message a place on another machine is lost; 0: never
  bool spins = true;             // there is a core for the progress thread
  bool survives_losses = false;  // the others go on when a place other than 0 is lost
};

/// Joins the places that were started together with this process. All processes call it, the same number of times.
/// Throws std::runtime_error, whose text says what is wrong. The caller destroys the transport after its endpoint has
/// left, or after a refusal (transport::agree). Not thread-safe; one thread at a time uses the endpoint.
using make_transport_function = transport*(const join_options&);

}  // namespace kith::distributed

extern "C" kith::distributed::make_transport_function kith_make_transport;
