// The order of a data_flow's tasks. For each array it keeps, by range of elements, the task that has written the range
// last and the tasks that have read it since. A task is sent to its place when all its predecessors have ended; until
// then no stack waits for it.
//
//  F1  A version is the number of a write, in the order of the spawns. So a range and the newest version in it identify
//      the contents.
//  F2  The finish in which the data_flow was made is held until leave() was called and the last task has ended. So the
//      progress thread may send tasks long after the activity that has spawned them.
//  F3  After the first failure no task is sent. Tasks that were not sent end without having run.
//  F4  A result and its task refer to each other. The completion of the result breaks the cycle, and so does reset().
#include <kith/data_flow.hpp>

#include "base/clock.hpp"
#include "base/made_once.hpp"
#include "places/message.hpp"
#include "places/place.hpp"
#include "places/place_of_caller.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace kith {

using distributed::place;

namespace {

struct flow_task {
  int to = 0;
  const detail::remote_function* function = nullptr;
  detail::packed_arguments message;
  std::shared_ptr<detail::remote_result> result = std::make_shared<detail::remote_result>();
  distributed::recorded_spawn recorded;  // if the place is recorded
  std::uint64_t before = 0;              // predecessors that have not ended
  std::vector<std::shared_ptr<flow_task>> after;
  bool sent = false, ended = false;
};

/// The tasks sent to another place, and those that wait until fewer are there.
struct window {
  std::uint64_t sent = 0;  // sent and not ended
  std::deque<std::shared_ptr<flow_task>> ready = {};
};

bool writes(mode how) noexcept { return how != mode::in; }

void drop_copies(std::uint64_t flow) { detail::flow_caches()->drop(flow); }

/// Elements from the key in the map up to `end`, which the same tasks have accessed.
struct segment {
  std::uint64_t end = 0;
  std::uint64_t version = 0;
  std::shared_ptr<flow_task> writer = {};
  std::vector<std::shared_ptr<flow_task>> readers = {};  // since the write

  void add_reader(const std::shared_ptr<flow_task>& n) {
    if (n->recorded.result == 0 && readers.size() == readers.capacity())  // a recording has ended ones too
      std::erase_if(readers, [](const std::shared_ptr<flow_task>& r) { return r->ended; });
    readers.push_back(n);
  }
};

/// The accesses to an array. Segments do not overlap; elements in no segment were not accessed.
class accessed_array {
 public:
  std::uint64_t newest_version(std::uint64_t first, std::uint64_t end) const {
    std::uint64_t newest = 0;
    for (auto at = reaching(first); at != segments_.end() && at->first < end; ++at)
      if (at->second.end > first) newest = std::max(newest, at->second.version);
    return newest;
  }
  /// Calls after(task) for each predecessor of the access, some more than once, and records the access.
  template <class After>
  void access(const std::shared_ptr<flow_task>& n, const detail::flow_request& a, const After& after) {
    const std::uint64_t end = a.first + a.count;
    cut(a.first);
    cut(end);
    if (!writes(a.how)) {
      fill(a.first, end);
      for (auto at = segments_.find(a.first); at != segments_.end() && at->first < end; ++at) {
        if (at->second.writer) after(at->second.writer);
        at->second.add_reader(n);
      }
      return;
    }
    auto at = segments_.lower_bound(a.first);
    while (at != segments_.end() && at->first < end) {
      for (const std::shared_ptr<flow_task>& r : at->second.readers) after(r);
      if (at->second.readers.empty() && at->second.writer) after(at->second.writer);
      at = segments_.erase(at);
    }
    segments_.emplace(a.first, segment{end, a.written, n});
  }

 private:
  using map = std::map<std::uint64_t, segment>;

  /// The first segment that may contain `i` or an element after it.
  map::const_iterator reaching(std::uint64_t i) const {
    auto at = segments_.upper_bound(i);
    return at == segments_.begin() ? at : std::prev(at);
  }
  /// Ensures that no segment has elements on both sides of `i`.
  void cut(std::uint64_t i) {
    auto at = segments_.lower_bound(i);
    if (at == segments_.begin()) return;
    segment& before = std::prev(at)->second;
    if (before.end <= i) return;
    segment behind = before;
    before.end = i;
    segments_.emplace(i, std::move(behind));
  }
  /// Ensures that all of [first, end) is in segments.
  void fill(std::uint64_t first, std::uint64_t end) {
    auto at = segments_.lower_bound(first);
    for (std::uint64_t i = first; i < end; ++at) {
      const std::uint64_t next = at == segments_.end() ? end : std::min(end, at->first);
      if (next > i) at = segments_.emplace_hint(at, i, segment{next});
      i = at->second.end;
    }
  }

  map segments_;
};

class graph final : public detail::flow_graph, public std::enable_shared_from_this<graph> {
 public:
  graph(const data_flow_options& o, const distributed::caller& caller)
      : options_(o),
        at_(*caller.at),
        in_(caller.running->in),
        used_(static_cast<std::size_t>(places()), false),
        windows_(used_.size()) {
    at_.hold(in_);
  }

