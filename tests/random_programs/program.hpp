// What a random program is made of: bodies, each a row of actions that its seed decides (body.hpp). A program is run
// twice: one body after the other, each task at its creation, which is the model; and on a runtime, to be compared.
//
// Programs must be legal: they end under every policy, with any number of workers. What could wait for itself is left
// out (may_wait_for_elders), and references are captured only where the body waits.
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

/// Choices that a seed decides: the model and the run make the same.
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

/// What closures hold: none is to be left at the end.
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

/// What bodies throw. Only the waits of the domain that it is thrown in may show it.
struct fault {
  word domain;
};

/// What is wrong with a program's run. Thread-safe.
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

/// How large a program becomes.
struct shape {
  int depth = 4;     // of bodies in bodies
  int actions = 10;  // of one body, at most
  /// Every run has the same tasks, made by the same ones in the same order: what a replay asks for.
  bool repeatable = false;
};

/// What all bodies of one program, run in one way, share.
struct world {
  shape size;
  findings* found = nullptr;
  const world* model = nullptr;                        // of a run: the same program's, if it has one
  std::atomic<word> total{0};                          // of all that bodies contribute
  std::unordered_map<word, std::vector<word>> values;  // of the model: of the futures of each body, by the body's seed

  /// In a handler that reads the exception: it is kept to the end. Exceptions are counted in the standard library, where
  /// the thread sanitizer sees no order between the last thread that read one and the one that frees it.
  void keep_exception() {
    const std::lock_guard<std::mutex> hold(lock_);
    caught_.push_back(std::current_exception());
  }

 private:
  std::mutex lock_;
  std::vector<std::exception_ptr> caught_;
};

/// A future of a body, and the value that the model says it has.
struct promise {
  future<word> real;  // not in the model
  word expected = 0;
  bool known = false;
};

/// Where a body runs.
struct surroundings {
  world* program = nullptr;
  runtime* rt = nullptr;  // null: in the model
  int depth = 0;
  /// In a domain of exceptions: bodies throw and cancel at random, so that there is no model. What is checked is that
  /// nothing hangs or leaks, and that exceptions stay in their domain.
  bool failing = false;
  word domain = 0;
  int domain_depth = 0;
  /// False where a task that waited for a task of its creators might keep that one from running.
  bool may_wait_for_elders = true;
  std::shared_ptr<const std::vector<promise>> elders;  // what the creator had been promised when it made this task

  bool in_model() const noexcept { return rt == nullptr; }
  template <class... Parts>
  void complain(const Parts&... parts) const {
    program->found->add(parts...);
  }
  void contribute(word x) const noexcept {
    if (!failing) program->total.fetch_add(x, std::memory_order_relaxed);
  }
};

/// The body of a task, or of a root; its value.
word run_body(const surroundings& where, word seed);

/// Waits for the promise; its value, which is checked.
word value_of(const promise& p, const surroundings& where);

/// True of errors that a cancellation, or a lack of stacks, explains.
bool is_expected_in_a_domain(const error& e);

}  // namespace kith::random_programs
