// Objects that are reused and never freed, so that a late reader sees stale values, not freed memory.
//
// Each worker has a few spare objects. It puts surplus ones into a common store, and refills from there. Any
// worker may call, with its own id. Each T is made once, by its default constructor.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"

#include <deque>
#include <mutex>
#include <vector>

namespace kith {

template <class World, class T>
class recycler {
 public:
  explicit recycler(int workers) : spare_(static_cast<std::size_t>(workers)) {}

  [[nodiscard]] T& take(worker_id self) {
    std::vector<T*>& mine = spare_[self.index()].list;
    if (mine.empty()) refill(mine);
    T& one = *mine.back();
    mine.pop_back();
    return one;
  }
  void give(worker_id self, T& one) {
    std::vector<T*>& mine = spare_[self.index()].list;
    mine.push_back(&one);
    if (mine.size() > 2 * batch) drain(mine);
  }

 private:
  static constexpr std::size_t batch = 64;
  struct alignas(false_sharing_range) list_of {
    std::vector<T*> list;
  };

  void refill(std::vector<T*>& mine) {
    std::lock_guard lock(guard_);
    for (std::size_t i = 0; i < batch && !store_.empty(); ++i) {
      mine.push_back(store_.back());
      store_.pop_back();
    }
    while (mine.size() < batch) mine.push_back(&all_.emplace_back());
  }
  void drain(std::vector<T*>& mine) {
    std::lock_guard lock(guard_);
    store_.insert(store_.end(), mine.end() - batch, mine.end());
    mine.erase(mine.end() - batch, mine.end());
  }

  std::vector<list_of> spare_;
  typename World::mutex guard_;
  std::vector<T*> store_;
  std::deque<T> all_;
};

}  // namespace kith
