#include "places/meeting.hpp"

#include "places/reduce.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace kith::distributed {

bool meeting_room::join(std::uint64_t number, int place, const collective& c) {
  const std::lock_guard lock(guard_);
  refuse_if_broken();
  step& s = open_[number];
  if (s.came == 0) s.contributions.resize(places_);
  const auto same = [&c](const collective& o) {
    return o.what == c.what && o.element_type == c.element_type && o.root == c.root && o.bytes == c.bytes;
  };
  if (s.came != 0) {
    const auto other = std::ranges::find_if(s.contributions, [](const collective& o) { return o.data != nullptr; });
    if (!same(*other)) {
      broken_ = differing(number, place, static_cast<int>(other - s.contributions.begin()));
      refuse_if_broken();
    }
  }
  static std::byte nothing{};  // marks a place that has joined with no data
  s.contributions[static_cast<std::size_t>(place)] = c;
  if (c.data == nullptr) s.contributions[static_cast<std::size_t>(place)].data = &nothing;
  if (++s.came < places_) return false;
  if (c.what == collective::operation::broadcast) {
    for (collective& o : s.contributions) {
      if (o.data != s.contributions[static_cast<std::size_t>(c.root)].data)
        std::memcpy(o.data, s.contributions[static_cast<std::size_t>(c.root)].data, c.bytes);
    }
  } else if (c.what != collective::operation::barrier) {
    for (std::size_t p = 1; p < places_; ++p) reduce(s.contributions[0], s.contributions[p].data);
    for (std::size_t p = 1; p < places_; ++p) std::memcpy(s.contributions[p].data, s.contributions[0].data, c.bytes);
  }
  open_.erase(number);
  ended_ = number + 1;
  return true;
}

std::uint64_t meeting_room::ended(std::uint64_t known) const {
  const std::lock_guard lock(guard_);
  if (ended_ == known) refuse_if_broken();
  return ended_;
}

void meeting_room::refuse_if_broken() const {
  if (!broken_.empty()) throw error(broken_);
}

}  // namespace kith::distributed
