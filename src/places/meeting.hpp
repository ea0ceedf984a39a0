// Collectives between threads: the places of one process meet, and the last one computes for all.
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

  /// A place takes its step of that number. True if it was the last: then all have ended that far. Throws kith::error
  /// if this step is not what the others take; from then on all calls do.
  bool join(std::uint64_t number, int place, const collective& c);
  /// The steps that have ended. If these are no more than are known, throws as join().
  std::uint64_t ended(std::uint64_t known) const;

 private:
  struct step {
    std::vector<collective> parts;  // by place
    std::size_t came = 0;
  };
  void refuse_if_broken() const;

  mutable std::mutex guard_;
  std::string broken_;  // why it cannot be used any more
  std::size_t places_;
  std::uint64_t ended_;
  std::unordered_map<std::uint64_t, step> open_;
};

}  // namespace kith::distributed
