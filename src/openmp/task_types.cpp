#include "openmp/task_types.hpp"

#include "base/atomic.hpp"
#include "base/spin_mutex.hpp"
#include "openmp/symbols.hpp"

#include <kith/error.hpp>
#include <kith/options.hpp>

#include <array>
#include <cstddef>
#include <mutex>

namespace kith::openmp {

namespace {

/// A table with open addressing. Entries are never removed, so reading needs no lock.
class types_by_body {
 public:
  std::uint16_t find(const body_code& body) {
    const std::uintptr_t key = body.address;
    std::size_t at = slot_of(key);
    for (std::size_t looks = 0; looks < most; ++looks, at = (at + 1) % size) {
      const std::uintptr_t there = entries_[at].body.load(acquire);  // pairs with the store in add()
      if (there == key) return entries_[at].type;
      if (there == 0) return add(body);
    }
    return 0;
  }

 private:
  struct entry {
    atomic<std::uintptr_t> body{0};
    std::uint16_t type = 0;
  };
  static constexpr std::size_t size = 4096, most = size / 2;

  static std::size_t slot_of(std::uintptr_t key) noexcept { return key * 0x9e3779b97f4a7c15 >> 52; }

  std::uint16_t add(const body_code& body) {
    const std::uintptr_t key = body.address;
    const std::lock_guard guard(adding_);
    std::size_t at = slot_of(key);
    for (;; at = (at + 1) % size) {
      const std::uintptr_t there = entries_[at].body.load(relaxed);
      if (there == 0) break;
      if (there == key) return entries_[at].type;
    }
    if (count_ == most) return 0;
    ++count_;
    entries_[at].type = make(body);
    entries_[at].body.store(key, release);
    return entries_[at].type;
  }
  static std::uint16_t make(const body_code& body) {
    try {
      const std::string name = body.name != nullptr ? body.name(body) : symbol_at(body.address);
      return task_type(name.c_str()).number();
    } catch (const error&) {  // the process has as many types as it may have
      return 0;
    }
  }

  std::array<entry, size> entries_;
  spin_mutex adding_;
  std::size_t count_ = 0;
};

constinit types_by_body types;

}  // namespace

std::uint16_t type_of(const body_code& body) { return types.find(body); }

}  // namespace kith::openmp
