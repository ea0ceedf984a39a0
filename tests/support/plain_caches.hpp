// Coherent caches, plain and slow: each core has a state for each line, and asks all others.
#pragma once

#include "engine/sim/line_caches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace kith::test {

class plain_caches {
 public:
  using state = sim::line_caches::line_state;
  using source = sim::line_caches::found_in;
  using outcome = sim::line_caches::outcome;

  plain_caches(std::size_t cores, sim::cache_shape first, sim::cache_shape second)
      : first_(first), second_(second), cores_(cores) {
    for (core& c : cores_) {
      c.first.resize(first.sets);
      c.second.resize(second.sets);
    }
  }

  outcome access(std::size_t who, std::uint32_t line, bool writes) {
    outcome o;
    core& c = cores_[who];
    const bool had = state_of(who, line) != state::invalid;
    o.asked = !had || (writes && (c.states[line] == state::shared || c.states[line] == state::owned));
    const bool near = used(c.first[line % first_.sets], line);
    if (near) {
      o.from = source::first;
    } else if (used(c.second[line % second_.sets], line)) {
      o.from = source::second;
    } else {
      o.from = source::memory;
      for (std::size_t other = 0; other < cores_.size(); ++other) {
        const state s = state_of(other, line);
        if (s != state::modified && s != state::owned && s != state::exclusive) continue;
        o.from = source::other_core;
        o.supplier = static_cast<std::int16_t>(other);
      }
    }
    bool alone = true;
    for (std::size_t other = 0; other < cores_.size(); ++other) {
      if (other == who || state_of(other, line) == state::invalid) continue;
      alone = false;
      if (writes) {
        o.invalidated.add(other);
        cores_[other].first[line % first_.sets].remove(line);
        cores_[other].second[line % second_.sets].remove(line);
        cores_[other].states.erase(line);
      } else if (!had) {
        state& s = cores_[other].states[line];
        if (s == state::modified) s = state::owned;
        if (s == state::exclusive) s = state::shared;
      }
    }
    if (writes) {
      c.states[line] = state::modified;
    } else if (!had) {
      c.states[line] = alone ? state::exclusive : state::shared;
    }
    if (!had) {
      std::list<std::uint32_t>& set = c.second[line % second_.sets];
      set.push_front(line);
      if (set.size() > second_.ways) {
        const std::uint32_t lost = set.back();
        set.pop_back();
        c.first[lost % first_.sets].remove(lost);
        if (c.states[lost] == state::modified || c.states[lost] == state::owned) o.written_back = lost;
        c.states.erase(lost);
      }
    }
    if (!near) {
      std::list<std::uint32_t>& set = c.first[line % first_.sets];
      set.push_front(line);
      if (set.size() > first_.ways) set.pop_back();
    }
    return o;
  }

  /// A core that owned a line and is its only holder has modified it, so it writes again without messages. For equal
  /// results of both models, an owner without other holders counts as having modified the line.
  state state_of(std::size_t who, std::uint32_t line) const {
    const auto at = cores_[who].states.find(line);
    if (at == cores_[who].states.end()) return state::invalid;
    if (at->second != state::owned) return at->second;
    for (std::size_t other = 0; other < cores_.size(); ++other) {
      if (other != who && cores_[other].states.contains(line)) return state::owned;
    }
    return state::modified;
  }
  bool in_first(std::size_t who, std::uint32_t line) const {
    return std::ranges::count(cores_[who].first[line % first_.sets], line) != 0;
  }
  bool in_second(std::size_t who, std::uint32_t line) const {
    return std::ranges::count(cores_[who].second[line % second_.sets], line) != 0;
  }

 private:
  struct core {
    std::vector<std::list<std::uint32_t>> first, second;  // by set, the last used first
    std::map<std::uint32_t, state> states;
  };
  static bool used(std::list<std::uint32_t>& set, std::uint32_t line) {
    const auto at = std::ranges::find(set, line);
    if (at == set.end()) return false;
    set.splice(set.begin(), set, at);
    return true;
  }

  sim::cache_shape first_, second_;
  std::vector<core> cores_;
};

}  // namespace kith::test
