// All results of `kith doctor`: the machine, the plan for the workers, and the findings.
#pragma once

#include "doctor/finding.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"

namespace kith::tools {

struct examination {
  machine here;
  worker_plan plan;
  std::vector<finding> findings;

  verdict worst() const;
  std::size_t count(verdict v) const;
};

/// Makes every check once. Throws kith::error for a wrong setting in the environment.
examination examine();

nlohmann::ordered_json to_json(const examination&);
nlohmann::ordered_json to_json(const std::vector<finding>&);

}  // namespace kith::tools
