#include "openmp/posted_iterations.hpp"

#include "openmp/loop_plan.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace kith::openmp {

namespace {

constexpr std::uint64_t word_bits = 64;

std::uint64_t iterations_of(const posted_iterations::loop& l) noexcept {
  if (l.step > 0 ? l.first > l.last : l.first < l.last) return 0;
  return inclusive_count(static_cast<std::uint64_t>(l.first), static_cast<std::uint64_t>(l.last),
                         static_cast<std::uint64_t>(l.step), l.step > 0);
}

}  // namespace

posted_iterations::posted_iterations(std::vector<loop> nest) : nest_(std::move(nest)) {
  std::uint64_t all = 1;
  for (const loop& l : nest_) {
    counts_.push_back(iterations_of(l));
    if (__builtin_mul_overflow(all, counts_.back(), &all)) throw std::bad_alloc();
  }
  // Zeroed pages that nothing touches cost no memory.
  void* const zeroed = std::calloc(all / word_bits + 1, sizeof(std::uint64_t));
  if (zeroed == nullptr) throw std::bad_alloc();
  bits_.reset(static_cast<atomic<std::uint64_t>*>(zeroed));
}

void posted_iterations::frees::operator()(atomic<std::uint64_t>* bits) const noexcept { std::free(bits); }

std::optional<std::uint64_t> posted_iterations::find(const std::int64_t* at) const noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < nest_.size(); ++i) {
    const loop& l = nest_[i];
    if (l.step > 0 ? at[i] < l.first : at[i] > l.first) return {};
    const auto distance = static_cast<std::uint64_t>(at[i]) - static_cast<std::uint64_t>(l.first),
               step = static_cast<std::uint64_t>(l.step);
    const std::uint64_t here = l.step > 0 ? distance / step : (0 - distance) / (0 - step);
    if (here >= counts_[i]) return {};
    number = number * counts_[i] + here;
  }
  return number;
}

void posted_iterations::post(std::uint64_t iteration) noexcept {
  // release: pairs with is_posted().
  bits_[iteration / word_bits].fetch_or(std::uint64_t{1} << iteration % word_bits, release);
}

bool posted_iterations::is_posted(std::uint64_t iteration) const noexcept {
  return (bits_[iteration / word_bits].load(acquire) >> iteration % word_bits & 1) != 0;
}

}  // namespace kith::openmp
