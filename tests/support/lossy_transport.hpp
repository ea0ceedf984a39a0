// A transport between places of this process that can lose some of them, at moments that a test chooses.
//
// It carries messages as the thread transport does. A lost place neither sends nor gets messages from then on. Its
// threads live on, so it learns at once that place 0 is lost: that ends everything that it waits for, and the
// place_runtime can be destroyed. Activities that run there still change the variables of the test. The other places
// learn of a loss when the test reports it to them, and messages on their way wait while the test holds them back.
// Before the place_runtime is destroyed, each loss must have been reported to all other places.
#pragma once

#include "places/transport.hpp"

#include <kith/places.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace kith::test {

/// The calls of a test may come from any thread.
class lossy_transport final : public distributed::transport {
 public:
  explicit lossy_transport(int places) : threads_(distributed::make_thread_transport(places)) {
    for (int p = 0; p < places; ++p) ends_.push_back(std::make_unique<end>(*this, p));
  }
  const char* name() const noexcept override { return "lossy"; }
  int places() const noexcept override { return threads_->places(); }
  bool loses_places() const noexcept override { return true; }
  distributed::endpoint& endpoint_of(int place) override { return *ends_[static_cast<std::size_t>(place)]; }

  /// Loses that place, without telling the others.
  void cut(int place) {
    {
      const std::lock_guard lock(guard_);
      cut_.insert(place);
      reports_[place].push_back({0, "this place was cut off"});
    }
    threads_->endpoint_of(place).ring();
  }
  /// Tells the place `to` of the loss.
  void report(int lost, int to) {
    {
      const std::lock_guard lock(guard_);
      reports_[to].push_back({lost, "a test has cut it off"});
      known_[to].insert(lost);
    }
    threads_->endpoint_of(to).ring();
  }
  /// Tells all others of the loss.
  void report(int lost) {
    for (int p = 0; p < places(); ++p) {
      if (p != lost && !is_cut(p)) report(lost, p);
    }
  }
  void lose(int place) {
    cut(place);
    report(place);
  }

  /// Messages from one place to the other wait until release() or drop().
  void hold(int from, int to) {
    const std::lock_guard lock(guard_);
    held_.try_emplace({from, to});
  }
  /// Waits until that many messages are held.
  void await_held(int from, int to, std::size_t messages) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return held_.at({from, to}).size() >= messages; });
  }
  /// Delivers the held messages, in their order, also if their sender was lost meanwhile.
  void release(int from, int to) {
    const std::lock_guard lock(guard_);
    auto node = held_.extract({from, to});
    for (detail::byte_buffer& m : node.mapped()) threads_->endpoint_of(from).send(to, std::move(m));
  }
  void drop(int from, int to) {
    const std::lock_guard lock(guard_);
    held_.erase({from, to});
  }

 private:
  class end final : public distributed::endpoint {
   public:
    end(lossy_transport& net, int place) : net_(net), under_(net.threads_->endpoint_of(place)), place_(place) {}

    using endpoint::send;
    void send(int to, detail::byte_buffer message) override { net_.send(place_, to, std::move(message)); }
    bool poll(detail::byte_buffer& message) override {
      while (under_.poll(message)) {
        if (!net_.is_cut(place_)) return true;
      }
      return false;
    }
    void sleep(std::chrono::steady_clock::time_point until) override { under_.sleep(until); }
    void ring() noexcept override { under_.ring(); }
    void start(const distributed::collective& c) override { under_.start(c); }
    std::uint64_t ended_collectives() override { return under_.ended_collectives(); }
    std::optional<distributed::lost_place> lost() override { return net_.next_report(place_); }
    void leave() override { net_.leave(place_); }
    bool has_left() override { return net_.has_left(place_); }

   private:
    lossy_transport& net_;
    distributed::endpoint& under_;
    const int place_;
  };

  bool is_cut(int place) {
    const std::lock_guard lock(guard_);
    return cut_.contains(place);
  }
  void send(int from, int to, detail::byte_buffer message) {
    const std::lock_guard lock(guard_);
    if (cut_.contains(from)) return;
    if (const auto link = held_.find({from, to}); link != held_.end()) {
      link->second.push_back(std::move(message));
      changed_.notify_all();
      return;
    }
    threads_->endpoint_of(from).send(to, std::move(message));
  }
  std::optional<distributed::lost_place> next_report(int to) {
    const std::lock_guard lock(guard_);
    auto& mine = reports_[to];
    if (mine.empty()) return {};
    distributed::lost_place first = std::move(mine.front());
    mine.pop_front();
    return first;
  }
  void leave(int place) {
    {
      const std::lock_guard lock(guard_);
      if (!leaving_.insert(place).second) return;
    }
    for (const auto& e : ends_) e->ring();
  }
  bool has_left(int place) {
    const std::lock_guard lock(guard_);
    if (cut_.contains(place)) return true;
    for (int p = 0; p < places(); ++p) {
      if (!leaving_.contains(p) && !known_[place].contains(p)) return false;
    }
    return true;
  }

  std::unique_ptr<distributed::transport> threads_;
  std::vector<std::unique_ptr<end>> ends_;
  std::mutex guard_;  // guards all below
  std::condition_variable changed_;
  std::set<int> cut_, leaving_;
  std::map<int, std::deque<distributed::lost_place>> reports_;  // by the place that has not looked yet
  std::map<int, std::set<int>> known_;                          // losses that were reported, by the place that knows
  std::map<std::pair<int, int>, std::deque<detail::byte_buffer>> held_;
};

/// The transport of the next place_runtime, which owns it.
inline lossy_transport& make_lossy_transport(int places) {
  auto made = std::make_unique<lossy_transport>(places);
  lossy_transport& net = *made;
  distributed::use_transport(std::move(made));
  return net;
}

/// Waits until the place of the running activity knows of the loss; a thread that runs none, until place 0 does.
inline void await_loss(int place) {
  while (!kith::at(place).is_lost()) std::this_thread::yield();
}

/// Whether `f` throws place_lost of that place.
template <class F>
bool loses(int place, F f) {
  try {
    f();
  } catch (const place_lost& e) {
    return e.place() == place;
  }
  return false;
}

}  // namespace kith::test
