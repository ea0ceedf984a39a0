// One run of an explored program under one schedule: threads, store buffers, clocks. Used only by the checker.
//
// Memory holds what has left the store buffers; each thread's own stores wait in order in its buffer. A thread can
// be left only at a point() before an operation that others can see. Clocks follow the C++ memory model (including
// release sequences and fences), so that cells find races although the order of values is TSO, which is stronger.
#pragma once

#include "interleave/choices.hpp"
#include "interleave/clock.hpp"
#include "interleave/explore.hpp"
#include "interleave/fiber.hpp"
#include "interleave/ordering.hpp"
#include "interleave/trace.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>

namespace kith::interleave {

enum class change : std::uint8_t { exchange, add, subtract, bit_and, bit_or, bit_xor };
std::uint64_t changed(change how, std::uint64_t old, std::uint64_t operand, unsigned size);

class execution {
 public:
  /// The run in progress. Null: operations go straight to memory.
  static execution* current() noexcept;

  /// At most `bound` preemptions. Runs use `stacks` one after the other.
  execution(const options&, int bound, choices&, orderings&, std::vector<std::unique_ptr<fiber>>& stacks);
  ~execution();
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

  void add_thread(std::function<void()> body, std::string name);
  /// Runs all threads to their end, or to the first failure.
  void run();

  // ---- operations; called by the running thread
  std::uint64_t load(place, std::memory_order, const std::source_location&);
  void store(place, std::uint64_t bits, std::memory_order, const std::source_location&);
  std::uint64_t modify(place, change, std::uint64_t operand, std::memory_order, const std::source_location&);
  bool compare_exchange(place, std::uint64_t& expected, std::uint64_t desired, std::memory_order success,
                        std::memory_order failure, const std::source_location&);
  void full_fence(const std::source_location&);
  void process_fence(const std::source_location&);
  void yield(const std::source_location&);
  void futex_wait(place, std::uint64_t expected, const std::source_location&);
  void futex_wake(place, int count, const std::source_location&);
  void born(place);  // later users of the atomic must know of its creation by happens-before
  void dies(place);

  /// Ends the run as a failure. Returns only to the thread that builds and checks the program.
  void fail(std::string why);

  // ---- for cells
  int thread() const noexcept { return running_; }
  const vector_clock& clock() const noexcept { return threads_[static_cast<std::size_t>(running_)].clock; }
  const std::string& thread_name(int thread) const noexcept { return threads_[static_cast<std::size_t>(thread)].name; }
  void note(const event& e) { trace_.add(e); }

  void name(const void* object, std::string text) { trace_.name(object, std::move(text)); }
  const std::string& failure() const noexcept { return failure_; }
  bool left_out() const noexcept { return left_out_; }
  std::string story() const;

 private:
  struct pending {
    place at;
    std::uint64_t bits;
    vector_clock released;
  };
  struct memory {
    vector_clock released;  // what an acquiring load obtains
    int creator = 0;
    std::uint32_t created = 0;
  };
  struct agent {
    enum class state : std::uint8_t { ready, yielded, asleep, ended };
    std::string name;
    std::function<void()> body;
    fiber* stack = nullptr;
    state is = state::ready;
    int steps = 0;
    bool just_chosen = false;        // it has done nothing since the scheduler chose it
    std::uint64_t own_changes = 0;   // by others, when the thread last continued after a yield
    std::uint64_t seen_changes = 0;  // by others, when it last went on from a yield
    const void* sleeps_on = nullptr;
    std::deque<pending> buffer;
    vector_clock clock;
    vector_clock fenced;    // clock at the last full fence: what a relaxed store after it releases
    vector_clock unfenced;  // what relaxed loads have read: acquired by the next full fence
  };
  struct action {
    int thread;
    bool drains = false;
    bool spurious = false;
  };

  agent& me() noexcept { return threads_[static_cast<std::size_t>(running_)]; }
  agent& of(int thread) noexcept { return threads_[static_cast<std::size_t>(thread)]; }
  std::uint64_t changes_by_others(const agent& a) const noexcept { return changes_ - a.own_changes; }
  bool enabled(int thread) noexcept;
  void point(const std::source_location&);
  void rest(bool may_continue, const std::source_location&);
  void count_step(const std::source_location&);
  void leave(bool may_continue, const std::source_location&);
  void list_drains(int last_drained);
  int choose_next(bool may_continue, bool free, const std::source_location&);
  void go_to(int thread);
  void drain_one(int thread);
  void drain(int thread);
  void own_fence();
  const pending* forwarded(place) noexcept;
  memory& memory_at(place, const std::source_location&);
  void write(int by, place, std::uint64_t bits);
  void acquire_from(const vector_clock&, std::memory_order);
  vector_clock released_by(std::memory_order);
  static void entry(void*);

  const options& options_;
  int preemptions_left_;
  choices& choices_;
  orderings& orderings_;
  std::vector<std::unique_ptr<fiber>>& stacks_;
  fiber main_;
  fiber* left_ = nullptr;  // the fiber that was left last
  std::vector<agent> threads_;
  int running_ = 0;
  std::vector<action> options_now_;
  std::uint64_t changes_ = 0;
  std::unordered_map<const void*, memory> memory_;  // by an atomic's address
  std::string failure_;
  bool left_out_ = false;
  trace trace_;
};

}  // namespace kith::interleave
