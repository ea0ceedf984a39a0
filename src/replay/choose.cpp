#include "replay/choose.hpp"

#include "base/nearest.hpp"
#include "queue/native/world.hpp"
#include "queue/sequential/world.hpp"
#include "replay/gate.hpp"
#include "replay/recorded_order.hpp"
#include "replay/replay.hpp"

#include <kith/error.hpp>

namespace kith {

static_assert(gate_worker<native::world::worker> && gate_worker<sequential::world::worker>);

std::vector<policy_entry> choosable_policies() {
  std::vector<policy_entry> all = policy_list();
  all.push_back(replay<native::world>::about);
  return all;
}

void check_policy(const std::string& text) {
  std::vector<std::string> names;
  for (const policy_entry& p : choosable_policies()) {
    names.emplace_back(p.name);
    if (policy_name(text) == names.back()) {
      static_cast<void>(policy_options(text, p.options));
      return;
    }
  }
  throw error(no_such("policy", policy_name(text), names), error_kind::setting);
}

template <class World>
chosen_policy<World> choose_policy(const std::string& text, const policy_context& context) {
  if (policy_name(text) == replay<World>::about.name) {
    const policy_options given(text, replay<World>::options);
    std::unique_ptr<kith::gate<World>> made;
    if (const std::string behind = given.text("policy"); behind.empty()) {
      made = std::make_unique<replay<World>>(context, given);
    } else {
      if (!given.is("order", "auto")) given.refuse("order", "nothing: with policy=" + behind + " there is one order");
      made = std::make_unique<recorded_order<World>>(context, schedule_in(given.text("file")),
                                                     make_policy<World>(behind, context));
    }
    kith::gate<World>* const gate = made.get();
    return {std::move(made), gate};
  }
  check_policy(text);
  return {make_policy<World>(text, context)};
}

template chosen_policy<native::world> choose_policy<native::world>(const std::string&, const policy_context&);
template chosen_policy<sequential::world> choose_policy<sequential::world>(const std::string&, const policy_context&);

}  // namespace kith
