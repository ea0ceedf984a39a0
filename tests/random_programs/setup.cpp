#include "setup.hpp"

#include "support/matrix.hpp"

#include <sstream>

namespace kith::random_programs {

namespace {

std::vector<std::string> policies() {
  std::vector<std::string> all = test::policies_and_variants();
  for (const char* more : {"auto:order=created", "numa:order=created", "dep+pm", "rip-mw:window=4,queue=node",
                           "rip-dep:window=5,queue=node"})
    all.emplace_back(more);
  return all;
}

/// An entry that occurs twice is drawn twice as often.
constexpr const char* machines[] = {
    "", "", "node:2 core:3", "node:3 core:2", "node:6 core:1", "node:1 core:6", "node:8 core:10"};
constexpr int workers[] = {1, 1, 2, 2, 3, 5};
constexpr int throttles[] = {2048, 2048, 0, 1, 2, 3, 8, 64};

runtime_options drawn_options(dice& choose, word seed) {
  static const std::vector<std::string> all_policies = policies();
  runtime_options o;
  o.policy = choose.of(all_policies);
  o.machine = choose.of(machines);
  o.workers = choose.of(workers);
  o.oversubscribe = true;
  o.throttle = choose.of(throttles);
  o.throttle_bytes = choose.one_in(6) ? 64 : 0;
  o.inline_limit = choose.one_in(2) ? choose.below(4) - 1 : 0;
  o.spin = choose.one_in(3) ? choose.below(3) : 200;
  if (choose.one_in(6) && o.policy != "dep+pm") o.migrate = true;  // that policy includes it
  if (choose.one_in(3)) o.stack_bytes = 1 << 20;
  o.check_handles = false;
  o.seed = seed + 1;
  return o;
}

}  // namespace

setup::setup(word s, kind k) : seed(s) {
  dice choose(s);
  options = drawn_options(choose, s);
  if (k == kind::few_stacks) options.stacks = 1 + choose.below(5);
  size.depth = 2 + choose.below(3);
  size.actions = 4 + choose.below(8);
  size.repeatable = k == kind::repeatable;
  roots = 1 + choose.below(2);
  outsiders = !size.repeatable && choose.one_in(3) ? 1 + choose.below(2) : 0;
}

std::string setup::text() const {
  std::ostringstream out;
  out << *options.policy << " on " << *options.workers << " workers of '" << *options.machine << "', throttle "
      << *options.throttle << " and " << *options.throttle_bytes << " bytes, inline " << *options.inline_limit
      << ", spin " << *options.spin << ", stacks " << options.stacks.value_or(-1) << " of "
      << options.stack_bytes.value_or(0) << " bytes, migrate " << options.migrate.value_or(false) << ", depth "
      << size.depth << ", actions " << size.actions << ", roots " << roots << ", outside threads " << outsiders;
  return out.str();
}

}  // namespace kith::random_programs
