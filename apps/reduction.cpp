// reduction: the sum of a large array, in a binary tree with a leaf for each block and an inner task for
// each pair of sums.
//
// MIR paper's pattern programs (256 MB and a tree of depth 10; the array is one allocation in fine
// distribution). The expert placement gives each node an equal share of neighbouring blocks, and an inner
// task the node of its left half. Property checked:
//  R1  the sum equals that of a serial program that adds in order. The values are integers, so it is equal
//      to the last digit.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"

#include <string>

namespace kith::apps {

namespace {

constexpr parameter reduction_parameters[] = {
    {"size", "4194304", "262144", "elements", "67108864"},
    {"depth", "7", "5", "of the tree: 2 to this power are its leaves", "10"},
    {"iterations", "4", "2", "sums, one after the other"},
    {"sweeps", "1", "1", "of a leaf over its block, which it adds as often"},
    {"joined", flag, flag, "each sum ends before the next one begins, as in the paper"},
};

class reduction final : public app {
 public:
  explicit reduction(const arguments& a)
      : depth_(a.number("depth", 0, 20)),
        each_((a.number("size", 1, std::int64_t{1} << 34) + leaves() - 1) / leaves()),
        rounds_(a.number("iterations", 1, 1 << 20)),
        sweeps_(a.number("sweeps", 1, 1 << 20)),
        joined_(a.on("joined")),
        seed_(a.seed()),
        data_(leaves(), each_),
        sums_(2 * leaves(), 1) {}

  void prepare(const target& where) override {
    static const task_type type{"reduction_initial"};
    where.on.run([&] {
      for (std::int64_t b = 0; b < leaves(); ++b) {
        const auto body = [this, b] {
          for (std::int64_t e = 0; e < each_; ++e) data_[b][e] = value(b * each_ + e);
        };
        spawn(body, type, where.of(b, leaves()), data_.out(b), sums_.out(leaves() + b), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type leaf{"reduction_leaf"}, inner{"reduction_inner"};
    const work cost = work_of(static_cast<double>(each_ * sweeps_), rate::streamed);
    where.on.run([&] {
      for (std::int64_t round = 0; round < rounds_; ++round) {
        for (std::int64_t b = 0; b < leaves(); ++b) {
          const auto body = [this, b] {
            std::int64_t sum = 0;
            for (std::int64_t s = 0; s < sweeps_; ++s) {
              for (std::int64_t e = 0; e < each_; ++e) sum += data_[b][e];
            }
            *sums_[leaves() + b] = sum;
          };
          spawn(body, leaf, where.of(b, leaves()), data_.in(b), sums_.out(leaves() + b), cost);
        }
        // Numbered as a heap: the root is 1, the halves of s are 2s and 2s + 1, the leaves come last.
        for (std::int64_t s = leaves() - 1; s >= 1; --s) {
          spawn([this, s] { *sums_[s] = *sums_[2 * s] + *sums_[2 * s + 1]; }, inner, left_end(where, s),
                sums_.in(2 * s), sums_.in(2 * s + 1), sums_.out(s), work_of(1, rate::chained));
        }
        if (joined_) wait();
      }
    });
  }

  verdict verify() override {
    std::int64_t expected = 0;
    for (std::int64_t e = 0; e < leaves() * each_; ++e) expected += value(e) * sweeps_;
    const std::int64_t got = *sums_[1];
    return {got == expected, "the sum is " + std::to_string(got) + ", serially " + std::to_string(expected)};
  }
  std::vector<figure> figures() const override {
    return {{"elements", leaves() * each_}, {"leaves", leaves()}, {"iterations", rounds_}, {"sum", *sums_[1]}};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(sums_[1], 1)); }

 private:
  std::int64_t leaves() const noexcept { return std::int64_t{1} << depth_; }
  std::int32_t value(std::int64_t e) const noexcept {
    return static_cast<std::int32_t>(hash(seed_, static_cast<std::uint64_t>(e)) % 1000);
  }
  node left_end(const target& where, std::int64_t s) const noexcept {
    while (s < leaves()) s *= 2;
    return where.of(s - leaves(), leaves());
  }

  std::int64_t depth_, each_, rounds_, sweeps_;
  bool joined_;
  std::uint64_t seed_;
  paged<std::int32_t> data_;  // a block for each leaf
  paged<std::int64_t> sums_;  // a block for each task of the tree; the first is not used
};

}  // namespace

const entry reduction_entry = {"reduction", "MIR", "the sum of a large array, in a binary tree", reduction_parameters,
                               make<reduction>};

}  // namespace kith::apps
