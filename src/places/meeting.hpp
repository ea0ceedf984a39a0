// Collectives between threads: the places of one process meet, and the last to arrive computes the result for all.
#pragma once

#include "places/transport.hpp"

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace kith::distributed {

/// All members may be called by any thread.
class meeting_room {
 public:
  explicit meeting_room(int places) : places_(static_cast<std::size_t>(places)), ended_(0) {}

  /// `place` joins collective `number`. True if it is the last place: then that collective and all before it have
  /// ended. Throws kith::error if the collective differs from that of the others; from then on every call throws.
  bool join(std::uint64_t number, int place, const collective& c);
  /// The number of collectives that have ended. If it is still `known`, throws as join() does.
  std::uint64_t ended(std::uint64_t known) const;

 private:
  struct step {
    std::vector<collective> contributions;  // by place
    std::size_t came = 0;
  };
  void refuse_if_broken() const;

  mutable std::mutex guard_;
  std::string broken_;  // why every call throws; empty: none does
  std::size_t places_;
  std::uint64_t ended_;
  std::unordered_map<std::uint64_t, step> open_;
};

}  // namespace kith::distributed
