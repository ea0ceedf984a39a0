#include "engine/native/calibrator.hpp"

#include "engine/native/worker.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace kith::native {

namespace {

constexpr std::size_t line = 64, page = 4096;
/// The most bytes that are saved.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;
/// The shortest of `repeats` runs counts; fewer runs are made if they take longer than `limit_seconds` in all.
constexpr int repeats = 3;
constexpr double limit_seconds = 0.05;
/// After this many samples of a group the interval between them doubles, so that they spread over a run of any length.
constexpr int dense = 8;
/// How many pages are read to displace address translations; processors keep about two thousand.
constexpr std::size_t translations = 4096;
#if !defined(__x86_64__)
constexpr std::size_t sweep_bytes = std::size_t{1} << 28;
#endif

bool writes(mode how) noexcept { return how != mode::in; }
/// Whether the task's result depends on the old contents.
bool reads(mode how) noexcept { return how != mode::out; }

}  // namespace

bool calibrator::takes(const task& t) {
  if ((t.flags & (task::skip | task::internal)) != 0 || t.exploring != 0) return false;
  if (t.type < never_.size() && never_[t.type]) return false;
  std::uint64_t bytes = 0, written = 0;
  for (kept_access a : t.access_list()) {
    if (a.how == mode::concurrent || a.region == 0) return false;
    bytes += a.bytes();
    if (writes(a.how)) written += a.bytes();
  }
  if (bytes == 0 || written > most_bytes) return false;
  sample_group& k = groups_[{t.type, std::bit_width(bytes)}];
  if (++k.seen < k.next || k.samples >= most_) return false;
  k.next = k.seen + k.step;
  if (++k.samples % dense == 0) k.step *= 2;
  return true;
}

void calibrator::give_up(const task& t) {
  if (never_.size() <= t.type) never_.resize(t.type + std::size_t{1});
  never_[t.type] = true;
}

detail::outcome calibrator::run(worker& self, task& t) {
  sampled_ = nullptr;
  pieces_.clear();
  try {
    for (kept_access a : t.access_list()) {
      if (a.bytes() == 0) continue;
      auto* const at = static_cast<std::byte*>(const_cast<void*>(regions_[a.region].address));
      piece& p = pieces_.emplace_back(piece{at, a.bytes(), a.how, {}, {}});
      if (writes(p.how) && reads(p.how)) p.before.assign(p.at, p.at + p.bytes);
      if (writes(p.how)) p.after.resize(p.bytes);
    }
  } catch (const std::bad_alloc&) {
    return detail::outcome::unable;
  }
  const std::uint64_t created = self.sums[event::task_created], began = ticks();
  detail::outcome how = detail::outcome::unable;
  try {
    how = t.code(t.closure(), detail::action::rehearse);
  } catch (...) {
    give_up(t);
    throw;
  }
  const std::uint64_t ended = ticks();
  if (how == detail::outcome::unable) {
    give_up(t);
    return how;
  }
  if (self.children_scope != nullptr || self.sums[event::task_created] != created) {
    give_up(t);
  } else {
    last_ = {.began = began, .ended = ended};
    measure(t);
    sampled_ = &t;
  }
  return how;
}

void calibrator::measure(task& t) {
  for (piece& p : pieces_) std::copy_n(p.at, p.after.size(), p.after.data());
  std::uint64_t cold = ~std::uint64_t{0}, warm = cold, hot = cold;
  const auto limit = static_cast<std::uint64_t>(limit_seconds / seconds_per_tick());
  try {
    for (int r = 0; r < repeats && (r == 0 || ticks() - last_.ended < limit); ++r) {
      restore_before();
      evict();
      displace();
      cold = std::min(cold, timed(t));
      for (int again = 0; again < repeats; ++again) {
        restore_before();
        fetch();
        hot = std::min(hot, timed(t));
      }
      restore_before();
      for (int again = 0; again < repeats; ++again) {  // a last-level cache may not keep data that was used only once
        fetch();
        displace();
      }
      warm = std::min(warm, timed(t));
    }
    last_.cold = cold;
    last_.warm = warm;
    last_.hot = hot;
  } catch (...) {  // the real run threw nothing, so these runs do not count
    give_up(t);
  }
  restore_after();
}

std::uint64_t calibrator::timed(task& t) const {
  const std::uint64_t began = ticks();
  t.code(t.closure(), detail::action::rehearse);
  return ticks() - began;
}

void calibrator::restore_before() {
  for (piece& p : pieces_) std::copy_n(p.before.data(), p.before.size(), p.at);
}

void calibrator::restore_after() {
  for (piece& p : pieces_) {
    if (!p.after.empty() && std::memcmp(p.at, p.after.data(), p.after.size()) != 0)
      std::copy_n(p.after.data(), p.after.size(), p.at);
  }
}

void calibrator::evict() {
#if defined(__x86_64__)
  for (const piece& p : pieces_) {
    for (std::size_t b = 0; b < p.bytes; b += line) _mm_clflush(p.at + b);
    _mm_clflush(p.at + p.bytes - 1);
  }
  _mm_mfence();
#else
  if (all_.empty()) all_.resize(sweep_bytes, std::byte{1});
  for (std::size_t i = 0; i < sweep_bytes; i += line)
    static_cast<void>(*const_cast<const volatile std::byte*>(&all_[i]));
#endif
}

/// Fills the core's private caches and its address translations with other data. Reads twice, because data used
/// only once may bypass the data that it should displace.
void calibrator::displace() {
  if (others_.empty()) others_.resize(2 * own_bytes_, std::byte{1});
  for (int again = 0; again < 2; ++again) {
    for (std::size_t b = 0; b < others_.size(); b += line)
      static_cast<void>(*const_cast<const volatile std::byte*>(&others_[b]));
  }
  if (pages_.empty()) pages_.resize(translations * page, std::byte{1});
  for (std::size_t i = 0; i < translations; ++i)
    static_cast<void>(*const_cast<const volatile std::byte*>(&pages_[i * page + i % (page / line) * line]));
}

void calibrator::fetch() const {
  for (const piece& p : pieces_) {
    for (std::size_t b = 0; b < p.bytes; b += line) static_cast<void>(*const_cast<const volatile std::byte*>(p.at + b));
  }
}

}  // namespace kith::native
