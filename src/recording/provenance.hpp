// The origin of a recording. For the engine that makes one.
#pragma once

#include <map>
#include <string>

namespace kith {

/// The members of a recording's `meta` about its origin: `host`, `date` (the present time, UTC, as
/// 2026-01-31T12:00:00Z), `command` (of this process, as a shell takes it, with control characters as escapes, at most
/// 2000 bytes) and `library` (Kith's version). What the system does not tell is left out.
std::map<std::string, std::string> provenance();

}  // namespace kith
