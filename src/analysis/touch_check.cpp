#include "analysis/touch_check.hpp"

#include "analysis/addresses.hpp"
#include "events/log.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace kith::analysis {

namespace {

/// What a task declared about one region, over all its accesses of the region.
struct declared {
  std::uint32_t region;
  std::uint64_t begin, end;
  bool writes;
  bool touched = false;
};

/// By block: the first that is the same memory. Memory that mremap has moved has a block for each of its addresses.
std::vector<std::uint32_t> same_memory(const recording& r) {
  using maker = std::tuple<std::int32_t, std::uint64_t, std::string_view, std::string_view, std::uint64_t>;
  std::map<maker, std::uint32_t> mapped;
  std::vector<std::uint32_t> same;
  for (std::uint32_t i = 0; i < r.blocks.size(); ++i) {
    const recorded_block& b = r.blocks[i];
    same.push_back(i);
    if (b.kind == recorded_block::mapped)
      same[i] = mapped.try_emplace(maker(b.task, b.ordinal, b.at, b.caller, b.bytes), i).first->second;
  }
  return same;
}

class checker {
 public:
  explicit checker(const recording& r) : r_(r), streams_(r), same_(same_memory(r)), written_(r.blocks.size()) {
    for (std::uint32_t i = 0; i < r.regions.size(); ++i) by_address_.push_back(i);
    std::ranges::sort(by_address_, {}, [&](std::uint32_t i) { return r.regions[i].address; });
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(by_address_.size()); ++i) {
      std::int32_t around = i - 1;
      while (around >= 0 && end_of(around) <= begin_of(i)) around = around_[static_cast<std::size_t>(around)];
      around_.push_back(around);
    }
  }

  touch_report all() {
    for (std::size_t t = 0; t < r_.tasks.size(); ++t) {
      streams_.read(t, [&](const touch& x) {
        if (x.writes()) written_[same_[index_of(*x.block)]] = true;
      });
    }
    for (std::size_t t = 0; t < r_.tasks.size(); ++t) {
      const recorded_task& k = r_.tasks[t];
      if (k.has(recorded_task::root) || k.has(recorded_task::fence) || k.has(recorded_task::skipped) || k.worker < 0)
        continue;
      check(static_cast<std::int32_t>(t));
    }
    std::erase_if(out_.untouched,
                  [&](const untouched_access& u) { return touched_by_halves_.contains(std::pair(u.task, u.region)); });
    return std::move(out_);
  }

 private:
  std::uint32_t index_of(const recorded_block& b) const { return static_cast<std::uint32_t>(&b - r_.blocks.data()); }
  std::uint32_t index_of(const recorded_site& s) const { return static_cast<std::uint32_t>(&s - r_.sites.data()); }

  /// A half of a join can declare nothing: what the joining task has declared is declared for it.
  std::int32_t declaring(std::int32_t task) const {
    const auto at = [&](std::int32_t t) -> const recorded_task& { return r_.tasks[static_cast<std::size_t>(t)]; };
    while (at(task).creator >= 0 && r_.types[at(task).type] == log_join_type) task = at(task).creator;
    return task;
  }

  void declare(std::int32_t task) {
    const auto t = static_cast<std::size_t>(declaring(task));
    declared_.clear();
    for (std::uint64_t a = r_.first_access[t]; a < r_.first_access[t + 1]; ++a) {
      const recorded_access& x = r_.accesses[a];
      const bool writes = static_cast<mode>(x.mode) != mode::in;
      const auto known = std::ranges::find(declared_, x.region, &declared::region);
      const std::uint64_t begin = r_.regions[x.region].address;
      if (known == declared_.end()) {
        declared_.push_back({x.region, begin, begin + x.bytes, writes});
      } else {
        known->writes = known->writes || writes;
        known->end = std::max(known->end, begin + x.bytes);
      }
    }
  }

  bool is_written(const recorded_block& b) const { return written_[same_[index_of(b)]]; }

  /// Whether the block's bytes need no declaration by the task.
  bool is_free(const recorded_block& b, std::int32_t task) const {
    switch (b.kind) {
      case recorded_block::own_stack:
      case recorded_block::stack:
      case recorded_block::thread_local_data:
      case recorded_block::constant: return true;
      case recorded_block::variable:
      case recorded_block::global: return !is_written(b);
      default: return b.own || (b.task == task && b.task >= 0);
    }
  }

  /// A piece of bytes that are all declared, or all undeclared and of the same region or of none.
  struct piece {
    std::uint64_t end;
    bool declared = false, declared_in = false;  // declared_in: they are written, and declared as read only
    std::int32_t region = -1;
  };
  piece piece_at(std::uint64_t at, std::uint64_t end, bool writes) const {
    piece p{.end = end};
    std::uint64_t declared_until = at;
    for (const declared& d : declared_) {
      if (at >= d.end) continue;
      if (at < d.begin) {
        p.end = std::min(p.end, d.begin);
      } else if (writes && !d.writes) {
        p.declared_in = true;
        p.end = std::min(p.end, d.end);
      } else {
        declared_until = std::max(declared_until, d.end);
      }
    }
    if (declared_until != at) return {.end = declared_until, .declared = true};
    p.region = region_at(at, p.end);
    return p;
  }

