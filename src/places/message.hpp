// What places send each other: a header of 64 bytes, then arguments, a result or a failure.
//
// Numbers have the byte order of the machine; all places run the same program. decode() checks everything that reading
// a message relies on, so that no byte outside it is read. The objects that a message names (an offer, a result, a
// finish) are checked where they are looked up.
#pragma once

#include <kith/options.hpp>
#include <kith/places.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::distributed {

enum class message_kind : std::uint16_t {
  spawn = 1,  // here is an activity; answered by `accepted` or `refused`
  accepted,   // the activity of this sequence number is in the buffer
  refused,    // ... is not: the sender offers it again
  result,     // what an activity returned, or why it failed
  credit,     // nothing but credits
  done,       // nothing of this finish is left at the sender (docs/finish.md)
  // Between processes (control.hpp); not counted.
  run_ended,   // at place 0, perhaps by a failure
  job_ended,   // place 0 starts no further run
  ask_counts,  // answered by `counts`
  counts,
  reset_counts,  // answered by `counts_reset`
  counts_reset,
  ask_clock,  // answered by `clock`, with the time (place_records.hpp)
  clock,
  // Collectives where losses are survived (collective_hub.hpp); not counted.
  contribution,  // a place's data, to place 0
  combined,      // the result or the failure, from place 0
};
constexpr bool is_control(message_kind k) noexcept { return k > message_kind::done; }

/// A finish: its home, the place that waits, and its number there.
struct finish_id {
  std::uint32_t home = 0;
  std::uint64_t number = 0;
  auto operator<=>(const finish_id&) const = default;
};

struct message_header {
  static constexpr std::uint32_t current = 0x6b740001;  // "kt", version 1

  std::uint32_t version = current;
  message_kind kind = message_kind::spawn;
  std::uint16_t flags = 0;
  std::uint32_t from = 0;
  std::uint32_t function = 0;       // of an activity; of a contribution: the operation and the type
  std::uint64_t sequence = 0;       // of a spawn, chosen by its sender
  std::uint64_t finish_number = 0;  // of a spawn and of `done`; of a contribution: its elements
  std::uint64_t result = 0;         // of a spawn whose result is wanted, and of that result; 0: none
  std::uint64_t payload = 0;        // bytes after the header
  std::uint32_t finish_home = 0;    // of a contribution: the root
  std::uint32_t credits = 0;        // the receiver's credits at the sender that this message returns
  std::uint64_t task = 0;           // the sending task of a spawn or a result, as recordings name it; 0: none

  // flags
  static constexpr std::uint16_t forced = 1;      // a spawn that must be accepted
  static constexpr std::uint16_t engaged = 2;     // `accepted`: a `done` will follow
  static constexpr std::uint16_t failed = 4;      // `result`, `done`, `run_ended`, `combined`: the payload is a failure
  static constexpr std::uint16_t idempotent = 8;  // a spawn whose sender counts only the result (P6)
  static constexpr std::uint16_t all_flags = forced | engaged | failed | idempotent;

  finish_id finish() const noexcept { return {finish_home, finish_number}; }
  bool has(std::uint16_t flag) const noexcept { return (flags & flag) != 0; }
};
static_assert(sizeof(message_header) == detail::header_bytes && detail::header_bytes % detail::message_alignment == 0);

/// Writes the header over the first bytes, with the size of the rest.
void seal(detail::byte_buffer& message, message_header h);
/// Writes the header over the first bytes, with the size of the rest and of the outer parts.
void seal(detail::packed_arguments& message, message_header h);
detail::byte_buffer sealed(const message_header& h);

/// The header of a message. Throws kith::error of kind `input` for a message that is truncated, has another version or
/// an unknown kind, flag or function, or names a place that does not exist.
message_header decode(std::span<const std::byte> message, std::uint32_t places, std::uint32_t functions);
inline std::span<const std::byte> payload_of(std::span<const std::byte> message) {
  return message.subspan(detail::header_bytes);
}

/// Why an activity failed, and where.
struct failure {
  std::uint32_t place = 0;
  std::string what;
  bool cancelled = false;  // the consequence of another failure, which takes precedence
  bool lost = false;       // the place itself was lost
};
/// A message with this failure as its payload.
detail::byte_buffer sealed(message_header h, const failure& why);
failure read_failure(std::span<const std::byte> payload);

// ---- functions (detail::remote_function)

/// Numbers the functions at the first call, and returns how many there are.
std::uint32_t number_functions();
/// Throws kith::error if the function has no number. The text names a spawn at `place`.
void expect_numbered(const detail::remote_function& f, int place);
/// REQUIRES: 1 <= number <= number_functions().
const detail::remote_function& function_of(std::uint32_t number);
/// The type of the tasks that run the function. REQUIRES: it has a number.
name task_name_of(const detail::remote_function& f);

}  // namespace kith::distributed
