// The entries of a list that a verb is given by name, as in `kith policies NAME...` and `kith apps NAME...`.
#pragma once

#include "base/nearest.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::tools {

/// The names of all entries. `name` is the member that has it; entries may be pointers.
template <class Entry, class Name>
std::vector<std::string> names_of(const std::vector<Entry>& all, Name name) {
  std::vector<std::string> names;
  for (const Entry& e : all) names.emplace_back(std::invoke(name, e));
  return names;
}

/// The entries of these names, in their order; all, if there are none. Throws kith::error, which calls an entry a
/// `kind`, for a name that is not there.
template <class Entry, class Name>
std::vector<Entry> chosen(const char* kind, const std::vector<Entry>& all, Name name,
                          const std::vector<std::string>& wanted) {
  if (wanted.empty()) return all;
  std::vector<Entry> some;
  for (const std::string& w : wanted) {
    const auto found = std::ranges::find(all, std::string_view(w), name);
    if (found == all.end()) throw error(no_such(kind, w, names_of(all, name)));
    some.push_back(*found);
  }
  return some;
}

}  // namespace kith::tools
