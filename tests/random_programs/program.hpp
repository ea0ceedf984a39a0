// The parts of a random program: bodies, each a row of actions that its seed decides (body.hpp). A program is run
// twice. The model runs one body after the other, each task at its creation. Then it runs on a runtime, and the two
// are compared.
//
// Programs must be legal: they must end under every policy, with any number of workers. So nothing may wait
// for itself (may_wait_for_elders), and references are captured only if the body waits.
#pragma once

#include "base/rng.hpp"

#include <kith/kith.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace kith::random_programs {

using word = std::uint64_t;

/// Choices that a seed decides. The model and the run make the same choices.
class dice {
 public:
  explicit dice(word seed) noexcept : draw_(seed, purpose::test, 0) {}
  word next() noexcept { return draw_.next(); }
  int below(int n) noexcept { return static_cast<int>(draw_.below(static_cast<std::uint32_t>(n))); }
  bool one_in(int n) noexcept { return below(n) == 0; }
  template <class List>
  const auto& of(const List& all) noexcept {
    return all[static_cast<std::size_t>(below(static_cast<int>(std::size(all))))];
  }

 private:
  rng draw_;
};

/// Held by closures. None may remain at the end.
class witness {
 public:
  witness() noexcept { ++alive_; }
  witness(const witness& /*other*/) noexcept { ++alive_; }
  ~witness() { --alive_; }
  witness& operator=(const witness&) = default;
  static long alive() noexcept { return alive_; }
  static void forget() noexcept { alive_ = 0; }

 private:
  static inline std::atomic<long> alive_{0};
};

/// Thrown by bodies. Only waits of the domain in which it is thrown may rethrow it.
struct fault {
  word domain;
};

/// The faults of a program's run. Thread-safe.
class findings {
 public:
  template <class... Parts>
  void add(const Parts&... parts) {
    std::ostringstream line;
    (line << ... << parts) << '\n';
    const std::lock_guard<std::mutex> hold(lock_);
    if (++number_ <= shown) text_ += line.str();
  }
  bool empty() {
    const std::lock_guard<std::mutex> hold(lock_);
    return number_ == 0;
  }
  std::string text() {
    const std::lock_guard<std::mutex> hold(lock_);
    return text_ + (number_ > shown ? "and " + std::to_string(number_ - shown) + " more\n" : "");
  }

 private:
  static constexpr int shown = 8;
  std::mutex lock_;
  int number_ = 0;
  std::string text_;
};

/// The size of a program.
struct shape {
  int depth = 4;     // of bodies in bodies
  int actions = 10;  // of one body, at most
  /// Every run has the same tasks, created by the same creators in the same order, as a replay requires.
  bool repeatable = false;
};

/// What all bodies of one program, run in one way, share.
struct world {
  shape size;
  findings* found = nullptr;
  const world* model = nullptr;                        // for a run: the same program's model, if it has one
  std::atomic<word> total{0};                          // of all that bodies contribute
  std::unordered_map<word, std::vector<word>> values;  // of the model: the values of the futures of each
                                                       // body, by the body's seed

  /// Called in a handler that reads the exception, which is then kept to the end. The standard library
  /// counts references to exceptions, where the thread sanitizer sees no order between the last thread that
  /// read one and the thread that frees it.
  void keep_exception() {
    const std::lock_guard<std::mutex> hold(lock_);
    caught_.push_back(std::current_exception());
  }

 private:
  std::mutex lock_;
  std::vector<std::exception_ptr> caught_;
};

/// A future of a body, and its value according to the model.
struct promise {
  future<word> real;  // not in the model
  word expected = 0;
  bool known = false;
};

/// What a body knows of its program and of its creators.
struct context {
  world* program = nullptr;
  runtime* rt = nullptr;  // null: in the model
  int depth = 0;
  /// In a domain of exceptions: bodies throw and cancel at random, so there is no model. What is checked is
  /// that nothing hangs or leaks, and that exceptions stay in their domain.
  bool failing = false;
  word domain = 0;
  int domain_depth = 0;
  /// False where a task that waits for a task of its creators might keep that task from running.
  bool may_wait_for_elders = true;
  std::shared_ptr<const std::vector<promise>> elders;  // what had been promised to the creator when it
                                                       // created this task

  bool in_model() const noexcept { return rt == nullptr; }
  template <class... Parts>
  void complain(const Parts&... parts) const {
    program->found->add(parts...);
  }
  void contribute(word x) const noexcept {
    if (!failing) program->total.fetch_add(x, std::memory_order_relaxed);
  }
};

/// Runs the body of a task, or of a root. Returns its value.
word run_body(const context& where, word seed);

/// Waits for the promise. Returns its value, after checking it.
word value_of(const promise& p, const context& where);

/// True for errors that a cancellation, or a lack of stacks, explains.
bool is_expected_in_a_domain(const error& e);

}  // namespace kith::random_programs
