#include "engine/sim/line_streams.hpp"

#include "recording/touches.hpp"

#include <kith/error.hpp>

#include <unistd.h>
#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <unordered_map>

namespace kith::sim {

namespace {

constexpr unsigned page_bits = 12;
static_assert(line_streams::page_bytes == 1u << page_bits);
constexpr std::uint64_t most_own_stack = std::uint64_t{64} << 20;

[[noreturn]] void refuse(const recording& r, const std::string& what) {
  throw error((r.file.empty() ? "the recording" : r.file) + ": addresses: " + what, error_kind::input);
}

/// How tasks use a block.
struct use {
  static constexpr std::int32_t nobody = -1, several = -2;
  std::int32_t task = nobody;
  std::uint32_t generation = 0;  // how many blocks were in this memory before
  bool own = false;              // each core has its own
};

class block_uses {
 public:
  explicit block_uses(const recording& r) : blocks_(r.blocks), uses_(r.blocks.size()) {}

  void touched(std::size_t block, std::int32_t task) noexcept {
    std::int32_t& only = uses_[block].task;
    only = only == use::nobody || only == task ? task : use::several;
  }
  void decide() {
    for (std::size_t b = 2; b < uses_.size(); ++b) {
      use& u = uses_[b];
      if (u.task == use::nobody) continue;
      const recorded_block& k = blocks_[b];
      u.own = k.kind == recorded_block::thread_local_data || (k.task >= 0 && k.task == u.task);
      if (!u.own) u.generation = generation_of(k);
    }
  }
  const use& use_of(std::size_t block) const noexcept { return uses_[block]; }

 private:
  /// The generation of a block. Blocks are given in the order of their first touch. Of blocks that overlap, the later
  /// one is another generation.
  std::uint32_t generation_of(const recorded_block& k) {
    const std::uint64_t end = k.address + std::max<std::uint64_t>(1, k.bytes);
    std::uint32_t generation = 0;
    auto at = latest_.lower_bound(k.address);
    if (at != latest_.begin() && std::prev(at)->second.first > k.address) --at;
    while (at != latest_.end() && at->first < end) {
      const auto [old_begin, old] = *at;
      generation = std::max(generation, old.second + 1);
      latest_.erase(at);
      if (old_begin < k.address) latest_[old_begin] = {k.address, old.second};
      if (old.first > end) latest_[end] = {old.first, old.second};  // no block begins between the two
      at = latest_.lower_bound(std::max(k.address, old_begin + 1));
      if (at != latest_.end() && at->first >= end) break;
    }
    latest_[k.address] = {end, generation};
    return std::min<std::uint32_t>(generation, 1023);
  }

  const std::vector<recorded_block>& blocks_;
  std::vector<use> uses_;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> latest_;  // begin -> end, generation
};

/// Pages by address and generation, numbered in the order of their first use.
class pages {
 public:
  static constexpr std::uint64_t own = std::uint64_t{1} << 63;
  explicit pages(std::uint32_t lines_of_page) : lines_of_page_(lines_of_page) {}
  static std::uint64_t key(const use& u, std::uint64_t address) noexcept {
    return (u.own ? own : std::uint64_t{u.generation} << 52) | address >> page_bits;
  }
  std::uint32_t number(std::uint64_t key) {
    const auto [at, fresh] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (fresh) keys_.push_back(key);
    return at->second;
  }
  bool is_own(std::uint32_t page) const noexcept { return (keys_[page] & own) != 0; }
  std::uint64_t address(std::uint32_t page) const noexcept {
    return (keys_[page] & ((std::uint64_t{1} << 52) - 1)) << page_bits;
  }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(keys_.size()); }
  bool too_many() const noexcept { return keys_.size() > most_lines / lines_of_page_; }

  /// The first line of each page. Shared pages begin at 0, own ones at `own_from`. Sets the number of lines of both.
  std::vector<std::uint64_t> laid_out(std::uint64_t own_from, std::uint64_t& shared, std::uint64_t& own_end) const {
    std::vector<std::uint32_t> order(keys_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return keys_[i]; });
    std::vector<std::uint64_t> first(keys_.size());
    std::uint64_t at[2] = {0, own_from / lines_of_page_}, last[2] = {};
    bool any[2] = {};
    for (const std::uint32_t i : order) {
      const std::size_t kind = keys_[i] >> 63;
      if (any[kind]) at[kind] += distance(last[kind], keys_[i]);
      any[kind] = true;
      last[kind] = keys_[i];
      first[i] = at[kind] * lines_of_page_;
    }
    shared = any[0] ? (at[0] + 1) * lines_of_page_ : 0;
    own_end = any[1] ? (at[1] + 1) * lines_of_page_ : own_from;
    return first;
  }

