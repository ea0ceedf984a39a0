#include "policy/list.hpp"

#include "queue/native/world.hpp"
#include "queue/plain/world.hpp"

#include <vector>

namespace kith {

std::span<const policy_entry> policy_list() {
  static const std::vector<policy_entry> entries = [] {
    std::vector<policy_entry> all;
    for (const auto& p : policies<native::world>) all.push_back(p.about);
    return all;
  }();
  return entries;
}

template std::unique_ptr<policy<native::world>> make_policy<native::world>(const std::string&, const surroundings&);
template std::unique_ptr<policy<plain::world>> make_policy<plain::world>(const std::string&, const surroundings&);

}  // namespace kith
