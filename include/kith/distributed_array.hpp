// An array whose elements are dealt to the places.
#pragma once

#include <kith/detail/flow_access.hpp>
#include <kith/places.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

/// How elements are dealt: blocks of neighbours, round robin. Whole rows of a matrix stay together if a block has a
/// multiple of their length: block_cyclic(rows * columns) with the rows of each place.
struct array_layout {
  std::uint64_t block = 0;  // elements of a block; 0: as many as give each place at most one block

  static constexpr array_layout blocks() noexcept { return {0}; }
  static constexpr array_layout cyclic() noexcept { return {1}; }
  static constexpr array_layout block_cyclic(std::uint64_t elements) noexcept { return {elements}; }
};

/// Elements of a distributed array, for kith::in, out and inout in a data_flow (data_flow.hpp). `Many`: the function
/// gets a span of them, else a reference to the only one.
template <class T, bool Many = true>
class array_range {
 public:
  array_range(const distributed_array<T>& array, std::uint64_t first, std::uint64_t count) noexcept
      : array_(array), first_(first), count_(count) {}

  template <mode How>
  auto accessed_as() const noexcept {
    static_assert(How == mode::in || How == mode::out || How == mode::inout,
                  "elements of a distributed_array can be accessed as kith::in, out and inout");
    return detail::flow_access<T, How, Many>{array_, first_, count_};
  }

 private:
  distributed_array<T> array_;
  std::uint64_t first_, count_;
};

