// Divides items 0..n-1 into blocks of neighbours. For the programs of this folder.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith::apps {

struct blocks {
  std::int64_t items;
  std::int64_t each;  // items in a block; the last one may have fewer

  std::int64_t count() const noexcept { return (items + each - 1) / each; }
  std::int64_t begin(std::int64_t b) const noexcept { return b * each; }
  std::int64_t end(std::int64_t b) const noexcept { return std::min(items, (b + 1) * each); }
  std::int64_t size(std::int64_t b) const noexcept { return end(b) - begin(b); }
};

}  // namespace kith::apps
