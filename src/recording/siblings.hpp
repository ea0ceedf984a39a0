// Derives dependences from accesses after a run, by the rules that the task layer applies while tasks run.
//
// The task layer leaves out an edge to a task that has ended, so a log cannot hold the edges. They are derived
// again here by the same rules (task/sibling_rules.hpp), in the same order and with the same fences, so that a
// replay releases tasks as the run did.
#pragma once

#include "base/address.hpp"
#include "task/address_map.hpp"
#include "task/sibling_rules.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kith {

/// The siblings of one scope, from the time it was empty.
class siblings {
 public:
  enum class answer : std::uint8_t {
    taken,
    refused,  // it overlaps another range in part, an error in the run; the task declared no more
  };
  /// Must be called for the accesses of `task` in their order. `handle`: the range has a name of its own and is
  /// not ordered with other names. Calls before(task, bytes) for each dependence. fence(members) must make a
  /// task that ends after all of the members, and return it.
  template <class Before, class Fence>
  answer access(std::int32_t task, std::uint64_t address, std::uint64_t bytes, mode how, bool handle, Before&& before,
                Fence&& fence) {
    collector<Before> rules{*this, task, bytes, before};
    const auto make_fence = [&](const auto& for_each) {
      members_.clear();
      for_each([&](reference r) { members_.push_back(number_of(r.packed().value)); });
      return reference::from({name_of(fence(members_))});
    };
    nested_range* nested = nullptr;
    detail::tracker* k = nullptr;
    try {
      k = handle ? &handles_[address]
                 : &ranges_.find({at_address(address), bytes, nullptr, how}, 0, [&](nested_range& r) { nested = &r; });
    } catch (const error&) {
      return answer::refused;
    }
    if (nested != nullptr) rules.meet(ranges_, *nested, how, make_fence);
    rules.access(*k, how, make_fence);
    return answer::taken;
  }

 private:
  static constexpr std::uint32_t low_bits = (std::uint32_t{1} << slot_index_bits) - 1;
  /// A task's number as a name for the rules: not 0, and without the bits that the rules reserve.
  static std::uint64_t name_of(std::int32_t task) noexcept {
    const std::uint64_t n = static_cast<std::uint64_t>(task) + 1;
    return (n & low_bits) | n >> slot_index_bits << 32;
  }
  static std::int32_t number_of(std::uint64_t name) noexcept {
    return static_cast<std::int32_t>(((name & low_bits) | name >> 32 << slot_index_bits) - 1);
  }

  template <class Before>
  class collector : public sibling_rules<collector<Before>> {
   public:
    collector(siblings& s, std::int32_t task, std::uint64_t bytes, Before& before)
        : sibling_rules<collector<Before>>(name_of(task)), in_(s), bytes_(bytes), before_(before) {}

   private:
    friend sibling_rules<collector<Before>>;
    void after(std::uint64_t task, std::uint64_t bytes) {
      if (task != 0 && task != this->me()) before_(number_of(task), std::min(bytes, bytes_));
    }
    void adopt(const collector&) const noexcept {}
    member_block& block_at(std::uint32_t b) const noexcept { return in_.blocks_[b - 1]; }
    std::uint32_t take_block() {
      if (in_.free_.empty()) {
        in_.blocks_.emplace_back();
        return static_cast<std::uint32_t>(in_.blocks_.size());
      }
      const std::uint32_t b = in_.free_.back();
      in_.free_.pop_back();
      return b;
    }
    void give_block(std::uint32_t b) { in_.free_.push_back(b); }
    void keep_members(const member_block&) const noexcept {}  // all of them

    siblings& in_;
    std::uint64_t bytes_;
    Before& before_;
  };

  address_map ranges_{4};
  std::unordered_map<std::uint64_t, detail::tracker> handles_;  // by address
  std::vector<member_block> blocks_;
  std::vector<std::uint32_t> free_;
  std::vector<std::int32_t> members_;
};

}  // namespace kith
