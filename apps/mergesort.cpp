// mergesort: sorts numbers by halves, and merges the sorted halves by halves, too.
//
// A join for the two halves of a range, and in a merge for what comes before and after the middle of the longer
// half. As cilksort and `sort` of BOTS, which split in four. Property checked:
//  M1  the result equals what std::sort makes of the same numbers.
#include "hash.hpp"
#include "list.hpp"

#include <algorithm>

namespace kith::apps {

namespace {

constexpr parameter mergesort_parameters[] = {
    {"size", "8388608", "100000", "numbers"},
    {"alone", "4096", "1000", "numbers that are sorted or merged without a join"},
};

using number = std::int64_t;
using range = std::span<number>;

void merge_joined(range a, range b, number* to, std::size_t alone) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a.size() + b.size() <= std::max<std::size_t>(alone, 2) || b.empty()) {
    std::merge(a.begin(), a.end(), b.begin(), b.end(), to);
    return;
  }
  const std::size_t middle = a.size() / 2;
  const auto below = static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[middle]) - b.begin());
  join([=] { merge_joined(a.first(middle), b.first(below), to, alone); },
       [=] { merge_joined(a.subspan(middle), b.subspan(below), to + middle + below, alone); });
}

/// Sorts `data`, into `other` if `into_other`; both have the same length.
void sort_joined(range data, range other, bool into_other, std::size_t alone) {
  if (data.size() <= alone) {
    std::sort(data.begin(), data.end());
    if (into_other) std::copy(data.begin(), data.end(), other.begin());
    return;
  }
  const std::size_t middle = data.size() / 2;
  join([=] { sort_joined(data.first(middle), other.first(middle), !into_other, alone); },
       [=] { sort_joined(data.subspan(middle), other.subspan(middle), !into_other, alone); });
  const range from = into_other ? data : other, to = into_other ? other : data;
  merge_joined(from.first(middle), from.subspan(middle), to.data(), alone);
}

class mergesort final : public app {
 public:
  explicit mergesort(const arguments& a)
      : alone_(static_cast<std::size_t>(a.number("alone", 1, std::int64_t{1} << 40))),
        seed_(a.seed()),
        data_(static_cast<std::size_t>(a.number("size", 1, std::int64_t{1} << 34))),
        other_(data_.size()) {}

  void prepare(const target& where) override {
    where.on.run([&] {
      parallel_for(0, static_cast<std::int64_t>(data_.size()),
                   [&](std::int64_t i) { data_[static_cast<std::size_t>(i)] = input(static_cast<std::uint64_t>(i)); });
    });
  }
  void solve(const target& where) override {
    static const task_type type{"mergesort"};
    where.on.run([&] { spawn([this] { sort_joined(data_, other_, false, alone_); }, type); });
  }
  verdict verify() override {
    if (sorted_.empty()) {
      sorted_.resize(data_.size());
      for (std::size_t i = 0; i < sorted_.size(); ++i) sorted_[i] = input(i);
      std::sort(sorted_.begin(), sorted_.end());
    }
    const auto [is, should] = std::mismatch(data_.begin(), data_.end(), sorted_.begin());
    if (is == data_.end()) return {true, std::to_string(data_.size()) + " numbers, as std::sort sorts them"};
    return {false, "number " + std::to_string(is - data_.begin()) + " is " + std::to_string(*is) + ", std::sort has " +
                       std::to_string(*should)};
  }
  std::uint64_t verifying_bytes() const override { return data_.size() * sizeof(number); }
  std::vector<figure> figures() const override {
    return {
        {"numbers", static_cast<std::int64_t>(data_.size())}, {"smallest", data_.front()}, {"largest", data_.back()}};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(data_)); }

 private:
  number input(std::uint64_t i) const noexcept { return static_cast<number>(hash(seed_, i) >> 1); }

  std::size_t alone_;
  std::uint64_t seed_;
  std::vector<number> data_, other_, sorted_;
};

}  // namespace

const entry mergesort_entry = {"mergesort", "BOTS", "sorts and merges by halves: joins with uneven work",
                               mergesort_parameters, make<mergesort>};

}  // namespace kith::apps
