#include "machine/bind_mode.hpp"

#include "base/environment.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace kith {

namespace {

// In the order of bind_mode.
constexpr std::array<std::string_view, 5> mode_names{"auto", "cores", "caches", "nodes", "off"};

}  // namespace

bind_mode bind_setting(const std::optional<std::string>& option) {
  const std::string text = option ? *option : value_of(var::bind).value_or(var::bind.standard);
  const auto found = std::ranges::find(mode_names, text);
  if (found == mode_names.end())
    throw error(
        (option ? "bind = '" + text + "'" : "KITH_BIND=" + text) + ": expected cores, caches, nodes, off or auto",
        error_kind::setting);
  return static_cast<bind_mode>(std::distance(mode_names.begin(), found));
}

const char* name_of(bind_mode m) noexcept { return mode_names[static_cast<std::size_t>(m)].data(); }

}  // namespace kith
