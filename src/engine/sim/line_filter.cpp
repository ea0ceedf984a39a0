#include "engine/sim/line_filter.hpp"

#include <kith/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kith::sim {

namespace {

std::uint32_t in_whole(std::uint32_t lines, std::uint32_t sets) { return (lines + sets - 1) / sets * sets; }

/// A first level that is empty when a task begins.
class cold_level {
 public:
  explicit cold_level(cache_shape s) : lines_(s) {}

  void begin() noexcept { lines_.clear(); }
  /// A write hits only if the task has written the line since it was loaded; else the directory is asked.
  bool hits(const line_touches& row) noexcept {
    const std::uint32_t line = row.line;
    if (std::uint32_t* const e = lines_.use(line)) {
      if (row.writes == 0 || (*e & cache_level::marked) != 0) return true;
      *e |= cache_level::marked;
      return false;
    }
    lines_.insert(line << 1 | (row.writes != 0 ? cache_level::marked : 0));
    return false;
  }

 private:
  cache_level lines_;
};

}  // namespace

line_streams filtered(line_streams all, cache_shape first) {
  if (all.first.empty()) return all;
  const std::uint32_t stack = all.stacks.front().size;
  if (stack % first.sets != 0)
    throw error("--l1-filter: a way of the first level has " + std::to_string(first.sets) +
                    " lines, more than the program's stacks (" + std::to_string(stack) +
                    "), so a line's set depends on what ran before; leave the filter out",
                error_kind::setting);
  all.own = in_whole(all.own, first.sets);
  for (std::uint32_t& depth : all.stack_depth) depth = in_whole(depth, first.sets);

  constexpr std::uint64_t most_count = std::numeric_limits<std::uint32_t>::max();
  cold_level level(first);
  std::size_t kept = 0, begin = 0;
  for (std::size_t t = 0; t + 1 < all.first.size(); ++t) {
    level.begin();
    const std::size_t end = all.first[t + 1], task = kept;
    for (std::size_t i = begin; i < end; ++i) {
      const line_touches row = all.rows[i];
      const bool hit = level.hits(row);
      if (hit && kept != task && std::uint64_t{all.rows[kept - 1].count} + row.count <= most_count) {
        all.rows[kept - 1].count += row.count;
      } else {
        all.rows[kept++] = row;
      }
    }
    begin = end;
    all.first[t + 1] = kept;
  }
  all.rows.resize(kept);
  all.rows.shrink_to_fit();
  return all;
}

line_streams filtered_on(line_streams all, const machine_model& m) {
  if (!m.line.present || m.line.homes)
    throw error("--l1-filter: " + m.hardware.name + (m.line.homes ? " has home caches" : " has no table [line]") +
                    "; expected a machine with private caches and a directory, as cmp-32",
                error_kind::setting);
  return filtered(std::move(all),
                  {static_cast<std::uint32_t>(m.line.first.bytes / m.line.first.ways / line_bytes), m.line.first.ways});
}

}  // namespace kith::sim
