// The elements next to each place's share of a distributed array, copied from the places that have them.
#pragma once

#include <kith/distributed_array.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith {

/// For arrays of which each place has one block at most (array_layout::blocks()). A place has copies of the `width`
/// elements before its share and of as many after it; fewer at the ends of the array, and none if its share is empty. A
/// value, as distributed_array: copies name the same halo, and it may be an argument of activities. All members must be
/// called in an activity. A halo lives until destroy(), and can be used as long as its array.
template <class T>
class array_halo {
 public:
  /// No halo.
  array_halo() = default;

  /// Returns when each place has memory for its halo, whose elements are T{}. One message and its answer for each
  /// place. Throws `error` if a place has several blocks of the array.
  [[nodiscard]] static array_halo make(const distributed_array<T>& array, std::uint64_t width) {
    array_halo h;
    h.array_ = array;
    h.width_ = width;
    const auto all = static_cast<std::uint64_t>(places());
    h.block_ = all == 1 ? array.size() : array.element_at(1, 0) - array.element_at(0, 0);
    if (h.block_ < array.size() && (array.size() - 1) / h.block_ >= all) {
      throw error("array_halo::make(): the array has blocks of " + std::to_string(h.block_) +
                  " elements, and places have several; expected one at most (array_layout::blocks())");
    }
    static std::atomic<std::uint64_t> made{0};
    h.number_ = (static_cast<std::uint64_t>(here()) << 40) + made.fetch_add(1, std::memory_order_relaxed) + 1;
    try {
      kith::finish([&] {
        for (int p = 0; p < places(); ++p) at(p).template spawn<make_sides>(h);
      });
    } catch (...) {
      h.destroy();
      throw;
    }
    return h;
  }
  /// Frees the memory at all places but lost ones.
  void destroy() const {
    kith::finish([&] {
      for (int p = 0; p < places(); ++p) {
        if (!at(p).is_lost()) at(p).template spawn<destroy_sides>(*this);
      }
    });
  }

  /// The number of elements on each side of a share.
  std::uint64_t width() const noexcept { return width_; }
  /// Sends the elements of this place to all halos that they are in. They have arrived when the finish() around the
  /// caller has ended; until then, no activity may use these halos or change the elements. Called at every place, this
  /// is a halo exchange. An activity that continues afterwards needs a finish of its own, and must know that all others
  /// have sent: finish([&] { h.send(); }); barrier(). One message and its answer for each neighbour; more if shares are
  /// smaller than `width`.
  void send() const {
    const std::span<const T> mine = array_.local();
    const int here = kith::here();
    for (const int step : {-1, 1}) {
      for (int p = here + step; p >= 0 && p < places(); p += step) {
        const range halo = step < 0 ? behind_of(p) : before_of(p), own = share_of(here);
        const std::uint64_t first = std::max(halo.first, own.first), end = std::min(halo.end, own.end);
        if (first < end) at(p).template spawn<receive>(*this, first, mine.subspan(first - own.first, end - first));
        const range there = share_of(p);
        if (step < 0 ? own.first - there.end >= width_ : there.first - own.end >= width_) break;
      }
    }
  }
  /// The elements before this place's share, in order: the last of them is its neighbour. Stays valid until destroy().
  /// Takes a lock. Throws `error` if there is no such halo.
  std::span<const T> before() const { return sides_of(*this)->before; }
  /// The elements after this place's share, in order: the first of them is its neighbour. Otherwise as before().
  std::span<const T> behind() const { return sides_of(*this)->behind; }

 private:
  struct range {
    std::uint64_t first, end;
  };
  struct sides {
    std::vector<T> before, behind;
  };
  using all_sides = std::map<std::uint64_t, std::shared_ptr<sides>>;
  static place_local<all_sides>& at_places() {
    static place_local<all_sides> all;
    return all;
  }
  static std::mutex& guard() {
    static std::mutex lock;
    return lock;
  }

  range share_of(int place) const {
    const std::uint64_t first = std::min(static_cast<std::uint64_t>(place) * block_, array_.size());
    return {first, std::min(first + block_, array_.size())};
  }
  range before_of(int place) const {
    const range own = share_of(place);
    return own.first == own.end ? own : range{own.first - std::min(width_, own.first), own.first};
  }
  range behind_of(int place) const {
    const range own = share_of(place);
    return own.first == own.end ? own : range{own.end, own.end + std::min(width_, array_.size() - own.end)};
  }

  static void make_sides(array_halo h) {
    const range before = h.before_of(here()), behind = h.behind_of(here());
    auto made = std::make_shared<sides>();
    made->before.resize(before.end - before.first);
    made->behind.resize(behind.end - behind.first);
    const std::lock_guard lock(guard());
    (*at_places())[h.number_] = std::move(made);
  }
  static void destroy_sides(array_halo h) {
    const std::lock_guard lock(guard());
    at_places()->erase(h.number_);
  }
  static std::shared_ptr<sides> sides_of(const array_halo& h) {
    const std::lock_guard lock(guard());
    const all_sides& mine = *at_places();
    const auto at = mine.find(h.number_);
    if (at == mine.end())
      throw error(
          "array_halo: there is no such halo; expected one that make() returned, and that destroy() has not ended");
    return at->second;
  }
  static void receive(array_halo h, std::uint64_t first, std::span<const T> elements) {
    const std::shared_ptr<sides> mine = sides_of(h);
    const range own = h.share_of(here());
    if (first < own.first) {
      std::ranges::copy(elements,
                        mine->before.begin() + static_cast<std::ptrdiff_t>(first - h.before_of(here()).first));
    } else {
      std::ranges::copy(elements, mine->behind.begin() + static_cast<std::ptrdiff_t>(first - own.end));
    }
  }

  distributed_array<T> array_;
  std::uint64_t number_ = 0, width_ = 0, block_ = 1;
};

}  // namespace kith
