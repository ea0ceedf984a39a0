// Copies of other places' elements that a place keeps for the tasks of a data_flow. For data_flow.hpp.
#pragma once

#include <kith/distributed_array.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

/// Sends an activity, as place_ref::spawn(), but does not wait until its place has accepted it. Its failure goes to
/// `result`, or to the finish if that is null. Throws place_lost.
void send_activity(int place, const remote_function& f, packed_arguments message,
                   std::shared_ptr<remote_result> result);

/// Calls `F(args...)` at a place by send_activity(), on its progress thread; the arguments are copied. If it cannot be
/// sent, the result has that as its failure, so that a caller that asks several places can wait for all of them.
template <auto F, class... Args>
std::shared_ptr<remote_result> ask_place(int place, const Args&... args) {
  using known = registered<progress_function<F>>;
  auto result = std::make_shared<remote_result>();
  try {
    detail::send_activity(place, known::entry, known::call::pack(header_bytes, args...), result);
  } catch (...) {
    result->failure = std::current_exception();
    result->complete();
  }
  return result;
}

/// The access of data_flow to the parts of an array.
struct array_internals {
  template <class T>
  static std::uint64_t number(const distributed_array<T>& a) noexcept {
    return a.number_;
  }
  template <class T>
  static void check(const distributed_array<T>& a) {
    if (a.number_ == 0) throw error("data_flow::spawn(): an access to no array; expected one that make() returned");
    a.check("range", 0, 0);
  }
  template <class T>
  static std::vector<int> owners_of(const distributed_array<T>& a, std::uint64_t first, std::uint64_t count) {
    return a.owners_of(first, count);
  }
  /// How many of these elements a place has.
  template <class T>
  static std::uint64_t count_at(const distributed_array<T>& a, int place, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t round = a.block_ * a.places_, begin = static_cast<std::uint64_t>(place) * a.block_;
    const auto before = [&](std::uint64_t i) {
      const std::uint64_t rest = i % round;
      return i / round * a.block_ + (rest <= begin ? 0 : std::min(a.block_, rest - begin));
    };
    return before(first + count) - before(first);
  }
  /// These elements, if this place has them in a row; else nothing.
  template <class T>
  static std::span<T> in_a_row(const distributed_array<T>& a, std::uint64_t first, std::uint64_t count) {
    if (count == 0 || count_at(a, here(), first, count) != count) return {};
    const std::uint64_t at = a.position_of(first);
    if (a.position_of(first + count - 1) - at != count - 1) return {};
    return a.local().subspan(at, count);
  }
  template <class T>
  static std::shared_ptr<remote_result> ask(const distributed_array<T>& a, int place, std::uint64_t first,
                                            std::uint64_t count) {
    return detail::ask_place<&distributed_array<T>::read_share>(place, a, place, first, count);
  }
  template <class T>
  static std::shared_ptr<remote_result> tell(const distributed_array<T>& a, int place, std::uint64_t first,
                                             std::span<const T> values) {
    constexpr auto write = &distributed_array<T>::write_share;
    const std::uint64_t count = values.size();
    std::vector<T> gathered;
    return detail::ask_place<write>(place, a, place, first, count, a.part_of(place, first, values, gathered));
  }
  template <class T>
  static void scatter_part(const distributed_array<T>& a, int place, std::uint64_t first, std::span<const T> part,
                           std::span<T> values) {
    a.scatter_part(place, first, part, values);
  }
  /// The result of read_share(). Throws its failure.
  template <class T>
  static std::vector<T> value_of(const remote_result& r) {
    if (r.failure) std::rethrow_exception(r.failure);
    input_archive from(std::span<const std::byte>(r.value).subspan(header_bytes));
    return detail::get<std::vector<T>>(from);
  }
};

/// A copy of a range that has elements of other places. It is complete when all `parts` have ended.
template <class T>
class range_copy {
 public:
  /// Asks the places for their elements.
  range_copy(const distributed_array<T>& a, std::uint64_t first, std::uint64_t count)
      : array_(a), first_(first), count_(count), owners_(array_internals::owners_of(a, first, count)) {
    for (const int p : owners_) parts_.push_back(array_internals::ask(a, p, first, count));
  }
  range_copy(const distributed_array<T>& a, std::uint64_t first, std::vector<T> values)
      : array_(a), first_(first), count_(values.size()), values_(std::move(values)), whole_(true) {}

