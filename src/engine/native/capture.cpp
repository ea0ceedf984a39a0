#include "engine/native/capture.hpp"

#include "recording/siblings.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>
#include <utility>

namespace kith::native {

void capture::clear() noexcept {
  cut(0);
  regions_.clear();
  edges_ = 0;
}

/// Drops the nodes from `first` on.
void capture::cut(std::size_t first) noexcept {
  if (first >= nodes_.size()) return;
  changed_ = true;
  for (std::size_t i = first; i < nodes_.size(); ++i) nodes_[i].code(nodes_[i].closure, detail::action::discard);
  closures_.back_to(nodes_[first].before);
  accesses_.resize(accesses_begin(first));
  needs_.resize(needs_begin(first));
  nodes_.resize(first);
}

void capture::start(bool again) {
  if (!again) clear();
  turn_ = 0;
  ++execution_;
  changed_ = nodes_.empty();
  moved_ = false;
}

detail::draft capture::begin(std::size_t closure_bytes, std::size_t closure_align) {
  if (turn_ < nodes_.size()) {
    node& old = nodes_[turn_];
    if (old.bytes == closure_bytes && old.align == closure_align) {
      replaced_ = std::exchange(old.code, &node_arrays::nothing);
      replaced_(old.closure, detail::action::discard);
      return {nullptr, old.closure};
    }
    cut(turn_);
  }
  if (turn_ >> tag_shift != 0 || accesses_.size() >> 32 != 0)
    throw error(std::string(who_) + ": more than 2^28 tasks; split the body, or make larger tasks",
                error_kind::resources);
  const closure_stack::mark before = closures_.top();
  void* const room = closures_.take(closure_bytes, closure_align);
  nodes_.push_back({&node_arrays::nothing,
                    room,
                    static_cast<std::uint32_t>(closure_bytes),
                    static_cast<std::uint32_t>(closure_align),
                    before,
                    closures_.top(),
                    accesses_begin(nodes_.size()),
                    needs_begin(nodes_.size()),
                    {}});
  changed_ = true;
  return {nullptr, room};
}

task_ref capture::submit(detail::task_code code, const detail::declared& what) {
  nodes_[turn_].code = code;  // from here on the closure is destroyed with the node
  named_.clear();
  for (task_ref b : what.before) {
    if (b.value != 0) named_.push_back(node_of(b));
  }
  if (changed_ || code != replaced_ || !is_same(nodes_[turn_], what.accesses, named_, what.h)) {
    cut(turn_ + 1);
    node& n = nodes_[turn_];
    accesses_.resize(accesses_begin(turn_));
    needs_.resize(needs_begin(turn_));
    for (const detail::access_record& r : what.accesses) {
      accesses_.push_back({static_cast<std::uint32_t>(regions_.size()), r.how, r.touched});
      regions_.push_back({r.address, r.bytes, execution_});
    }
    needs_.insert(needs_.end(), named_.begin(), named_.end());
    n.accesses_end = static_cast<std::uint32_t>(accesses_.size());
    n.needs_end = static_cast<std::uint32_t>(needs_.size());
    n.h = what.h;
    changed_ = true;
  }
  // As an index this is 0: to the engine it is the name of no task.
  const std::uint64_t name = std::uint64_t{execution_ & 7} << tag_shift | static_cast<std::uint32_t>(turn_++);
  return {(name + 1) << 32};
}

/// Whether the task is the same as the one at this position before, with accesses to the same regions.
bool capture::is_same(const node& n, std::span<const detail::access_record> records,
                      std::span<const std::uint32_t> needs, const detail::hints& h) {
  const std::uint32_t from = accesses_begin(turn_);
  if (n.accesses_end - from != records.size() || n.h.type != h.type || n.h.color != h.color || n.h.node != h.node ||
      n.h.priority != h.priority || !std::ranges::equal(needs_of(turn_), needs))
    return false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const access& a = accesses_[from + i];
    region& r = regions_[a.region];
    if (a.how != records[i].how || r.bytes != records[i].bytes) return false;
    if (r.address != records[i].address) {
      if (r.named_in == execution_) return false;
      r.address = records[i].address;
      moved_ = true;
    }
    r.named_in = execution_;
  }
  return true;
}

std::uint32_t capture::node_of(task_ref t) const {
  const auto name = static_cast<std::uint32_t>((t.value >> 32) - 1);
  const std::uint32_t number = name & ((std::uint32_t{1} << tag_shift) - 1);
  if ((t.value & 0xffffffff) != 0 || name >> tag_shift != (execution_ & 7) || number >= turn_) {
    throw error(std::string(who_) +
                ": kith::after names a task that this execution of the body has not created; expected an earlier task "
                "of the body. For other tasks, wait before the graph runs");
  }
  return number;
}