 private:
  /// The distance of two pages in the layout: that of their addresses if it is small, else a small one that is the same
  /// modulo 1 MiB.
  static std::uint64_t distance(std::uint64_t from, std::uint64_t to) noexcept {
    constexpr std::uint64_t mib = (1u << 20) >> page_bits, gib = (1u << 30) >> page_bits;
    const std::uint64_t step = to - from;
    if (step <= mib) return step;
    if (step > gib && from >> 52 == to >> 52) return 1;
    return (step - 1) % mib + 1;
  }
  std::uint32_t lines_of_page_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // never iterated
  std::vector<std::uint64_t> keys_;
};

class reader {
 public:
  reader(const recording& r, std::uint32_t sets, std::uint64_t bytes)
      : r_(r),
        bytes_(bytes),
        lines_of_page_(static_cast<std::uint32_t>(line_streams::page_bytes / bytes)),
        set_mask_(std::min(sets, lines_of_page_) - 1),
        uses_(r),
        pages_(lines_of_page_),
        last_(r.sites.size()) {
    result_.bytes = bytes;
    // While rows are added there may be a second copy of them, and each may have a line of its own, with its entries
    // in tables of pages and in the directory. Several runs share the rows, and other simulations may run at once.
    constexpr std::uint64_t bytes_of_row = 4 * sizeof(line_touches);
    most_rows_ = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2 / bytes_of_row;
  }