  const std::vector<std::shared_ptr<remote_result>>& parts() const noexcept { return parts_; }
  /// Thread-safe. REQUIRES: all parts have ended. Throws what one of them has thrown.
  std::span<const T> values() {
    const std::lock_guard lock(guard_);
    if (!whole_) {
      if (owners_.size() == 1) {
        values_ = array_internals::value_of<T>(*parts_.front());
      } else {
        values_.resize(count_);
        for (std::size_t k = 0; k < owners_.size(); ++k) {
          const std::vector<T> part = array_internals::value_of<T>(*parts_[k]);
          array_internals::scatter_part<T>(array_, owners_[k], first_, part, values_);
        }
      }
      for (const auto& p : parts_) byte_buffer().swap(p->value);
      whole_ = true;
    }
    return values_;
  }

 private:
  const distributed_array<T> array_;
  const std::uint64_t first_, count_;
  std::vector<int> owners_;
  std::vector<std::shared_ptr<remote_result>> parts_;
  std::mutex guard_;
  std::vector<T> values_;
  bool whole_ = false;
};

/// The copies of one place. Thread-safe.
class flow_cache {
 public:
  /// A data_flow, and the number of an array, an element, and a number of elements.
  using key = std::array<std::uint64_t, 4>;

  /// The copy of this version, of size `bytes`: the one that is kept, or the result of `make`, which is then kept.
  template <class Copy, class Make>
  std::shared_ptr<Copy> find_or_make(const key& k, std::uint64_t version, std::size_t bytes, std::uint64_t most,
                                     const Make& make) {
    const std::lock_guard lock(guard_);
    if (const auto at = kept_.find(k); at != kept_.end() && at->second.version == version) {
      ages_.splice(ages_.end(), ages_, at->second.age);
      return std::static_pointer_cast<Copy>(at->second.copy);
    }
    std::shared_ptr<Copy> made = make();
    keep(k, {version, bytes, made, {}}, most);
    return made;
  }
  void put(const key& k, std::uint64_t version, std::size_t bytes, std::uint64_t most, std::shared_ptr<void> copy) {
    const std::lock_guard lock(guard_);
    keep(k, {version, bytes, std::move(copy), {}}, most);
  }
  /// Drops the copies of a data_flow.
  void drop(std::uint64_t flow) {
    const std::lock_guard lock(guard_);
    for (auto at = kept_.lower_bound({flow, 0, 0, 0}); at != kept_.end() && at->first[0] == flow;) at = remove(at);
  }

 private:
  struct entry {
    std::uint64_t version = 0;
    std::size_t bytes = 0;
    std::shared_ptr<void> copy;  // the number of the array says of which type
    std::list<key>::iterator age;
  };
  using entries = std::map<key, entry>;

  entries::iterator remove(entries::iterator at) {
    bytes_ -= at->second.bytes;
    ages_.erase(at->second.age);
    return kept_.erase(at);
  }
  void keep(const key& k, entry e, std::uint64_t most) {
    if (const auto old = kept_.find(k); old != kept_.end()) {
      if (old->second.version > e.version) return;
      remove(old);
    }
    if (e.bytes > most) return;
    const std::size_t bytes = e.bytes;
    const auto at = kept_.emplace(k, std::move(e)).first;
    try {
      at->second.age = ages_.insert(ages_.end(), k);
    } catch (...) {
      kept_.erase(at);
      throw;
    }
    bytes_ += bytes;
    while (bytes_ > most) remove(kept_.find(ages_.front()));  // tasks that use a copy share its ownership
  }

  std::mutex guard_;
  entries kept_;
  std::list<key> ages_;  // the one that was not used for the longest time first
  std::size_t bytes_ = 0;
};

/// The cache of each place.
place_local<flow_cache>& flow_caches();

}  // namespace kith::detail
