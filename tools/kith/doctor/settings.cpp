// The Kith variables that are set in the environment, and the variables that misspelt ones may mean.
#include "doctor/checks.hpp"

#include "base/environment.hpp"
#include "machine/model.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace kith::tools {

finding check_settings() {
  finding f{.key = "settings"};
  std::vector<std::string> set, wrong;
  nlohmann::json values = nlohmann::json::object(), meant = nlohmann::json::object();
  for (const variable* v : var::all) {
    const std::optional<std::string> value = value_of(*v);
    if (!value) continue;
    set.push_back(fmt::format("{}={}", v->name, *value));
    values[v->name] = *value;
  }
  for (const misspelt& m : misspelt_variables()) {
    wrong.push_back(fmt::format("{} (is {} meant?)", m.name, m.meant->name));
    meant[m.name] = m.meant->name;
  }
  f.details = {{"set", values}, {"misspelt", meant}};
  f.fact = set.empty() ? "no variable of Kith is set" : fmt::format("{}", fmt::join(set, " "));
  f.effect = "`kith doctor --settings` lists all of them, with their defaults";
  if (!wrong.empty()) {
    f.is = verdict::limited;
    f.fact += fmt::format("; not known: {}", fmt::join(wrong, ", "));
    f.effect = "what is not known has no effect";
    f.advice = "correct the name";
  }
  try {
    model_names_or_throw();
  } catch (const error& e) {
    f.is = verdict::broken;
    f.fact += fmt::format("; {}", e.what());
    f.effect = wrong.empty() ? "no machine can be named" : f.effect + "; no machine can be named";
    f.advice = wrong.empty() ? "correct the setting" : "correct the name and the setting";
  }
  return f;
}

}  // namespace kith::tools
