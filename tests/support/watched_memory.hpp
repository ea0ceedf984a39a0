// Memory that keeps track of which of its pieces are in use.
#pragma once

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

namespace kith::test {

/// Any thread may use it; ask for its pieces only while no thread does.
class watched_memory final : public std::pmr::memory_resource {
 public:
  explicit watched_memory(std::pmr::memory_resource* from) : from_(from) {}

  /// The bytes of each piece, by address.
  const std::map<const std::byte*, std::size_t>& pieces() const { return pieces_; }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [at, bytes] : pieces_) sum += bytes;
    return sum;
  }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const p = from_->allocate(bytes, alignment);
    const std::lock_guard lock(guard_);
    pieces_.emplace(static_cast<const std::byte*>(p), bytes);
    return p;
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    {
      const std::lock_guard lock(guard_);
      pieces_.erase(static_cast<const std::byte*>(p));
    }
    from_->deallocate(p, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource* from_;
  std::mutex guard_;
  std::map<const std::byte*, std::size_t> pieces_;
};

}  // namespace kith::test