  std::uint64_t number() override {
    if (number_ == 0) {
      static atomic<std::uint64_t> last{0};
      number_ = (static_cast<std::uint64_t>(at_.number()) << 40) + last.fetch_add(1, relaxed) + 1;
    }
    return number_;
  }
  const data_flow_options& options() const noexcept override { return options_; }

  void declare(std::span<detail::flow_request> accesses) override {
    refuse_overlap(accesses);
    const std::lock_guard lock(guard_);
    for (detail::flow_request& a : accesses) {
      if (a.how != mode::out) a.read = arrays_[a.array].newest_version(a.first, a.first + a.count);
      if (writes(a.how)) a.written = ++versions_;
    }
  }

  void submit(int to, const detail::remote_function& f, detail::packed_arguments message,
              std::span<const detail::flow_request> accesses) override {
    distributed::expect_numbered(f, to);
    const auto n = std::make_shared<flow_task>();
    n->to = to;
    n->function = &f;
    n->message = {std::move(message).flattened()};
    std::vector<std::uint64_t> note;
    if (at_.is_recorded()) {
      spawner_ = at_.running_task();
      n->recorded = {spawner_, at_.number_result()};
      note = {number(), n->recorded.result, ticks(), 0};
    }
    std::vector<std::shared_ptr<flow_task>> sending;
    bool dropped = false;
    {
      const std::lock_guard lock(guard_);
      if (failure_) return;
      ++open_;
      n->before = 1;  // guard: the task is not sent before all its predecessors are counted
    }
    n->result->then([self = shared_from_this(), n] { self->end(n); });
    try {
      const std::lock_guard lock(guard_);
      for (const detail::flow_request& a : accesses) {
        if (a.count == 0) continue;
        arrays_[a.array].access(n, a, [&](const std::shared_ptr<flow_task>& earlier) {
          if (!note.empty() && earlier != n) note.push_back(earlier->recorded.result);
          if (earlier->ended || earlier == n) return;
          earlier->after.push_back(n);
          ++n->before;
        });
      }
      used_[static_cast<std::size_t>(to)] = true;
      if (--n->before == 0) {
        if (failure_) {
          dropped = true;
        } else {
          admit(n, sending);
        }
      }
    } catch (...) {  // no memory: its predecessors are not known
      fail(*n);
      throw;
    }
    if (!note.empty()) note_step(std::move(note));
    if (dropped) n->result->complete();
    for (const std::shared_ptr<flow_task>& s : sending) send(s);
    if (open() >= options_.most_tasks) await(options_.most_tasks / 2);
  }

