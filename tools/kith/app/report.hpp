// The result of a run of a program, as JSON and as text. For `kith app`.
#pragma once

#include "apps/places_app.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::tools {

/// The part of the report that only programs on places have.
struct places_report {
  std::string as, transport;
  int places = 0;
  int depth = 0;                            // 0: not known
  std::vector<place_statistics> per_place;  // one entry for all under cws; none under custom, which counts nothing
};

struct app_report {
  std::string app, policy, machine;
  int workers = 0;
  std::uint64_t memory_bytes = 0;  // the program's need, verification included
  apps::result result;
  std::optional<places_report> on_places = {};
};

std::string to_json(const app_report&);
std::string to_text(const app_report&);
/// Says on stderr if there are fewer workers than were asked for. `where`: text after their number.
void tell_workers(int workers, int asked, const char* where = "");

}  // namespace kith::tools
