// The transport `threads`: a message is an object that changes its owner.
//
//  T1  A sender pushes a message before it rings; a receiver reads the bell before it looks into its inbox. So a
//      receiver that found nothing and sleeps at that value of the bell is woken by any message that it did not see.
//  T2  The bell is changed before `sleeping` is read, and `sleeping` is set before the bell is read again by the
//      futex: either the ringer sees the sleeper, or the sleeper sees the new bell. Both sides are seq_cst.
#include "base/atomic.hpp"
#include "base/futex.hpp"
#include "places/transport.hpp"
#include "queue/native/inbox.hpp"

#include <memory>
#include <utility>

namespace kith::distributed {

namespace {

struct parcel {
  std::vector<std::byte> bytes;
  parcel* next = nullptr;
};
void set_next(parcel& p, parcel* next) noexcept { p.next = next; }
parcel* get_next(const parcel& p) noexcept { return p.next; }

class thread_endpoint final : public endpoint {
 public:
  explicit thread_endpoint(std::vector<std::unique_ptr<thread_endpoint>>& all) noexcept : all_(all) {}
  thread_endpoint(const thread_endpoint&) = delete;
  thread_endpoint& operator=(const thread_endpoint&) = delete;
  ~thread_endpoint() override {
    drop(arrived_);
    drop(inbox_.take_all());
  }

  void send(int to, std::vector<std::byte> message) override {
    thread_endpoint& there = *all_[static_cast<std::size_t>(to)];
    there.inbox_.push(*new parcel{std::move(message)});
    there.ring();
  }
  bool poll(std::vector<std::byte>& message) override {
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
    if (bell_.load(seq_cst) == heard_) futex_wait_until(bell_, heard_, until.time_since_epoch());
    sleeping_.store(0, relaxed);
  }
  void ring() noexcept override {
    bell_.fetch_add(1, seq_cst);  // T1, T2
    if (sleeping_.load(seq_cst) != 0) futex_wake(bell_, 1);
  }

 private:
  static void drop(parcel* first) noexcept {
    while (first != nullptr) delete std::exchange(first, first->next);
  }

  std::vector<std::unique_ptr<thread_endpoint>>& all_;
  native::inbox<parcel> inbox_;
  parcel* arrived_ = nullptr;  // taken out of the inbox, oldest first
  std::uint32_t heard_ = 0;    // the bell, before the last look into the inbox
  alignas(false_sharing_range) atomic<std::uint32_t> bell_{0};
  atomic<std::uint32_t> sleeping_{0};
};

class thread_transport final : public transport {
 public:
  explicit thread_transport(int places) {
    for (int p = 0; p < places; ++p) all_.push_back(std::make_unique<thread_endpoint>(all_));
  }
  const char* name() const noexcept override { return "threads"; }
  endpoint& of(int place) override { return *all_[static_cast<std::size_t>(place)]; }

 private:
  std::vector<std::unique_ptr<thread_endpoint>> all_;
};

}  // namespace

std::unique_ptr<transport> make_thread_transport(int places) { return std::make_unique<thread_transport>(places); }

}  // namespace kith::distributed