  void wait() override {
    const std::uint64_t begun = ticks();
    await(0);
    if (at_.is_recorded() && number_ != 0) at_.note_flow(at_.running_task(), {number_, 0, begun, ticks()});
    forget();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void leave() noexcept override {
    bool last = false;
    {
      const std::lock_guard lock(guard_);
      left_ = true;
      last = open_ == 0;
    }
    if (last) give_back();
  }

 private:
  static void refuse_overlap(std::span<const detail::flow_request> accesses) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < accesses.size(); ++i)
      if (accesses[i].count != 0) order.push_back(i);
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(accesses[i].array, accesses[i].first); });
    std::uint64_t array = 0, any_end = 0, written_end = 0;
    for (const std::size_t i : order) {
      const detail::flow_request& a = accesses[i];
      if (a.array != array) any_end = written_end = 0;
      array = a.array;
      if (a.first < (writes(a.how) ? any_end : written_end)) {
        throw error("data_flow::spawn(): access " + std::to_string(i + 1) + ", to elements from " +
                    std::to_string(a.first) + ", " + std::to_string(a.count) +
                    " of them, overlaps another access of the task, and one of the two writes; expected kith::inout "
                    "of all of them");
      }
      any_end = std::max(any_end, a.first + a.count);
      if (writes(a.how)) written_end = std::max(written_end, a.first + a.count);
    }
  }

  std::uint64_t open() {
    const std::lock_guard lock(guard_);
    return open_;
  }
  /// Records the spawn of a task, with each predecessor once.
  void note_step(std::vector<std::uint64_t> note) {
    note[3] = ticks();
    std::sort(note.begin() + 4, note.end());
    note.erase(std::unique(note.begin() + 4, note.end()), note.end());
    at_.note_flow(spawner_, std::move(note));
  }
  /// Waits until at most `most` tasks are open.
  void await(std::uint64_t most) {
    for (;;) {
      std::shared_ptr<detail::completion> fewer;
      {
        const std::lock_guard lock(guard_);
        if (open_ <= most) return;
        if (!fewer_) fewer_ = std::make_shared<detail::completion>();
        most_ = most;
        fewer = fewer_;
      }
      fewer->wait();
    }
  }

  /// Puts a task that may run into `sending`, or lets it wait until fewer are at its place. REQUIRES: guard_ is held.
  void admit(const std::shared_ptr<flow_task>& n, std::vector<std::shared_ptr<flow_task>>& sending) {
    if (!at_.is_here(n->to)) {
      window& w = windows_[static_cast<std::size_t>(n->to)];
      if (w.sent >= static_cast<std::uint64_t>(at_.job().threshold)) {
        w.ready.push_back(n);
        return;
      }
      ++w.sent;
    }
    n->sent = true;
    sending.push_back(n);
  }
  void send(const std::shared_ptr<flow_task>& n) {
    try {
      at_.send_activity(in_, n->to, *n->function, std::move(n->message), n->result, n->recorded);
    } catch (...) {  // a place was lost, or there is no memory
      fail(*n);
    }
  }
  /// Ends the task with the current exception.
  static void fail(const flow_task& n) {
    const std::shared_ptr<detail::remote_result> result = n.result;
    result->failure = std::current_exception();
    result->complete();
  }

  /// The task has ended, or will never run.
  void end(const std::shared_ptr<flow_task>& n) {
    std::vector<std::shared_ptr<flow_task>> ended{n}, sending;
    std::shared_ptr<detail::completion> fewer;
    bool last = false;
    {
      const std::lock_guard lock(guard_);
      if (n->result->failure && !failure_) {
        failure_ = n->result->failure;
        for (window& w : windows_) {
          ended.insert(ended.end(), w.ready.begin(), w.ready.end());
          w.ready.clear();
        }
      }
      while (!ended.empty()) {
        const std::shared_ptr<flow_task> m = std::move(ended.back());
        ended.pop_back();
        m->ended = true;
        m->result.reset();  // F4
        --open_;
        for (const std::shared_ptr<flow_task>& next : m->after) {
          if (--next->before != 0) continue;
          if (failure_) {
            ended.push_back(next);
          } else {
            admit(next, sending);
          }
        }
        m->after.clear();
        if (at_.is_here(m->to)) continue;
        window& w = windows_[static_cast<std::size_t>(m->to)];
        if (m->sent) --w.sent;
        if (w.ready.empty()) continue;
        admit(w.ready.front(), sending);
        w.ready.pop_front();
      }
      if (open_ <= most_) fewer = std::exchange(fewer_, nullptr);
      last = left_ && open_ == 0;
    }
    for (const std::shared_ptr<flow_task>& s : sending) send(s);
    if (fewer) fewer->complete();
    if (last) give_back();
  }

  /// Drops all copies, so that the program may change elements otherwise. REQUIRES: no task is open.
  void forget() noexcept {
    arrays_.clear();
    const std::uint64_t flow = std::exchange(number_, 0);
    for (std::size_t p = 0; p < used_.size(); ++p) {
      if (!used_[p]) continue;
      used_[p] = false;
      using known = detail::registered<detail::constant_function<&drop_copies>>;
      try {
        at_.send_activity(in_, static_cast<int>(p), known::entry, known::call::pack(detail::header_bytes, flow),
                          nullptr, {spawner_, 0});
      } catch (...) {  // a place was lost, so its copies are not used
      }
    }
  }
  /// Releases the finish (F2). The caller does not use the place afterwards.
  void give_back() noexcept {
    forget();
    std::optional<distributed::failure> unseen;
    if (failure_) {
      try {
        std::rethrow_exception(failure_);
      } catch (...) {
        unseen = distributed::current_failure(at_.number());
      }
    }
    at_.let_go(in_, std::move(unseen));
  }

  const data_flow_options options_;
  place& at_;
  const distributed::finish_id in_;
  std::uint64_t number_ = 0;    // until wait()
  std::uint64_t versions_ = 0;  // numbers given to writes
  std::uint64_t spawner_ = 0;   // of the last spawn, if the place is recorded

  std::mutex guard_;  // guards the members below
  std::unordered_map<std::uint64_t, accessed_array> arrays_;
  std::uint64_t open_ = 0;  // tasks that have not ended
  std::vector<bool> used_;  // places that may have copies
  std::vector<window> windows_;
  std::exception_ptr failure_;
  std::shared_ptr<detail::completion> fewer_;  // completes when at most `most_` tasks are open
  std::uint64_t most_ = 0;
  bool left_ = false;
};

}  // namespace

std::shared_ptr<detail::flow_graph> detail::flow_graph::make(const data_flow_options& o) {
  const distributed::caller me = distributed::caller_of("data_flow");
  if (o.most_tasks < 1) throw error("data_flow_options::most_tasks = 0: expected at least 1", error_kind::setting);
  return std::make_shared<graph>(o, me);
}

void detail::send_activity(int place, const remote_function& f, packed_arguments message,
                           std::shared_ptr<remote_result> result) {
  const distributed::caller me = distributed::caller_of("data_flow");
  me.at->send_activity(me.running->in, place, f, std::move(message), std::move(result));
}

place_local<detail::flow_cache>& detail::flow_caches() {
  static constinit made_once<std::unique_ptr<place_local<flow_cache>>> all;
  return *all.get([] { return std::make_unique<place_local<flow_cache>>(); });
}

}  // namespace kith
