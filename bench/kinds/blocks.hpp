// The parts of all kinds of programs: data that is never touched, and tasks without bodies.
#pragma once

#include <kith/kith.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace kith::bench {

using index = std::int64_t;

struct give_back {
  void operator()(char* p) const noexcept {
    kith::wait();  // tasks name it until they end
    kith::deallocate(p);
  }
};

/// Blocks that do not share pages. No page is ever touched.
class blocks {
 public:
  blocks(index count, index bytes)
      : bytes_(static_cast<std::size_t>(std::max<index>(bytes, 1))),
        stride_((bytes_ + 4095) / 4096 * 4096),
        data_(static_cast<char*>(kith::allocate(static_cast<std::size_t>(count) * stride_))) {}

  auto in(index b) const { return kith::in(at(b), bytes_); }
  auto out(index b) const { return kith::out(at(b), bytes_); }
  auto inout(index b) const { return kith::inout(at(b), bytes_); }
  auto commutative(index b) const { return kith::commutative(at(b), bytes_); }
  auto concurrent(index b) const { return kith::concurrent(at(b), bytes_); }
  /// Share k of a block that is cut into `of` equal ones.
  auto in(index b, index k, index of) const { return kith::in(at(b) + k * share(of), share_bytes(of)); }
  auto out(index b, index k, index of) const { return kith::out(at(b) + k * share(of), share_bytes(of)); }
  char* at(index b) const { return data_.get() + static_cast<std::size_t>(b) * stride_; }
  double bytes() const { return static_cast<double>(bytes_); }

 private:
  index share(index of) const { return static_cast<index>(bytes_) / of; }
  std::size_t share_bytes(index of) const { return static_cast<std::size_t>(share(of)); }

  std::size_t bytes_, stride_;
  std::unique_ptr<char[], give_back> data_;
};

/// A grid of blocks by row and column.
class grid : public blocks {
 public:
  grid(index side, index bytes) : blocks(side * side, bytes), side_(side) {}
  auto in(index i, index j) const { return blocks::in(i * side_ + j); }
  auto out(index i, index j) const { return blocks::out(i * side_ + j); }
  auto inout(index i, index j) const { return blocks::inout(i * side_ + j); }
  auto commutative(index i, index j) const { return blocks::commutative(i * side_ + j); }

 private:
  index side_;
};

inline kith::task_type type_of(const char* name) {
  static std::map<std::string, kith::task_type> all;
  return all.try_emplace(name, name).first->second;
}
/// Spawns a task with these accesses and `nanoseconds` of work.
template <class... Accesses>
void task(const char* type, double nanoseconds, const Accesses&... accesses) {
  const auto body = [](auto&&...) {};
  kith::spawn(body, type_of(type), kith::work{nanoseconds}, accesses...);
}
/// The same, with accesses that were put into a list.
inline void task(const char* type, double nanoseconds, const kith::access_list& accesses) {
  kith::spawn([] {}, type_of(type), kith::work{nanoseconds}, accesses);
}

}  // namespace kith::bench
