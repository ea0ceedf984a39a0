// The messages of a job in one recording, and the waits that their results have ended. For merge.cpp.
#pragma once

#include "recording/part_numbers.hpp"
#include "recording/place_links.hpp"
#include "recording/place_part.hpp"
#include "recording/time_corrections.hpp"

#include <span>

namespace kith {

/// Adds all messages, sorted by the times of sending. Nothing is received before it was sent. REQUIRES: `out` has the
/// tasks, and no messages.
void add_messages(std::span<const place_part>, std::span<const part_numbers>, std::span<const message_link>,
                  recording& out, time_corrections&);

/// A wait for a future ends when its result arrives. Names as the result the last one that arrived during the wait.
/// REQUIRES: `out` has the messages, and the waits of all parts.
void name_awaited_results(recording& out);

}  // namespace kith