  line_streams read() {
    touch_reader streams(r_);
    for (std::size_t t = 0; t < r_.tasks.size(); ++t) {
      streams.read(t, [&](const touch& k) {
        uses_.touched(block_of(k), static_cast<std::int32_t>(t));
        if (is_stack(k)) deepest_ = std::max(deepest_, k.offset);
      });
    }
    uses_.decide();
    if (deepest_ > most_own_stack) refuse(r_, "a task touches its stack more than 64 MiB below where it began");
    // Room for the stacks of tasks that run in the waits of others.
    result_.stacks.push_back(
        {0, static_cast<std::uint32_t>(std::bit_ceil(std::max<std::uint64_t>(1024, 4 * (deepest_ / bytes_))))});
    result_.first.push_back(0);
    if (!r_.counts.empty()) result_.instructions.assign(r_.tasks.size(), -1);
    auto counted = r_.counts.begin();
    for (std::size_t t = 0; t < r_.tasks.size(); ++t) {
      std::uint64_t depth = 0;
      touches_ = 0;
      streams.read(t, [&](const touch& k) {
        if (k.site->own) return;  // the scheduler's work has a cost of its own
        if (is_stack(k)) {
          const std::uint64_t end = std::max<std::uint64_t>(k.offset, 1) - 1;
          add_lines(stack_page, end - std::min(end, k.bytes - 1), end, k.writes());
          depth = std::max(depth, end / bytes_ + 1);
        } else {
          add(k);
        }
      });
      // Whole pages, so that a line's set does not depend on how deep its stack is.
      result_.stack_depth.push_back(
          static_cast<std::uint32_t>((depth + lines_of_page_ - 1) / lines_of_page_ * lines_of_page_));
      result_.first.push_back(result_.rows.size());
      while (counted != r_.counts.end() && static_cast<std::size_t>(counted->task) < t) ++counted;
      if (counted == r_.counts.end() || static_cast<std::size_t>(counted->task) != t || touches_ == 0) continue;
      if (const std::int64_t n = (*counted)[counter::instructions]; n >= 0)
        result_.instructions[t] = static_cast<double>(n) / static_cast<double>(touches_);
    }
    lay_out();
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t stack_page = ~std::uint32_t{0};
  static bool is_stack(const touch& k) noexcept { return k.block->kind == recorded_block::own_stack; }
  std::size_t block_of(const touch& k) const noexcept { return static_cast<std::size_t>(k.block - r_.blocks.data()); }

  void add(const touch& k) {
    std::uint64_t address = k.block->address + k.offset;
    const std::uint64_t end = address + k.bytes;
    if (k.bytes > std::uint64_t{1} << 32 || end < address)
      refuse(r_, "a touch of " + std::to_string(k.bytes) + " bytes");
    last_page& last = last_[static_cast<std::size_t>(k.site - r_.sites.data())];
    for (const std::uint64_t last_byte = end - 1;;) {
      const std::uint64_t key = pages::key(uses_.use_of(block_of(k)), address);
      if (last.key != key || last.number == stack_page) last = {key, pages_.number(key)};
      constexpr std::uint64_t in_page = (1u << page_bits) - 1;
      const std::uint64_t upto = std::min(last_byte, address | in_page);
      add_lines(last.number, address & in_page, upto & in_page, k.writes());
      if (upto == last_byte) return;
      address = upto + 1;
    }
  }

  /// Adds the lines of the bytes from..until of a page, or of the stack.
  void add_lines(std::uint32_t page, std::uint64_t from, std::uint64_t until, bool writes) {
    for (std::uint64_t l = from / bytes_; l <= until / bytes_; ++l) {
      const std::uint64_t number = page == stack_page ? first_stack_line + l : std::uint64_t{page} * lines_of_page_ + l;
      const auto line = static_cast<std::uint32_t>(number);
      ++touches_;
      if (line_touches* const before = same_before(line); before != nullptr && (before->writes != 0 || !writes)) {
        ++before->count;
        continue;
      }
      if (result_.rows.size() == most_rows_ || pages_.too_many())
        refuse(r_, "its lines take more than half of this computer's memory; record a smaller run");
      result_.rows.push_back({line & 0x7fffffff, writes, 1});
    }
  }

  /// The last row of the task for the line, if it is so recent that the line is still in the first level, and if no
  /// other line of its set was used since. Pages are laid out as a whole, so lines of one set have the same offset in
  /// their pages.
  line_touches* same_before(std::uint32_t line) noexcept {
    const std::size_t nearest =
        std::max(result_.first.back(), result_.rows.size() - std::min(result_.rows.size(), look_back));
    std::uint32_t since = 0;
    for (std::size_t i = result_.rows.size(); i > nearest; --i) {
      line_touches& before = result_.rows[i - 1];
      since += before.count;
      if (since >= most_merged) return nullptr;
      if (before.line == line) return &before;
      if (((before.line ^ line) & set_mask_) == 0) return nullptr;
    }
    return nullptr;
  }

  void lay_out() {
    std::uint64_t shared = 0, own_end = 0;
    const std::vector<std::uint64_t> first = pages_.laid_out(result_.stacks.front().size, shared, own_end);
    if (shared + own_end > most_lines) refuse(r_, "its memory has more than 2^30 lines");
    result_.shared = static_cast<std::uint32_t>(shared);
    result_.own = static_cast<std::uint32_t>(own_end);
    for (std::uint32_t p = 0; p < pages_.size(); ++p) {
      if (!pages_.is_own(p)) result_.pages.push_back({pages_.address(p), static_cast<std::uint32_t>(first[p])});
    }
    std::ranges::sort(result_.pages, {}, [](const line_streams::page& p) { return std::pair(p.address, p.first); });
    for (line_touches& row : result_.rows) {
      if (row.line >= first_stack_line) {
        row.line = static_cast<std::uint32_t>(shared + row.line - first_stack_line) & 0x7fffffff;
      } else {
        const std::uint64_t begin = first[row.line / lines_of_page_];
        const bool own = pages_.is_own(row.line / lines_of_page_);
        row.line = static_cast<std::uint32_t>((own ? shared : 0) + begin + row.line % lines_of_page_) & 0x7fffffff;
      }
    }
  }

  struct last_page {
    std::uint64_t key = 0;
    std::uint32_t number = stack_page;
  };
  static constexpr std::uint32_t first_stack_line = std::uint32_t{1} << 30;  // until the layout is known

  static constexpr std::size_t look_back = 6;
  static constexpr std::uint32_t most_merged = 64;  // the more, the later a core notices that others have taken a line

  const recording& r_;
  std::uint64_t bytes_;
  std::uint32_t lines_of_page_, set_mask_;
  block_uses uses_;
  pages pages_;
  std::vector<last_page> last_;  // by site
  std::uint64_t deepest_ = 0, most_rows_ = 0;
  std::uint64_t touches_ = 0;  // of the task, so far
  line_streams result_;
};

}  // namespace

line_streams line_streams_of(const recording& r, std::uint32_t sets, std::uint64_t bytes) {
  if (r.blocks.empty()) return {};
  return reader(r, sets, bytes).read();
}

}  // namespace kith::sim
