#include "task/region.hpp"

#include "base/rng.hpp"

#include <kith/error.hpp>

namespace kith {

// Index 0 means no region; the entry exists so that an access without a region can be read like any other.
region_table::region_table() : chunks_(new atomic<region*>[chunks]()) {
  chunks_[0].store(new region[chunk_size], relaxed);
  chunks_[0].load(relaxed)->home.store(region::several_homes, relaxed);  // so that it is never placed
}

region_table::~region_table() {
  for (std::uint32_t c = 0; c < chunks; ++c) delete[] chunks_[c].load(relaxed);
}

std::uint32_t region_table::make(const void* address, std::uint64_t bytes) {
  const std::uint32_t index = add(address, bytes);
  if (settle_) settle_((*this)[index]);
  return index;
}

std::uint32_t region_table::add(const void* address, std::uint64_t bytes) {
  std::lock_guard lock(growing_);
  std::vector<std::uint32_t>& here = beginning_in_[reinterpret_cast<std::uintptr_t>(address) >> stretch_bits];
  here.push_back(used_);
  try {
    return append(address, bytes);
  } catch (...) {
    here.pop_back();
    throw;
  }
}

std::uint32_t region_table::append(const void* address, std::uint64_t bytes) {
  const std::uint32_t index = used_;
  if (index / chunk_size >= chunks) throw error("more than 2^26 regions in one runtime", error_kind::resources);
  atomic<region*>& chunk = chunks_[index / chunk_size];
  if (chunk.load(relaxed) == nullptr) chunk.store(new region[chunk_size], release);  // pairs with operator[]
  region& r = (*this)[index];
  ++used_;
  r.address = address;
  r.bytes.store(bytes, relaxed);
  return index;
}

std::uint32_t region_table::find(const void* address, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  shard& s = shards_[mix(reinterpret_cast<std::uintptr_t>(address)) % shards];
  std::lock_guard lock(s.guard);
  auto [at, fresh] = s.index_of.try_emplace(address, 0);
  if (fresh) {
    try {
      at->second = make(address, bytes);
    } catch (...) {
      s.index_of.erase(at);
      throw;
    }
  } else if (region& r = (*this)[at->second]; bytes > r.bytes.load(relaxed)) {
    r.bytes.store(bytes, relaxed);
    if (settle_) settle_(r);
  }
  return at->second;
}

}  // namespace kith
