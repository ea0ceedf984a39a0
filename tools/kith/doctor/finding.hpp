// What `kith doctor` finds: one fact about this machine or this process, and what follows from it. Only the doctor's
// files use it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace kith::tools {

/// note: worth knowing, and nothing to gain. limited: the machine could do more than this process is allowed.
enum class verdict { fine, note, limited, broken };

struct finding {
  std::string key;  // for scripts: "affinity", "cpu_quota", ...
  verdict is = verdict::fine;
  std::string fact = {};                              // what was found
  std::string effect = {};                            // what Kith does because of it, and why
  std::string advice = {};                            // what to do about it; empty if there is nothing to do
  nlohmann::json details = nlohmann::json::object();  // the numbers, for scripts
};

}  // namespace kith::tools
