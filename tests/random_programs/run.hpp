// Runs a random program as the model and on a runtime, and compares.
#pragma once

#include "setup.hpp"

#include <functional>
#include <string>

namespace kith::random_programs {

/// Runs the bodies one after the other. A run is compared with the result.
class model {
 public:
  explicit model(const setup& s);
  const world& of() const noexcept { return world_; }

 private:
  world world_;
  findings found_;
};

/// Runs the program on a runtime with these options, which differ from the setup's if the run is recorded
/// or replayed. Returns the recording's file, if there is one.
std::string run_and_compare(const setup& s, const runtime_options& o, const model& expected, findings& found);

/// Runs the program as one domain of exceptions, which has no model.
void run_failing(const setup& s, findings& found);

}  // namespace kith::random_programs
