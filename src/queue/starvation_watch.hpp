// Tells whether a worker starves, where a policy holds tasks back until no further ones seem to arrive.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>
#include <utility>

namespace kith {

/// The watch of one worker, which alone may use it.
class alignas(false_sharing_range) starvation_watch {
 public:
  /// Called after a search in vain. `added`: how many tasks were ever added. True after `most` calls with the same
  /// `added`; then counting begins again.
  bool starves(std::uint64_t added, std::uint32_t most) noexcept {
    if (std::exchange(added_, added) != added) failed_searches_ = 0;
    if (++failed_searches_ < most) return false;
    failed_searches_ = 0;
    return true;
  }

 private:
  std::uint64_t added_ = 0;
  std::uint32_t failed_searches_ = 0;
};

}  // namespace kith