  void check(std::int32_t task) {
    declare(task);
    first_.clear();
    ++out_.tasks;
    streams_.read(static_cast<std::size_t>(task), [&](const touch& x) {
      ++out_.touches;
      if (x.block->kind == recorded_block::own_stack) return;
      if (x.block->kind == recorded_block::unknown) ++out_.unknown;
      const std::uint64_t begin = x.block->address + x.offset, end = begin + x.bytes;
      for (declared& d : declared_) d.touched = d.touched || (d.begin < end && d.end > begin);
      if (x.site->own || is_free(*x.block, task)) return;
      for (std::uint64_t at = begin; at < end;) {
        const piece p = piece_at(at, end, x.writes());
        if (!p.declared) note_piece(task, x, at, p);
        at = p.end;
      }
    });
    const std::int32_t declares = declaring(task);
    for (const declared& d : declared_) {
      if (declares != task && d.touched) touched_by_halves_.emplace(declares, d.region);
      if (declares != task || d.touched || d.begin == d.end) continue;
      const auto t = static_cast<std::size_t>(task);
      for (std::uint64_t a = r_.first_access[t]; a < r_.first_access[t + 1]; ++a) {
        if (r_.accesses[a].region == d.region) out_.untouched.push_back({task, d.region, r_.accesses[a].mode});
      }
    }
  }

  void note_piece(std::int32_t task, const touch& x, std::uint64_t at, const piece& p) {
    const std::uint64_t from = at - x.block->address, end = p.end - x.block->address;
    if (p.region < 0 && !is_written(*x.block) && x.block->kind != recorded_block::unknown) {
      note_constant(task, x, from, end);
    } else {
      note(task, x, from, end, p);
    }
  }

  void note_constant(std::int32_t task, const touch& x, std::uint64_t from, std::uint64_t end) {
    const std::uint32_t block = index_of(*x.block);
    const auto [at, fresh] = constant_of_block_.try_emplace(block, out_.constants.size());
    if (fresh) {
      out_.constants.push_back({task, index_of(*x.site), block, from, end, 0, 0});
      last_reader_.push_back(-1);
    }
    constant_read& c = out_.constants[at->second];
    c.begin = std::min(c.begin, from);
    c.end = std::max(c.end, end);
    c.tasks += std::exchange(last_reader_[at->second], task) != task;
    ++c.touches;
  }

  void note(std::int32_t task, const touch& x, std::uint64_t from, std::uint64_t end, const piece& p) {
    const std::uint32_t site = index_of(*x.site), block = index_of(*x.block);
    const auto [at, fresh] =
        first_.try_emplace(std::tuple(site, block, p.declared_in, p.region), out_.undeclared.size());
    if (fresh) out_.undeclared.push_back({task, site, block, x.writes(), p.declared_in, p.region, from, end, 0});
    undeclared_touch& u = out_.undeclared[at->second];
    u.begin = std::min(u.begin, from);
    u.end = std::max(u.end, end);
    ++u.touches;
  }

  /// A region that has the byte; of several, the one that begins last. Lowers `until` if that region ends, or another
  /// begins, before it.
  std::int32_t region_at(std::uint64_t address, std::uint64_t& until) const {
    const auto next =
        std::ranges::upper_bound(by_address_, address, {}, [&](std::uint32_t i) { return r_.regions[i].address; });
    if (next != by_address_.end()) until = std::min(until, r_.regions[*next].address);
    auto at = static_cast<std::int32_t>(next - by_address_.begin()) - 1;
    while (at >= 0 && address >= end_of(at)) at = around_[static_cast<std::size_t>(at)];
    if (at < 0) return -1;
    until = std::min(until, end_of(at));
    return static_cast<std::int32_t>(by_address_[static_cast<std::size_t>(at)]);
  }
  std::uint64_t begin_of(std::int32_t at) const {
    return r_.regions[by_address_[static_cast<std::size_t>(at)]].address;
  }
  std::uint64_t end_of(std::int32_t at) const {
    return begin_of(at) + r_.regions[by_address_[static_cast<std::size_t>(at)]].bytes;
  }

  const recording& r_;
  touch_reader streams_;
  std::vector<std::uint32_t> same_;
  std::vector<bool> written_;  // blocks that a task writes; of those that are the same memory, the first
  std::vector<std::uint32_t> by_address_;
  std::vector<std::int32_t> around_;  // by place in by_address_: the nearest before it that has its first byte; or -1
  std::vector<declared> declared_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool, std::int32_t>, std::size_t> first_;
  std::set<std::pair<std::int32_t, std::uint32_t>> touched_by_halves_;  // of a joining task, with its region
  std::map<std::uint32_t, std::size_t> constant_of_block_;
  std::vector<std::int32_t> last_reader_;  // by constant: the task counted last
  touch_report out_;
};

}  // namespace

touch_report check_touches(const recording& r) { return checker(r).all(); }

}  // namespace kith::analysis
