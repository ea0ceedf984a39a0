// Explores all schedules, with one bound after the other, so that the first failure has the fewest preemptions.
#include "interleave/explore.hpp"

#include "interleave/execution.hpp"

#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace kith::interleave {

void program::thread(std::function<void()> body, std::string name) {
  if (threads_.size() + 1 == max_threads) {
    throw std::invalid_argument("interleave: a program has at most " + std::to_string(max_threads - 1) + " threads");
  }
  threads_.push_back({std::move(body), std::move(name)});
}

void program::after(std::function<void()> body) { after_ = std::move(body); }

namespace {

using stacks = std::vector<std::unique_ptr<fiber>>;

// A broken invariant aborts the process, so the handler prints the schedule. Printing here is not safe in
// general, but nothing else is possible.
void report_abort(int) {
  std::signal(SIGABRT, SIG_DFL);
  if (execution* run = execution::current()) std::fputs(run->story().c_str(), stderr);
}

// The threads of a failed run are left where they are, and what they own must stay reachable.
void keep_forever(stacks& abandoned) {
  static auto& kept = *new stacks;
  for (auto& s : abandoned) kept.push_back(std::move(s));
  abandoned.clear();
}

}  // namespace

class explorer {
 public:
  explorer(const options& o, const std::function<void(program&)>& build)
      : options_(o), build_(build), orderings_(o.weaken) {}

  result run() {
    walk();
    result_.orderings = orderings_.used();
    return result_;
  }

 private:
  void walk() {
    if (!options_.replay.empty()) {
      schedule_ = choices(options_.replay);
      one(options_.preemptions);
      return;
    }
    for (int bound = 0; bound <= options_.preemptions; ++bound) {
      schedule_ = {};
      left_out_ = false;
      result_.preemptions = bound;
      do {
        if (result_.schedules == options_.max_schedules) {
          give_up("there are more than " + std::to_string(options_.max_schedules) +
                  " schedules: make the program smaller, or lower options.preemptions");
          return;
        }
        if (!one(bound)) return;
      } while (schedule_.advance());
      if (!left_out_) {
        result_.exhaustive = true;
        break;
      }
    }
  }

  bool one(int bound) {
    ++result_.schedules;
    schedule_.rewind();
    execution run(options_, bound, schedule_, orderings_, stacks_);
    {
      program p;
      build_(p);
      for (auto& t : p.threads_) run.add_thread(t.body, t.name);
      if (run.failure().empty()) run.run();
      if (run.failure().empty() && p.after_) p.after_();
      if (!run.failure().empty()) {
        static auto& kept = *new std::vector<program>;  // what abandoned threads refer to; never destroyed
        kept.push_back(p);
      }
    }
    left_out_ = left_out_ || run.left_out();
    if (run.failure().empty()) return true;
    keep_forever(stacks_);
    give_up(run.failure());
    result_.schedule = schedule_.text();
    result_.report = "interleaving failure: " + run.failure() + "\nschedule " + std::to_string(result_.schedules) +
                     " with at most " + std::to_string(bound) +
                     " preemptions; to repeat it: options.preemptions = " + std::to_string(bound) +
                     ", options.replay = \"" + result_.schedule + "\"\n" + run.story();
    return false;
  }

  void give_up(const std::string& why) {
    result_.ok = false;
    result_.failure = why;
    result_.report = "interleaving failure: " + why + "\n";
  }

  const options& options_;
  const std::function<void(program&)>& build_;
  choices schedule_;
  orderings orderings_;
  stacks stacks_;
  bool left_out_ = false;
  result result_;
};

result explore(const options& o, const std::function<void(program&)>& build) {
  const auto previous = std::signal(SIGABRT, report_abort);
  result r = explorer(o, build).run();
  std::signal(SIGABRT, previous);
  return r;
}

void check(bool holds, const char* claim, std::source_location where) {
  if (holds) return;
  if (execution* run = execution::current()) {
    run->fail(std::string("check failed: ") + claim + " (" + short_name(where) + ")");
  } else {
    throw std::logic_error("interleave::check() outside explore()");
  }
}

void name(const void* object, std::string text) {
  if (execution* run = execution::current()) run->name(object, std::move(text));
}

}  // namespace kith::interleave
