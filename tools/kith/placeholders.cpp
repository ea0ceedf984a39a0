#include "placeholders.hpp"

#include "apps/list.hpp"
#include "machine/model.hpp"
#include "paper/reproduction.hpp"
#include "replay/choose.hpp"
#include "verbs.hpp"

namespace kith::tools {

std::vector<std::string> app_names() {
  std::vector<std::string> names;
  for (const apps::entry* e : apps::app_descriptions()) names.emplace_back(e->name);
  return names;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const policy_entry& p : choosable_policies()) names.emplace_back(p.name);
  return names;
}

std::vector<std::string> machine_names() { return model_names(); }

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const reproduction& r : reproductions()) names.emplace_back(r.id);
  return names;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const verb& v : verbs) names.emplace_back(v.name);
  return names;
}

}  // namespace kith::tools
