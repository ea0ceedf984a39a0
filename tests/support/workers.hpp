// The options of a runtime for tests.
#pragma once

#include <kith/runtime.hpp>

#include <string>

namespace kith::test {

/// Options for this number of workers, however many cores there are. An empty policy or machine is that of
/// the environment.
inline runtime_options make_options(int workers, const std::string& policy = {}, const std::string& machine = {}) {
  runtime_options o;
  o.workers = workers;
  if (!policy.empty()) o.policy = policy;
  if (!machine.empty()) o.machine = machine;
  o.oversubscribe = true;
  return o;
}

/// Only the program's graph: task bodies are not run.
inline runtime_options make_dry_options(int workers, const std::string& policy) {
  runtime_options o = make_options(workers, policy);
  o.dry = true;
  return o;
}

}  // namespace kith::test
