// Distributions as text: for options and messages.
#include <kith/error.hpp>
#include <kith/memory.hpp>

#include <array>
#include <charconv>

namespace kith {

namespace {

constexpr std::string_view node_prefix = "node:";
constexpr std::string_view huge_suffix = ",huge";
// In the order of distribution::kind.
constexpr std::array<std::string_view, 8> names{"standard", "system", "fine",  "coarse",
                                                "local",    "block",  "node:", "deferred"};

}  // namespace

distribution distribution::parse(std::string_view text) {
  const auto refuse = [&]() -> error {
    return error("memory '" + std::string(text) +
                     "': expected system, fine, coarse, local, block, node:N or deferred; with ',huge' in huge pages",
                 error_kind::setting);
  };
  std::string_view name = text;
  const bool huge = name.ends_with(huge_suffix);
  if (huge) name.remove_suffix(huge_suffix.size());
  const auto finished = [&](distribution d) { return huge ? d.in_huge_pages() : d; };
  if (name.starts_with(node_prefix)) {
    int n = -1;
    const char* const end = name.data() + name.size();
    const auto [stopped, failed] = std::from_chars(name.data() + node_prefix.size(), end, n);
    if (failed != std::errc() || stopped != end || n < 0) throw refuse();
    return finished(node{n});
  }
  for (std::size_t k = 1; k < names.size(); ++k) {
    if (name == names[k] && k != at_node) return finished(static_cast<kind>(k));
  }
  throw refuse();
}

std::string distribution::text() const {
  std::string t(names[kind_]);
  if (kind_ == at_node) t += std::to_string(node_);
  return huge_ ? t + std::string(huge_suffix) : t;
}

}  // namespace kith
