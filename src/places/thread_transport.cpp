// The transport `threads`: a message is an object that changes owner.
//
//  T1  A sender pushes a message before it rings; a receiver reads the bell before it looks into its inbox. So a
//      receiver that found nothing and sleeps at that value of the bell is woken by any message that it did not see.
//  T2  The bell is changed before `sleeping` is read, and `sleeping` is set before the bell is read again by the
//      futex: either the ringer sees the sleeper, or the sleeper sees the new bell. Both sides are seq_cst.
#include "base/atomic.hpp"
#include "base/futex.hpp"
#include "base/steady_time.hpp"
#include "places/meeting.hpp"
#include "places/transport.hpp"
#include "queue/native/inbox.hpp"

#include <memory>
#include <utility>

namespace kith::distributed {

namespace {

struct parcel {
  detail::byte_buffer bytes;
  parcel* next = nullptr;
};
void set_next(parcel& p, parcel* next) noexcept { p.next = next; }
parcel* get_next(const parcel& p) noexcept { return p.next; }

class thread_endpoint final : public endpoint {
 public:
  thread_endpoint(std::vector<std::unique_ptr<thread_endpoint>>& all, meeting_room& room, int place) noexcept
      : all_(all), room_(room), place_(place) {}
  thread_endpoint(const thread_endpoint&) = delete;
  thread_endpoint& operator=(const thread_endpoint&) = delete;
  ~thread_endpoint() override {
    drop(arrived_);
    drop(inbox_.take_all());
  }

  using endpoint::send;
  void send(int to, detail::byte_buffer message) override {
    thread_endpoint& there = *all_[static_cast<std::size_t>(to)];
    there.inbox_.push(*new parcel{std::move(message)});
    there.ring();
  }
  bool poll(detail::byte_buffer& message) override {
    if (arrived_ == nullptr) {
      heard_ = bell_.load(acquire);  // T1: pairs with ring()
      arrived_ = inbox_.take_all();
    }
    if (arrived_ == nullptr) return false;
    const std::unique_ptr<parcel> first(std::exchange(arrived_, arrived_->next));
    message = std::move(first->bytes);
    return true;
  }
  void sleep(std::chrono::steady_clock::time_point until) override {
    sleeping_.store(1, seq_cst);  // T2
    if (bell_.load(seq_cst) == heard_) futex_wait_until(bell_, heard_, steady_nanoseconds(until));
    sleeping_.store(0, relaxed);
  }
  void ring() noexcept override {
    bell_.fetch_add(1, seq_cst);  // T1, T2
    if (sleeping_.load(seq_cst) != 0) futex_wake(bell_, 1);
  }

  void start(const collective& c) override {
    try {
      if (!room_.join(started_++, place_, c)) return;
    } catch (...) {
      for (const auto& other : all_) other->ring();
      throw;
    }
    for (const auto& other : all_) other->ring();
  }
  std::uint64_t ended_collectives() override { return ended_ = room_.ended(ended_); }

 private:
  static void drop(parcel* first) noexcept {
    while (first != nullptr) delete std::exchange(first, first->next);
  }

  std::vector<std::unique_ptr<thread_endpoint>>& all_;
  meeting_room& room_;
  int place_;
  std::uint64_t started_ = 0, ended_ = 0;  // collectives
  native::inbox<parcel> inbox_;
  parcel* arrived_ = nullptr;  // taken out of the inbox, oldest first
  std::uint32_t heard_ = 0;    // the bell, before the last look into the inbox
  alignas(false_sharing_range) atomic<std::uint32_t> bell_{0};
  atomic<std::uint32_t> sleeping_{0};
};

class thread_transport final : public transport {
 public:
  thread_transport(int places, bool one_group) : places_(places), room_(places) {
    for (int p = 0; p < (one_group ? 1 : places); ++p)
      all_.push_back(std::make_unique<thread_endpoint>(all_, room_, p));
  }
  const char* name() const noexcept override { return "threads"; }
  int places() const noexcept override { return places_; }
  endpoint& endpoint_of(int place) override { return *all_[static_cast<std::size_t>(place)]; }

 private:
  int places_;
  meeting_room room_;
  std::vector<std::unique_ptr<thread_endpoint>> all_;
};

}  // namespace

std::unique_ptr<transport> make_thread_transport(int places, bool one_group) {
  return std::make_unique<thread_transport>(places, one_group);
}

}  // namespace kith::distributed
