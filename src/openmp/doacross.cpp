#include "openmp/doacross.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace kith::openmp {

namespace {

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t few_chunks = 1024;  // as many may have a line each

/// A number that does not fit stands for an iteration that no run can reach.
std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? no_end : result;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? no_end : result;
}

}  // namespace

doacross::doacross(const loop_plan& plan, std::uint64_t members, const std::uint64_t* counts, std::size_t loops)
    : unit_(plan.chunk), inner_(loops, 1) {
  const std::uint64_t count = plan.space.count;
  std::uint64_t chunks = 0;
  if (plan.schedule == schedule_kind::guided) {
    unit_ = 1;  // where its chunks begin depends on the run
    chunks = count;
  } else if (unit_ == 0) {
    unit_ = count / members;
    larger_ = count % members;
    chunks = members;
  } else {
    chunks = count / unit_ + 1;
  }
  for (std::size_t i = loops - 1; i > 0; --i) inner_[i - 1] = product(inner_[i], counts[i]);
  if (chunks <= few_chunks) stride_ = false_sharing_range / sizeof(atomic<std::uint64_t>);
  // Zeroed pages that no chunk touches cost no memory.
  void* const zeroed = std::calloc(product(std::max<std::uint64_t>(chunks, 1), stride_), sizeof(std::uint64_t));
  if (zeroed == nullptr) throw std::bad_alloc();
  progress_.reset(static_cast<atomic<std::uint64_t>*>(zeroed));
}

void doacross::frees::operator()(atomic<std::uint64_t>* numbers) const noexcept { std::free(numbers); }

doacross::place doacross::find(const std::uint64_t* at) const noexcept {
  const std::uint64_t in_larger = larger_ * (unit_ + 1);
  const bool larger = at[0] < in_larger;
  const std::uint64_t length = larger ? unit_ + 1 : unit_, behind = larger ? 0 : in_larger;
  const std::uint64_t chunk = (at[0] - behind) / length;
  std::uint64_t before = product((at[0] - behind) % length, inner_[0]);
  for (std::size_t i = 1; i < inner_.size(); ++i) before = sum(before, product(at[i], inner_[i]));
  return {&progress_[(larger ? chunk : chunk + larger_) * stride_], sum(before, 1)};
}

void doacross::post(const std::uint64_t* at) noexcept {
  const place reached = find(at);
  reached.progress->store(reached.needed, release);  // pairs with the loads of those that wait
}

}  // namespace kith::openmp