/// The name of an array with a share at each place. A value: copies name the same array, and it may be an argument of
/// activities. make(), destroy(), get() and put() must be called in an activity, and throw place_error if they fail at
/// a place. An array lives until destroy(), and can be used as long as the place_runtime in which it was made.
/// Different elements may be used at the same time; the program orders uses of the same one, with finish().
template <class T>
class distributed_array {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_same_v<T, bool>,
                "elements of a distributed_array go to other places as bytes: expected a trivially copyable type "
                "without pointers (std::uint8_t for bool)");

 public:
  /// No array.
  distributed_array() = default;

  /// An array of `size` elements T{}. Returns when there is a share at each place. One message and its answer for each
  /// place. Throws `error` for more bytes than an address space holds.
  [[nodiscard]] static distributed_array make(std::uint64_t size, array_layout layout = {}) {
    detail::bytes_of(nullptr, size, sizeof(T));
    distributed_array a;
    a.number_ =
        (static_cast<std::uint64_t>(here()) << 40) + detail::arrays_made.fetch_add(1, std::memory_order_relaxed) + 1;
    a.size_ = size;
    const auto all = static_cast<std::uint64_t>(places());
    a.places_ = all;
    const std::uint64_t least = 1;
    a.block_ = std::clamp(layout.block != 0 ? layout.block : (size + all - 1) / all, least, std::max(least, size));
    try {
      kith::finish([&] {
        for (int p = 0; p < places(); ++p) at(p).template spawn<make_share>(a);
      });
    } catch (...) {
      a.destroy();
      throw;
    }
    return a;
  }
  /// Frees the shares of all places but lost ones. No copy of this name may be used afterwards.
  void destroy() const {
    kith::finish([&] {
      for (int p = 0; p < places(); ++p) {
        if (!at(p).is_lost()) at(p).template spawn<destroy_share>(*this);
      }
    });
  }

  /// The number of elements at all places together.
  std::uint64_t size() const noexcept { return size_; }
  /// The place of element `i`. REQUIRES: i < size().
  int place_of(std::uint64_t i) const { return static_cast<int>(i / block_ % places_); }
  /// The position of element `i` in local() at its place.
  std::uint64_t position_of(std::uint64_t i) const { return i / block_ / places_ * block_ + i % block_; }
  /// The element at a position of local() at a place: the inverse of place_of() and position_of().
  std::uint64_t element_at(int place, std::uint64_t position) const {
    const std::uint64_t block = position / block_ * places_ + static_cast<std::uint64_t>(place);
    return block * block_ + position % block_;
  }
  /// The elements of the caller's place, in the order of their numbers. Stays valid until destroy(). Takes a lock.
  /// Throws `error` if there is no such array.
  std::span<T> local() const { return share_of(*this, here()); }

  /// A copy of elements [first, first + count). One message, with its answer and the result, for each place that has
  /// some of them, whose progress thread copies them, however busy its workers are. Throws `error` for a range outside
  /// the array.
  std::vector<T> get(std::uint64_t first, std::uint64_t count) const {
    check("get", first, count);
    std::vector<place_future<std::vector<T>>> parts;
    const std::vector<int> owners = owners_of(first, count);
    for (const int p : owners)
      parts.push_back(at(p).async(detail::progress_function<read_share>{}, *this, p, first, count));
    for (const auto& p : parts) p.wait();  // so that the failure of a later one does not go to the finish as well
    if (owners.size() == 1) return parts.front().get();
    std::vector<T> values(count);
    for (std::size_t k = 0; k < owners.size(); ++k)
      scatter_part(owners[k], first, std::span<const T>(parts[k].get()), std::span(values));
    return values;
  }
  T get(std::uint64_t i) const { return get(i, 1).front(); }

  /// Elements [first, first + count), or the one at `i`, for accesses of a data_flow. Throws `error` for elements
  /// outside the array.
  array_range<T> range(std::uint64_t first, std::uint64_t count) const {
    check("range", first, count);
    return {*this, first, count};
  }
  array_range<T, false> element(std::uint64_t i) const {
    check("element", i, 1);
    return {*this, i, 1};
  }

  /// Writes elements from `first` on, and returns when they are written. One message, with its answer, for each place
  /// that has some of them, whose progress thread writes them, however busy its workers are. Throws `error` for a range
  /// outside the array.
  void put(std::uint64_t first, std::span<const T> values) const {
    const std::uint64_t count = values.size();
    check("put", first, count);
    kith::finish([&] {
      for (const int p : owners_of(first, count)) {
        std::vector<T> gathered;
        at(p).spawn(detail::progress_function<write_share>{}, *this, p, first, count,
                    part_of(p, first, values, gathered));
      }
    });
  }
  void put(std::uint64_t i, const T& value) const { put(i, std::span(&value, 1)); }

 private:
  friend struct detail::array_internals;
  /// By place and number; the progress threads of places use them, too.
  using shares = std::map<std::pair<int, std::uint64_t>, std::vector<T>>;
  static shares& all_shares() {
    static shares all;
    return all;
  }
  static std::mutex& guard() {
    static std::mutex lock;
    return lock;
  }

  static void make_share(distributed_array a) {
    const int place = here();
    std::uint64_t mine = 0;
    a.for_each_run_of(place, 0, a.size_, [&](std::uint64_t, std::uint64_t length) { mine += length; });
    std::vector<T> share(mine);
    const std::lock_guard lock(guard());
    all_shares()[{place, a.number_}] = std::move(share);
  }
  static void destroy_share(distributed_array a) {
    const int place = here();
    const std::lock_guard lock(guard());
    all_shares().erase({place, a.number_});
  }
  static std::span<T> share_of(const distributed_array& a, int place) {
    a.check("local", 0, 0);
    const std::lock_guard lock(guard());
    shares& all = all_shares();
    const auto at = all.find({place, a.number_});
    if (at == all.end())
      throw error(
          "distributed_array: there is no such array; expected one that make() returned, "
          "and that destroy() has not ended");
    return at->second;
  }
  static std::vector<T> read_share(distributed_array a, int place, std::uint64_t first, std::uint64_t count) {
    const std::span<T> mine = share_of(a, place);
    std::vector<T> part;
    a.for_each_run_of(place, first, count, [&](std::uint64_t i, std::uint64_t length) {
      const std::span<const T> run = mine.subspan(a.position_of(i), length);
      part.insert(part.end(), run.begin(), run.end());
    });
    return part;
  }
  static void write_share(distributed_array a, int place, std::uint64_t first, std::uint64_t count,
                          std::span<const T> part) {
    const std::span<T> mine = share_of(a, place);
    std::uint64_t taken = 0;
    a.for_each_run_of(place, first, count, [&](std::uint64_t i, std::uint64_t length) {
      std::ranges::copy(part.subspan(taken, length), mine.begin() + static_cast<std::ptrdiff_t>(a.position_of(i)));
      taken += length;
    });
  }

  /// Calls visit(first element, length) for the elements of a place among [first, first + count), block by block.
  template <class Visit>
  void for_each_run_of(int place, std::uint64_t first, std::uint64_t count, const Visit& visit) const {
    const std::uint64_t all = places_, mine = static_cast<std::uint64_t>(place);
    if (count == 0) return;
    const std::uint64_t end = first + count;
    std::uint64_t block = first / block_;
    block += (mine + all - block % all) % all;
    for (; block * block_ < end; block += all) {
      const std::uint64_t from = std::max(first, block * block_);
      visit(from, std::min(end, (block + 1) * block_) - from);
    }
  }
  /// The place's elements among `values`, which begin at element `first`: a part of them if these lie in a row, else
  /// `gathered`.
  std::span<const T> part_of(int place, std::uint64_t first, std::span<const T> values,
                             std::vector<T>& gathered) const {
    std::span<const T> part;
    for_each_run_of(place, first, values.size(), [&](std::uint64_t i, std::uint64_t length) {
      const std::span<const T> run = values.subspan(i - first, length);
      if (part.empty() || (gathered.empty() && part.data() + part.size() == run.data())) {
        part = {part.empty() ? run.data() : part.data(), part.size() + length};
        return;
      }
      if (gathered.empty()) gathered.assign(part.begin(), part.end());
      gathered.insert(gathered.end(), run.begin(), run.end());
    });
    return gathered.empty() ? part : std::span<const T>(gathered);
  }
  /// Copies the place's elements to where they belong among `values`.
  void scatter_part(int place, std::uint64_t first, std::span<const T> part, std::span<T> values) const {
    std::uint64_t taken = 0;
    for_each_run_of(place, first, values.size(), [&](std::uint64_t i, std::uint64_t length) {
      std::ranges::copy(part.subspan(taken, length), values.subspan(i - first).begin());
      taken += length;
    });
  }
  /// The places that have some of these elements.
  std::vector<int> owners_of(std::uint64_t first, std::uint64_t count) const {
    std::vector<int> owners;
    if (count == 0) return owners;
    const std::uint64_t all = places_;
    const std::uint64_t from = first / block_, blocks = (first + count - 1) / block_ - from + 1;
    for (std::uint64_t b = 0; b < std::min(blocks, all); ++b) owners.push_back(static_cast<int>((from + b) % all));
    return owners;
  }
  void check(const char* call, std::uint64_t first, std::uint64_t count) const {
    if (number_ != 0 && places_ != static_cast<std::uint64_t>(kith::places())) {
      throw error(std::string("distributed_array::") + call + "(): made with " + std::to_string(places_) +
                  " places, and now there are " + std::to_string(kith::places()) +
                  "; an array cannot be used after its place_runtime");
    }
    if (first > size_ || count > size_ - first) {
      throw error(std::string("distributed_array::") + call + "(): elements from " + std::to_string(first) + ", " +
                  std::to_string(count) + " of them; the array has " + std::to_string(size_));
    }
  }

  std::uint64_t number_ = 0, size_ = 0, block_ = 1, places_ = 1;
};

}  // namespace kith
