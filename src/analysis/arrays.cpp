#include "analysis/arrays.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace kith::analysis {

std::vector<block_array> arrays_of(const recording& r) {
  std::vector<std::uint64_t> written(r.regions.size());
  for (const recorded_access& a : r.accesses) {
    if (static_cast<mode>(a.mode) != mode::in) written[a.region] += a.bytes;
  }
  std::vector<std::uint32_t> order(r.regions.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::tuple(r.regions[i].address, i); });
  std::vector<block_array> all;
  std::uint64_t step = 0;  // from block to block of the last array
  block_array everything;
  for (const std::uint32_t i : order) {
    const recorded_region& now = r.regions[i];
    bool joins = false;
    if (!all.empty()) {
      const recorded_region& last = r.regions[all.back().regions.back()];
      const std::uint64_t distance = now.address - last.address;
      // Within a page or a quarter of a block; a larger gap has other data in it.
      const bool near =
          distance >= last.bytes && distance - last.bytes <= std::max<std::uint64_t>(4096, last.bytes / 4);
      joins = now.bytes == last.bytes && near && (all.back().regions.size() == 1 || distance == step);
      if (joins) step = distance;
    }
    if (!joins) all.emplace_back().block_bytes = now.bytes;
    for (block_array* a : {&all.back(), &everything}) {
      a->regions.push_back(i);
      a->bytes += now.bytes;
      a->written += written[i];
    }
  }
  std::ranges::sort(all, [&](const block_array& a, const block_array& b) {
    return std::tuple(b.bytes, b.written, r.regions[a.regions.front()].address) <
           std::tuple(a.bytes, a.written, r.regions[b.regions.front()].address);
  });
  if (!all.empty() && all.front().bytes * 2 < everything.bytes) {
    const bool equal = std::ranges::all_of(
        everything.regions, [&](std::uint32_t i) { return r.regions[i].bytes == r.regions[order.front()].bytes; });
    everything.block_bytes = equal ? r.regions[order.front()].bytes : 0;
    all.insert(all.begin(), std::move(everything));
  }
  return all;
}

std::vector<std::int32_t> indices_in(const recording& r, const block_array& a) {
  std::vector<std::int32_t> index(r.regions.size(), -1);
  for (std::size_t i = 0; i < a.regions.size(); ++i) index[a.regions[i]] = static_cast<std::int32_t>(i);
  return index;
}

}  // namespace kith::analysis
