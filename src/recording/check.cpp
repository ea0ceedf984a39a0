#include "recording/check.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>
#include <kith/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace kith {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 48;    // of addresses that a process has
constexpr std::uint64_t latest = (std::uint64_t{1} << 63) - 1;  // what a file can hold of a time
constexpr std::uint64_t most_allocated = most_bytes << 8;       // in the whole run

class checker {
 public:
  checker(const recording& r, const std::string& file) : r_(r), file_(file) {}

  void all() {
    nodes();
    tasks();
    accesses();
    for (const recorded_dependence& d : r_.dependences) {
      if (!is_task(d.before)) refuse("a dependence on task " + text(d.before) + expected_task());
    }
    waits();
    for (const recorded_steal& s : r_.steals) {
      times({s.at}, "a steal");
      worker(s.worker, "a steal");
      worker(s.victim, "the victim of a steal");
    }
    for (const recorded_idle& i : r_.idles) {
      worker(i.worker, "a spell without work");
      times({i.begun, i.ended}, "a spell without work");
    }
    for (const recorded_job& j : r_.jobs) {
      worker(j.worker, "a job");
      times({j.begun, j.ended}, "a job");
    }
    for (const recorded_calibration& c : r_.calibrations) {
      if (c.type >= r_.types.size()) refuse("a calibration of type " + text(c.type));
      if (c.size > 63) refuse("a calibration of size 2^" + text(c.size));
      if (c.samples == 0 || c.plain_ns == 0 || c.hot_ns == 0)
        refuse("a calibration of type " + text(c.type) + " that measured nothing");
    }
    for (const recorded_mark& m : r_.marks) times({m.at}, "mark '" + m.name + "'");
    allocations();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw error(file_ + ": damaged: " + what); }
  template <class T>
  static std::string text(T value) {
    return std::to_string(value);
  }
  bool is_task(std::int64_t t) const { return t >= 0 && t < static_cast<std::int64_t>(r_.tasks.size()); }
  std::string expected_task() const { return ", expected 0 to " + text(r_.tasks.size()) + " less 1"; }

  /// -1: none. A recording that does not say which workers there were can have any.
  void worker(std::int64_t w, const std::string& whose) const {
    if (w < -1 || (!r_.worker_node.empty() && w >= static_cast<std::int64_t>(r_.worker_node.size())))
      refuse(whose + " has worker " + text(w) + ", expected -1 or one of " + text(r_.worker_node.size()) + " workers");
  }
  void size(std::uint64_t bytes, const std::string& whose) const {
    if (bytes >= most_bytes) refuse(whose + " has " + text(bytes) + " bytes, expected less than 2^48");
  }

  void times(std::initializer_list<std::uint64_t> all, const std::string& whose) const {
    if (std::ranges::max(all) > latest) refuse(whose + " has a time of " + text(std::ranges::max(all)) + " ns");
  }

  void nodes() const {
    for (std::size_t w = 0; w < r_.worker_node.size(); ++w) {
      if (r_.worker_node[w] < 0) refuse("worker " + text(w) + " is on node " + text(r_.worker_node[w]));
    }
    for (std::size_t i = 0; i < r_.regions.size(); ++i) {
      size(r_.regions[i].bytes, "region " + text(i));
      if (r_.regions[i].home < -1) refuse("region " + text(i) + " is at home on node " + text(r_.regions[i].home));
    }
    for (const recorded_home& h : r_.homes) {
      if (h.region >= r_.regions.size()) refuse("a home of region " + text(h.region));
      if (h.node < 0) refuse("a home on node " + text(h.node));
      size(h.bytes, "a home of region " + text(h.region));
      times({h.at}, "a home of region " + text(h.region));
    }
  }

  void tasks() {
    const std::size_t most_scopes = r_.tasks.size() + r_.waits.size();
    for (std::size_t i = 0; i < r_.tasks.size(); ++i) {
      const recorded_task& t = r_.tasks[i];
      const std::string name = "task " + text(i);
      if (t.type >= r_.types.size()) refuse(name + " has type " + text(t.type));
      if (t.creator >= static_cast<std::int64_t>(i) || t.creator < -1) refuse(name + " is created by a later one");
      if (t.scope >= most_scopes)
        refuse(name + " has scope " + text(t.scope) + ", expected less than " + text(most_scopes));
      times({t.created, t.create_until, t.create_ns, t.ready, t.started, t.ended, t.work_ns, t.explore_started,
             t.explore_ended},
            name);
      worker(t.worker, name);
      worker(t.explorer, "the exploration of " + name);
      // An end of 0: it did not end.
      if (t.ended != 0 && t.ended < t.started) refuse(name + " ends before it starts");
      if (t.explore_ended != 0 && t.explore_ended < t.explore_started)
        refuse("the exploration of " + name + " ends before it starts");
      scopes_ = std::max(scopes_, std::uint64_t{t.scope} + 1);
    }
  }

  void accesses() const {
    for (const recorded_access& a : r_.accesses) {
      if (a.region >= r_.regions.size()) refuse("an access to region " + text(a.region));
      if (a.mode > static_cast<std::uint8_t>(mode::commutative)) refuse("an access of mode " + text(a.mode));
      const std::uint64_t most = r_.regions[a.region].bytes;
      if (a.bytes > most || a.touched > most)
        refuse("an access to " + text(std::max(a.bytes, a.touched)) + " bytes of region " + text(a.region) +
               ", which has " + text(most));
    }
  }

  void waits() const {
    for (const recorded_wait& w : r_.waits) {
      if (!is_task(w.task)) refuse("a wait of task " + text(w.task) + expected_task());
      if (w.scope != recorded_wait::for_future && w.scope >= scopes_)
        refuse("a wait for scope " + text(w.scope) + ", expected less than " + text(scopes_));
      worker(w.worker, "a wait of task " + text(w.task));
      times({w.begun, w.ended}, "a wait of task " + text(w.task));
      if (w.ended < w.begun) refuse("a wait of task " + text(w.task) + " ends before it starts");
    }
  }

  void allocations() const {
    std::uint64_t given = 0;
    for (const recorded_allocation& a : r_.allocations) {
      if (a.distribution > distribution::deferred) refuse("distribution " + text(a.distribution));
      if (a.node < -1) refuse("an allocation on node " + text(a.node));
      size(a.bytes, "an allocation");
      times({a.at, a.released}, "an allocation");
      given += a.bytes;
      if (given > most_allocated) refuse("allocations of " + text(given) + " bytes in all");
    }
  }

  const recording& r_;
  const std::string& file_;
  std::uint64_t scopes_ = 0;  // one more than the last that a task is in
};

}  // namespace

void check_recording(const recording& r, const std::string& file) { checker(r, file).all(); }

}  // namespace kith
