#include "openmp/kmpc/source_location.hpp"

#include <cstddef>

namespace kith::openmp::kmpc {

std::optional<source_location> source_location_of(const location* at) noexcept {
  if (at == nullptr || at->text == nullptr) return {};
  std::string_view rest = at->text;  // ;file;function;line;column;;
  std::string_view parts[4];
  for (std::string_view& part : parts) {
    const std::size_t end = rest.find(';');
    if (end == rest.npos) return {};
    part = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  if (parts[2].empty() || parts[2] == "unknown") return {};
  return source_location{parts[1], parts[2], parts[3]};
}

}  // namespace kith::openmp::kmpc
