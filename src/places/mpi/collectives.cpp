#include "places/mpi/collectives.hpp"

#include "places/reduce.hpp"

#include <kith/error.hpp>

#include <array>
#include <cstring>
#include <utility>

namespace kith::distributed::mpi {

namespace {

/// In one number what must be the same at all places: operation, type, root and size.
std::uint64_t number_of(const collective& c) {
  return static_cast<std::uint64_t>(c.what) | static_cast<std::uint64_t>(c.element_type) << 3 |
         static_cast<std::uint64_t>(c.root) << 6 | std::uint64_t{c.bytes} << 30;
}

}  // namespace

/// A place's description of its collective; after the reduction, the combination of all places' descriptions.
struct collectives::block {
  static constexpr std::size_t data_bytes = 96;

  std::uint64_t least = 0, largest = 0;  // number_of() the collectives
  std::int32_t place_of_least = 0, place_of_largest = 0;
  std::uint32_t count = 0;  // elements in `data`
  collective::operation what = collective::operation::barrier;
  collective::element element_type = collective::element::byte;
  bool has_data = false;  // of a broadcast: it is the root's
  std::array<std::byte, data_bytes> data = {};

  void add(const block& other) {
    const bool same = least == other.least && largest == other.largest;
    if (std::pair(other.least, other.place_of_least) < std::pair(least, place_of_least)) {
      least = other.least;
      place_of_least = other.place_of_least;
    }
    if (other.largest > largest || (other.largest == largest && other.place_of_largest < place_of_largest)) {
      largest = other.largest;
      place_of_largest = other.place_of_largest;
    }
    if (!same || count != other.count) return;
    if (what == collective::operation::broadcast) {
      if (other.has_data) data = other.data;
      has_data = has_data || other.has_data;
    } else {
      reduce({.what = what, .element_type = element_type, .count = count, .data = data.data()}, other.data.data());
    }
  }
};

collectives::collectives(MPI_Comm job, int here) : here_(here) {
  static_assert(sizeof(block) == 128);
  for (MPI_Comm* own : {&blocks_job_, &large_job_}) {
    MPI_Comm_dup(job, own);
    MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
  }
  MPI_Type_contiguous(sizeof(block), MPI_BYTE, &block_type_);
  MPI_Type_commit(&block_type_);
  MPI_Op_create(&combine, 1, &combine_blocks_);
}

collectives::~collectives() {
  if (!open_.empty()) keep(std::move(open_));
  if (abandoned_) return;
  MPI_Op_free(&combine_blocks_);
  MPI_Type_free(&block_type_);
  MPI_Comm_free(&large_job_);
  MPI_Comm_free(&blocks_job_);
}

void collectives::combine(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) {
    block a, b;
    std::memcpy(&a, static_cast<std::byte*>(into) + static_cast<std::size_t>(i) * sizeof a, sizeof a);
    std::memcpy(&b, static_cast<std::byte*>(from) + static_cast<std::size_t>(i) * sizeof b, sizeof b);
    a.add(b);
    std::memcpy(static_cast<std::byte*>(into) + static_cast<std::size_t>(i) * sizeof a, &a, sizeof a);
  }
}

int collectives::start(const collective& c) {
  refuse_if_broken();
  auto said = std::make_unique<block>();
  said->least = said->largest = number_of(c);
  said->place_of_least = said->place_of_largest = here_;
  said->what = c.what;
  said->element_type = c.element_type;
  if (c.bytes <= block::data_bytes) {
    said->count = static_cast<std::uint32_t>(c.count);
    said->has_data = c.root == here_;
    if (c.bytes != 0) std::memcpy(said->data.data(), c.data, c.bytes);
  }
  started& s = open_.emplace_back(started{c, std::move(said)});
  return MPI_Iallreduce(MPI_IN_PLACE, s.said.get(), 1, block_type_, combine_blocks_, blocks_job_, &s.request);
}

int collectives::start_large(started& s) const {
  const MPI_Datatype types[] = {MPI_BYTE, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_FLOAT, MPI_DOUBLE};
  const collective& c = s.what;
  const auto count = static_cast<int>(c.count);
  const MPI_Datatype type = types[static_cast<std::size_t>(c.element_type)];
  const auto reduce_by = [&](MPI_Op op) {
    return MPI_Iallreduce(MPI_IN_PLACE, c.data, count, type, op, large_job_, &s.request);
  };
  switch (c.what) {
    case collective::operation::barrier: break;
    case collective::operation::broadcast: return MPI_Ibcast(c.data, count, type, c.root, large_job_, &s.request);
    case collective::operation::sum: return reduce_by(MPI_SUM);
    case collective::operation::least: return reduce_by(MPI_MIN);
    case collective::operation::largest: return reduce_by(MPI_MAX);
  }
  return MPI_SUCCESS;
}

void collectives::refuse_if_broken() const {
  if (!broken_.empty()) throw error(broken_);
}

int collectives::advance(bool& moved) {
  moved = false;
  if (!broken_.empty() || open_.empty()) return MPI_SUCCESS;
  started& s = open_.front();
  int done = 0;
  const int result = MPI_Test(&s.request, &done, MPI_STATUS_IGNORE);
  if (result != MPI_SUCCESS || done == 0) return result;
  if (s.said && s.said->least != s.said->largest) {
    broken_ = differing(ended_, s.said->place_of_largest, s.said->place_of_least);
    return MPI_SUCCESS;
  }
  moved = true;
  if (s.said) {
    const std::unique_ptr<block> said = std::move(s.said);
    if (s.what.bytes > block::data_bytes) return start_large(s);
    if (s.what.bytes != 0) std::memcpy(s.what.data, said->data.data(), s.what.bytes);
  }
  open_.pop_front();
  ++ended_;
  return MPI_SUCCESS;
}

}  // namespace kith::distributed::mpi