void capture::refuse(std::string_view what) const {
  throw error(
      std::string(who_) + ": the body asks for " + std::string(what) +
      ", but its tasks run only when it has returned; create tasks with kith::spawn, and wait after the run, or "
      "inside a task");
}

bool capture::finish(node_arrays& arrays) {
  cut(turn_);
  if (!changed_ && moved_) changed_ = overlap_ || !regions_are_apart();
  if (changed_) derive(arrays);
  return changed_;
}

std::span<const detail::access_record> capture::accesses_of(std::size_t i) {
  records_.clear();
  for (std::uint32_t a = accesses_begin(i); a < nodes_[i].accesses_end; ++a) {
    const region& r = regions_[accesses_[a].region];
    records_.push_back({r.address, r.bytes, nullptr, accesses_[a].how, accesses_[a].touched});
  }
  return records_;
}

std::span<const std::uint32_t> capture::needs_of(std::size_t i) const noexcept {
  return {needs_.data() + needs_begin(i), nodes_[i].needs_end - needs_begin(i)};
}

/// Gives accesses to the same bytes the same region, and finds out whether others have bytes in common.
void capture::number_regions() {
  struct hash {
    std::size_t operator()(const std::pair<const void*, std::uint64_t>& k) const noexcept {
      return (std::bit_cast<std::uintptr_t>(k.first) ^ k.second << 40) * 0x9e3779b97f4a7c15u;
    }
  };
  std::unordered_map<std::pair<const void*, std::uint64_t>, std::uint32_t, hash> known;
  std::vector<region> distinct;
  for (access& a : accesses_) {
    const region& r = regions_[a.region];
    const auto [at, is_new] = known.try_emplace({r.address, r.bytes}, static_cast<std::uint32_t>(distinct.size()));
    if (is_new) distinct.push_back({r.address, r.bytes, execution_});
    a.region = at->second;
  }
  regions_ = std::move(distinct);
  overlap_ = !regions_are_apart();
}

bool capture::regions_are_apart() {
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> ranges;
  for (const region& r : regions_) {
    if (r.bytes != 0) ranges.emplace_back(std::bit_cast<std::uintptr_t>(r.address), r.bytes);
  }
  std::ranges::sort(ranges);
  return std::ranges::adjacent_find(
             ranges, [](const auto& a, const auto& b) { return a.first + a.second > b.first; }) == ranges.end();
}

/// Finds the edges by the rules that order siblings (task/sibling_rules.hpp). Commutative tasks get an order, that of
/// their creation: arrays cannot exclude nodes in any other way.
void capture::derive(node_arrays& arrays) {
  number_regions();
  const std::size_t tasks = nodes_.size();
  arrays.steps.clear();
  arrays.unlink();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::vector<std::uint32_t> before;
  std::size_t fences = 0;
  siblings order;
  has_levels_ = false;
  try {
    for (std::size_t i = 0; i < tasks; ++i) {
      before.assign(needs_of(i).begin(), needs_of(i).end());
      for (std::uint32_t a = accesses_begin(i); a < nodes_[i].accesses_end; ++a) {
        const region& r = regions_[accesses_[a].region];
        if (r.bytes == 0) continue;
        // Ranges that are apart need not be compared: the region's number is then a name.
        const std::uint64_t name = overlap_ ? std::bit_cast<std::uintptr_t>(r.address) : accesses_[a].region + 1;
        const auto after = [&](std::int32_t t, std::uint64_t) { before.push_back(static_cast<std::uint32_t>(t)); };
        const auto fence = [&](const std::vector<std::int32_t>& members) {
          const std::size_t number = tasks + fences++;
          for (std::int32_t m : members)
            edges.emplace_back(static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(number));
          return static_cast<std::int32_t>(number);
        };
        const mode how = accesses_[a].how == mode::commutative ? mode::inout : accesses_[a].how;
        if (order.access(static_cast<std::int32_t>(i), name, r.bytes, how, !overlap_, after, fence) ==
            siblings::answer::refused) {
          throw error(
              std::string(who_) + ": an access of task " + std::to_string(i) + " of the body, " +
              std::to_string(r.bytes) +
              " bytes, crosses the range of an earlier one; expected ranges that are equal, apart, or one inside "
              "the other");
        }
      }
      std::ranges::sort(before);
      before.erase(std::unique(before.begin(), before.end()), before.end());
      for (std::uint32_t b : before) edges.emplace_back(b, static_cast<std::uint32_t>(i));
      arrays.steps.push_back({nodes_[i].code, nodes_[i].closure});
      has_levels_ = has_levels_ || nodes_[i].h.priority != 0;
    }
    arrays.steps.resize(tasks + fences, {&node_arrays::nothing, nullptr});
    arrays.link(edges);
    edges_ = edges.size();
  } catch (...) {
    clear();
    arrays.steps.clear();
    arrays.unlink();
    throw;
  }
}

}  // namespace kith::native
