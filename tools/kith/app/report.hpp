// The result of a run of a program, as JSON and as text. For `kith app`.
#pragma once

#include "apps/app.hpp"

#include <cstdint>
#include <string>

namespace kith::tools {

struct app_report {
  std::string app, policy, machine;
  int workers = 0;
  std::uint64_t memory_bytes = 0;  // that the program needs, verification included
  apps::result result;
};

std::string to_json(const app_report&);
std::string to_text(const app_report&);

}  // namespace kith::tools
