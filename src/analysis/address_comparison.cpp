#include "analysis/address_comparison.hpp"

#include "analysis/addresses.hpp"
#include "base/printable.hpp"
#include "base/rng.hpp"
#include "replay/schedule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::analysis {

namespace {

/// One run's tasks and blocks by names that both runs have.
class run {
 public:
  explicit run(const recording& r) : r_(r), streams_(r), open_(r.sites.size()), identities_(identities_of(r)) {
    for (const recorded_block& b : r.blocks) names_.push_back(name_of(b));
    for (std::size_t t = 0; t < identities_.size(); ++t) {
      if (!r.tasks[t].has(recorded_task::fence)) by_identity_.emplace(identities_[t], t);
    }
  }

  std::uint64_t identity(std::size_t task) const { return identities_[task]; }
  std::optional<std::size_t> find(std::uint64_t identity) const {
    const auto at = by_identity_.find(identity);
    if (at == by_identity_.end()) return std::nullopt;
    return at->second;
  }

  struct piece {
    byte_ranges read, written;
    const recorded_block* block = nullptr;
    std::uint32_t site = 0;  // of one of the touches
  };
  using pieces = std::map<std::uint64_t, piece>;  // by the block's name

  pieces touched(std::size_t task) {
    pieces all;
    std::vector<std::uint32_t> used;  // sites that have an open range
    streams_.read(task, [&](const touch& x) {
      if (x.site->own) return;
      const auto site = static_cast<std::uint32_t>(x.site - r_.sites.data());
      open_range& o = open_[site];
      if (o.block == x.block && x.offset >= o.begin && x.offset <= o.end) {
        o.end = std::max(o.end, x.offset + x.bytes);
        return;
      }
      const std::uint64_t name = names_[static_cast<std::size_t>(x.block - r_.blocks.data())];
      if (name == 0) return;
      if (o.block == nullptr) used.push_back(site);
      close(o, all, site);
      o = {x.block, x.offset, x.offset + x.bytes};
    });
    for (const std::uint32_t site : used) {
      close(open_[site], all, site);
      open_[site] = {};
    }
    return all;
  }

 private:
  /// What a site has touched last, without a gap: most touches only extend it.
  struct open_range {
    const recorded_block* block = nullptr;
    std::uint64_t begin = 0, end = 0;
  };
  void close(const open_range& o, pieces& all, std::uint32_t site) {
    if (o.block == nullptr) return;
    const auto [at, fresh] = all.try_emplace(names_[static_cast<std::size_t>(o.block - r_.blocks.data())]);
    piece& p = at->second;
    if (fresh) {
      p.block = o.block;
      p.site = site;
    }
    const std::uint8_t mode = r_.sites[site].mode;
    if (mode != recorded_site::writes) p.read.add(o.begin, o.end);
    if (mode != recorded_site::reads) p.written.add(o.begin, o.end);
  }

  /// 0: the block has no name.
  std::uint64_t name_of(const recorded_block& b) const {
    const std::hash<std::string> text;
    switch (b.kind) {
      case recorded_block::heap:
      case recorded_block::allocated:
      case recorded_block::mapped: {
        if (b.own) return 0;
        const std::uint64_t owner = b.task < 0 ? 0 : identities_[static_cast<std::size_t>(b.task)];
        return mix(mix(mix(owner) ^ text(b.at)) + b.ordinal) | 1;
      }
      case recorded_block::variable:
      case recorded_block::global: return mix(text(b.name) ^ b.kind) | 1;
      default: return 0;
    }
  }

  const recording& r_;
  touch_reader streams_;
  std::vector<open_range> open_;  // by site; all empty between tasks
  std::vector<std::uint64_t> identities_, names_;
  std::unordered_map<std::uint64_t, std::size_t> by_identity_;
};

std::string described(const recording& r, const run::piece& p) {
  const recorded_block& b = *p.block;
  std::string text = b.name.empty() ? std::to_string(b.bytes) + " bytes" : "variable " + printable(b.name, 200);
  if (b.line != 0) text += " made at " + printable(b.file, 400) + ":" + std::to_string(b.line);
  return text + ", from " + printable(location_of(r.sites[p.site]), 400);
}

/// The difference between what one task touched in the two runs; empty: none.
std::string difference(const recording& a, run::pieces one, const recording& b, run::pieces other) {
  for (auto& [name, p] : one) {
    const auto at = other.find(name);
    if (at == other.end()) return "it touches " + described(a, p) + ", and not in the other run";
    if (p.read.tidy() != at->second.read.tidy()) return "it reads other bytes of " + described(a, p);
    if (p.written.tidy() != at->second.written.tidy()) return "it writes other bytes of " + described(a, p);
    other.erase(at);
  }
  if (!other.empty())
    return "in the other run it touches " + described(b, other.begin()->second) + ", and not in this one";
  return {};
}

}  // namespace

std::vector<address_difference> compare_addresses(const recording& one, const recording& other, std::size_t most) {
  std::vector<address_difference> found;
  run first(one), second(other);
  for (std::size_t t = 0; t < one.tasks.size() && found.size() < most; ++t) {
    if (one.tasks[t].has(recorded_task::fence)) continue;
    const std::optional<std::size_t> same = second.find(first.identity(t));
    std::string what = same ? difference(one, first.touched(t), other, second.touched(*same))
                            : std::string("the other run has no such task");
    if (!what.empty()) found.push_back({static_cast<std::int32_t>(t), std::move(what)});
  }
  for (std::size_t t = 0; t < other.tasks.size() && found.size() < most; ++t) {
    if (!other.tasks[t].has(recorded_task::fence) && !first.find(second.identity(t)))
      found.push_back({-1, "task " + std::to_string(t) + " of the other run is not in this one"});
  }
  return found;
}

}  // namespace kith::analysis
