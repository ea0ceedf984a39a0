// kith doctor RECORDING: findings about the program from a recorded run.
#pragma once

#include "doctor/finding.hpp"

#include "analysis/granularity.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace kith::tools {

struct examination_of_run {
  analysis::granularity granularity;
  std::vector<finding> findings;

  bool is_limited() const;
};

/// Throws kith::error if the file is no recording, or a dry one.
examination_of_run examine_run(const std::string& file);

nlohmann::ordered_json to_json(const examination_of_run&);

}  // namespace kith::tools
