#include "places/meeting.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace kith::distributed {

namespace {

template <class T>
void combine(collective& into, const collective& from) {
  for (std::size_t i = 0; i < into.count; ++i) {
    T a, b;
    std::memcpy(&a, into.data + i * sizeof(T), sizeof a);
    std::memcpy(&b, from.data + i * sizeof(T), sizeof b);
    switch (into.what) {
      case collective::operation::sum: a = static_cast<T>(a + b); break;
      case collective::operation::least: a = std::min(a, b); break;
      case collective::operation::largest: a = std::max(a, b); break;
      case collective::operation::barrier:
      case collective::operation::broadcast: break;
    }
    std::memcpy(into.data + i * sizeof(T), &a, sizeof a);
  }
}

void combine(collective& into, const collective& from) {
  switch (into.element_type) {
    case collective::element::byte: break;
    case collective::element::i32: return combine<std::int32_t>(into, from);
    case collective::element::u32: return combine<std::uint32_t>(into, from);
    case collective::element::i64: return combine<std::int64_t>(into, from);
    case collective::element::u64: return combine<std::uint64_t>(into, from);
    case collective::element::f32: return combine<float>(into, from);
    case collective::element::f64: return combine<double>(into, from);
  }
}

}  // namespace

bool meeting_room::join(std::uint64_t number, int place, const collective& c) {
  const std::lock_guard lock(guard_);
  refuse_if_broken();
  step& s = open_[number];
  if (s.came == 0) s.parts.resize(places_);
  const auto same = [&c](const collective& o) {
    return o.what == c.what && o.element_type == c.element_type && o.root == c.root && o.bytes == c.bytes;
  };
  if (s.came != 0) {
    const auto other = std::ranges::find_if(s.parts, [](const collective& o) { return o.data != nullptr; });
    if (!same(*other)) {
      broken_ = "collective " + std::to_string(number) + " of place " + std::to_string(place) +
                " differs from that of place " + std::to_string(other - s.parts.begin()) +
                "; expected the same operations, types and sizes in the same order at all places";
      refuse_if_broken();
    }
  }
  static std::byte nothing{};  // so that a step without data shows who came
  s.parts[static_cast<std::size_t>(place)] = c;
  if (c.data == nullptr) s.parts[static_cast<std::size_t>(place)].data = &nothing;
  if (++s.came < places_) return false;
  if (c.what == collective::operation::broadcast) {
    for (collective& o : s.parts) {
      if (o.data != s.parts[static_cast<std::size_t>(c.root)].data)
        std::memcpy(o.data, s.parts[static_cast<std::size_t>(c.root)].data, c.bytes);
    }
  } else if (c.what != collective::operation::barrier) {
    for (std::size_t p = 1; p < places_; ++p) combine(s.parts[0], s.parts[p]);
    for (std::size_t p = 1; p < places_; ++p) std::memcpy(s.parts[p].data, s.parts[0].data, c.bytes);
  }
  open_.erase(number);
  ended_ = number + 1;
  return true;
}

std::uint64_t meeting_room::ended() const {
  const std::lock_guard lock(guard_);
  refuse_if_broken();
  return ended_;
}

void meeting_room::refuse_if_broken() const {
  if (!broken_.empty()) throw error(broken_);
}

}  // namespace kith::distributed
