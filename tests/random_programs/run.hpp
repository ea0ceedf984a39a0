// Runs a random program as the model and on a runtime, and compares.
#pragma once

#include "setup.hpp"

#include <functional>
#include <string>

namespace kith::random_programs {

/// Its bodies one after the other: what a run is compared with.
class model {
 public:
  explicit model(const setup& s);
  const world& of() const noexcept { return world_; }

 private:
  world world_;
  findings found_;
};

/// The program on a runtime with these options, which are not the setup's own where it is recorded or replayed. Returns
/// the recording's file, if there is one.
std::string run_and_compare(const setup& s, const runtime_options& o, const model& expected, findings& found);

/// The program as one domain of exceptions, which has no model.
void run_failing(const setup& s, findings& found);

}  // namespace kith::random_programs
