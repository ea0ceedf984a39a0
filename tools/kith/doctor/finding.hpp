// A finding of `kith doctor`: one fact about this machine or this process, and its consequences. Used only by the
// doctor's files.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace kith::tools {

/// note: worth knowing, but there is nothing to gain. limited: the machine could do more than this process may.
enum class verdict { fine, note, limited, broken };

struct finding {
  std::string key;  // for scripts: "affinity", "cpu_quota", ...
  verdict is = verdict::fine;
  std::string fact = {};                              // what was found
  std::string effect = {};                            // Kith's response to it, and why
  std::string advice = {};                            // a remedy; empty: none
  nlohmann::json details = nlohmann::json::object();  // the numbers, for scripts
};

}  // namespace kith::tools
