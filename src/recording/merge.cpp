#include "recording/merge.hpp"

#include "recording/completed_times.hpp"
#include "recording/counts.hpp"
#include "recording/merge_flows.hpp"
#include "recording/merge_machines.hpp"
#include "recording/merge_messages.hpp"
#include "recording/merge_order.hpp"
#include "recording/part_numbers.hpp"
#include "recording/place_links.hpp"
#include "recording/time_corrections.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kith {

namespace {

constexpr std::uint32_t most_places = 1 << 16;

class merger {
 public:
  explicit merger(std::vector<place_part> parts) : parts_(std::move(parts)), numbers_(parts_.size()) {
    std::ranges::sort(parts_, {}, &place_part::number);
    const auto twice = std::ranges::adjacent_find(parts_, {}, &place_part::number);
    if (twice != parts_.end())
      throw error("two recordings of place " + std::to_string(twice->number) + " of one job", error_kind::input);
  }

  recording merge() {
    out_.meta = parts_.front().recorded.meta;
    const std::vector<clock_relation> clocks = clocks_of(parts_);
    for (std::size_t i = 0; i < parts_.size(); ++i) numbers_[i].clock = clocks[i];
    add_places();
    const std::vector<std::int16_t> first_nodes = merge_machines(parts_, out_);
    for (std::size_t i = 0; i < parts_.size(); ++i) numbers_[i].first_node = first_nodes[i];
    add_types();
    links_ = links_between(parts_, static_cast<std::uint32_t>(out_.places.size()));
    spawned_ = spawned_tasks(parts_, links_);
    results_ = results_of(parts_, links_);
    merged_order order = merge_order(parts_, clocks, spawned_);
    order_ = std::move(order.tasks);
    for (std::size_t i = 0; i < parts_.size(); ++i) numbers_[i].tasks = std::move(order.numbers[i]);
    number_scopes();
    separate_addresses();
    find_arrived();
    add_regions();
    merged_flows flows(parts_, numbers_, results_);
    add_tasks(flows);
    add_messages(parts_, numbers_, links_, out_, corrections_);
    add_events();
    flows.add_waits(out_);
    sort_events();
    name_awaited_results(out_);
    renumber_scopes();
    correct_times();
    set_completed_times(out_);
    out_.meta.erase("place");
    out_.meta["places"] = std::to_string(out_.places.size());
    out_.meta["workers"] = std::to_string(out_.worker_node.size());
    out_.meta["clock_corrected"] = std::to_string(corrections_.count());
    out_.meta["clock_corrected_ns"] = std::to_string(corrections_.most());
    return std::move(out_);
  }

 private:
  void add_places() {
    const std::uint32_t all = std::max<std::uint32_t>(parts_.front().places, std::uint32_t{parts_.back().number} + 1);
    if (all > most_places)
      throw error("damaged: place " + std::to_string(parts_.back().number) + " of " + std::to_string(all) +
                      ", expected up to " + std::to_string(most_places),
                  error_kind::input);
    out_.places.resize(all);
    std::size_t i = 0;
    for (std::uint32_t n = 0; n < all; ++n) {
      recorded_place& to = out_.places[n];
      to.first_worker = static_cast<std::uint32_t>(out_.worker_node.size());
      if (i == parts_.size() || parts_[i].number != n) continue;
      const place_part& p = parts_[i];
      to.workers = static_cast<std::uint32_t>(p.recorded.worker_node.size());
      to.host = p.host;
      to.offset_ns = std::llround(numbers_[i].clock.offset);
      to.drift_ppb = std::llround(numbers_[i].clock.drift * 1e9);
      to.error_ns = static_cast<std::uint64_t>(std::ceil(numbers_[i].clock.error));
      numbers_[i].first_worker = to.first_worker;
      out_.worker_node.insert(out_.worker_node.end(), p.recorded.worker_node.begin(), p.recorded.worker_node.end());
      ++i;
    }
  }

  void add_types() {
    std::unordered_map<std::string, std::uint16_t> known;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (const std::string& name : parts_[i].recorded.types) {
        const auto [at, fresh] = known.try_emplace(name, static_cast<std::uint16_t>(out_.types.size()));
        if (fresh) out_.types.push_back(name);
        numbers_[i].types.push_back(at->second);
      }
    }
  }

  /// Gives each part scope numbers of its own.
  void number_scopes() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      numbers_[i].first_scope = free_scope_;
      std::uint32_t last = 0;
      for (const recorded_task& t : parts_[i].recorded.tasks) last = std::max(last, t.scope + 1);
      for (const recorded_wait& w : parts_[i].recorded.waits) {
        if (w.scope != recorded_wait::for_future) last = std::max(last, w.scope + 1);
      }
      free_scope_ += last;
    }
  }

  /// Gives each process addresses of its own. Those that it has are below 2^48.
  void separate_addresses() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].clock != parts_.front().clock) numbers_[i].address = std::uint64_t{parts_[i].number} << 48;
    }
  }

  void find_arrived() {
    for (const message_link& l : links_) {
      if (l.received != nullptr && l.received->kind == recorded_message::spawn && l.received->task >= 0)
        arrived_.emplace_back(*part_of(parts_, l.destination), l.received->task);
    }
    std::ranges::sort(arrived_);
  }

  /// Adds the regions of the parts that use any, in the order of their first accesses; then those of parts that know
  /// only where regions are.
  void add_regions() {
    for (const auto& [i, n] : order_) {
      const recording& r = parts_[i].recorded;
      if (r.first_access[n] != r.first_access[n + 1]) add_regions_of(i);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].recorded.homes.empty()) add_regions_of(i);
    }
  }

  /// Does nothing at further calls for the same part.
  void add_regions_of(std::size_t part) {
    part_numbers& add = numbers_[part];
    if (!add.regions.empty()) return;
    for (recorded_region mine : parts_[part].recorded.regions) {
      mine.address += add.address;
      if (mine.home >= 0) mine.home = static_cast<std::int16_t>(mine.home + add.first_node);
      const auto [at, fresh] = regions_.try_emplace(mine.address, static_cast<std::uint32_t>(out_.regions.size()));
      if (fresh) out_.regions.push_back(mine);
      recorded_region& known = out_.regions[at->second];
      known.bytes = std::max(known.bytes, mine.bytes);
      if (known.home < 0) known.home = mine.home;
      add.regions.push_back(at->second);
    }
  }

  void add_tasks(merged_flows& flows) {
    out_.first_access.assign(1, 0);
    out_.first_dependence.assign(1, 0);
    for (const auto& [i, n] : order_) {
      const known_results::part_task which{i, static_cast<std::int32_t>(n)};
      recorded_task t = renumbered(i, parts_[i].recorded.tasks[n]);
      const auto spawned = spawned_.find(which);
      const place_part::made_task* const made = made_here(i, n);
      if (spawned != spawned_.end()) {
        set_spawner(t, spawned->second);
      } else if (made != nullptr) {
        set_maker(t, i, *made);
      } else if (t.has(recorded_task::outside) && parts_[i].number == 0 && !has_arrived(i, n)) {
        t.flags = static_cast<std::uint8_t>(recorded_task::root | (t.flags & recorded_task::skipped));
        t.create_until = t.created;  // the task given to place_runtime::run
      }
      flows.set_spawner(t, which, out_, free_scope_);
      out_.tasks.push_back(t);
      add_accesses(i, n);
      if (made != nullptr && made->continues) add_awaited(i, *made);
      if (t.of_data_flow()) flows.add_order(which, out_);
      out_.first_dependence.push_back(out_.dependences.size());
    }
  }

  /// The task with the numbers and times of the merged recording.
  recorded_task renumbered(std::size_t part, recorded_task t) const {
    const part_numbers& add = numbers_[part];
    t.scope += add.first_scope;
    t.type = add.types[t.type];
    if (t.creator >= 0) t.creator = add.task(t.creator);
    if (t.worker >= 0) t.worker += static_cast<std::int32_t>(add.first_worker);
    t.explorer = add.worker(t.explorer);
    if (t.color >= 0) t.color += static_cast<std::int32_t>(add.first_worker);
    t.node = add.node(t.node);
    t.created = add.time(t.created);
    t.create_until = add.time(t.create_until);
    t.ready = add.time_or_none(t.ready);
    t.started = add.time_or_none(t.started);
    t.ended = add.time_or_none(t.ended);
    t.completed = add.time_or_none(t.completed);
    t.explore_started = add.time_or_none(t.explore_started);
    t.explore_ended = add.time_or_none(t.explore_ended);
    return t;
  }

  /// Sets as the creator of a task that a message made the task's spawner. Children of one spawner at other places
  /// share a scope.
  void set_spawner(recorded_task& t, const spawned_task& from) {
    const std::int32_t creator = numbers_[from.part].task(from.spawner);
    if (creator < 0 || creator >= static_cast<std::int32_t>(out_.tasks.size())) return;
    t.creator = creator;
    t.flags &= static_cast<std::uint8_t>(~recorded_task::outside);
    // An activity with a result has a scope of its own: its future is waited for, not the finish.
    const auto [scope, fresh] =
        from.with_result ? std::pair(scope_of_.end(), true) : scope_of_.try_emplace(creator, free_scope_);
    t.scope = fresh ? free_scope_++ : scope->second;
    t.created = std::min(numbers_[from.part].time(from.sent), t.created);
    if (from.accepted != 0) t.create_until = std::max(t.create_until, numbers_[from.part].time(from.accepted));
  }

  /// The accesses and the dependences of the part's task `n`.
  void add_accesses(std::size_t part, std::size_t n) {
    const recording& r = parts_[part].recorded;
    const part_numbers& add = numbers_[part];
    for (std::uint64_t a = r.first_access[n]; a < r.first_access[n + 1]; ++a) {
      recorded_access x = r.accesses[a];
      x.region = add.region(x.region);
      if (x.passed_by >= 0) x.passed_by = add.task(x.passed_by);
      out_.accesses.push_back(x);
    }
    for (std::uint64_t d = r.first_dependence[n]; d < r.first_dependence[n + 1]; ++d)
      out_.dependences.push_back({add.task(r.dependences[d].before), r.dependences[d].bytes});
    out_.first_access.push_back(out_.accesses.size());
  }

  /// Whether a message made the task.
  bool has_arrived(std::size_t part, std::size_t task) const {
    return std::ranges::binary_search(arrived_, std::pair(part, static_cast<std::int32_t>(task)));
  }
  /// The place's record of a task that it has made for itself; null: there is none.
  const place_part::made_task* made_here(std::size_t part, std::size_t task) const {
    const std::vector<place_part::made_task>& all = parts_[part].made;
    const auto at = std::ranges::lower_bound(all, static_cast<std::int32_t>(task), {}, &place_part::made_task::task);
    return at != all.end() && std::cmp_equal(at->task, task) ? &*at : nullptr;
  }

  /// Sets as the creator of a task that a place has made for itself the previous part of its coroutine, or its spawner,
  /// in a scope of its own. If the log of an earlier Kith has too little information, the task keeps no creator.
  void set_maker(recorded_task& t, std::size_t part, const place_part::made_task& made) {
    const std::int32_t creator = made.before < 0 ? -1 : number_of({part, made.before});
    if (creator < 0 || creator >= static_cast<std::int32_t>(out_.tasks.size())) return;
    if (made.continues && made.suspended == 0) return;
    t.creator = creator;
    t.scope = free_scope_++;
    if (made.continues) {
      t.created = std::min(t.created, numbers_[part].time(made.suspended));
    } else {
      t.flags &= static_cast<std::uint8_t>(~recorded_task::outside);
    }
  }

  /// Adds a dependence on what a part of a coroutine has waited for, if a task ended it. A progress_function has
  /// no task.
  void add_awaited(std::size_t part, const place_part::made_task& made) {
    if (made.awaited >= 0) {
      out_.dependences.push_back({number_of({part, made.awaited}), 0});
    } else if (const auto result = results_.sent.find({part, made.result}); result != results_.sent.end()) {
      out_.dependences.push_back({number_of(result->second.sender), result->second.bytes});
    }
  }

  std::int32_t number_of(const known_results::part_task& t) const { return numbers_[t.first].task(t.second); }

  void add_events() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const recording& r = parts_[i].recorded;
      const part_numbers& add = numbers_[i];
      for (recorded_wait w : r.waits) {
        w.task = add.task(w.task);
        w.worker = add.worker(w.worker);
        w.begun = add.time(w.begun);
        w.ended = add.time(w.ended);
        if (w.scope != recorded_wait::for_future) w.scope += add.first_scope;
        out_.waits.push_back(w);
      }
      for (const recorded_steal& s : r.steals)
        out_.steals.push_back({add.worker(s.worker), add.worker(s.victim), add.time(s.at)});
      for (const recorded_idle& x : r.idles)
        out_.idles.push_back({add.worker(x.worker), add.time(x.begun), add.time(x.ended)});
      for (const recorded_job& j : r.jobs)
        out_.jobs.push_back({add.worker(j.worker), j.tasks, j.dependences, add.time(j.begun), add.time(j.ended)});
      add_counts(out_.counts, r.counts, add.tasks);
      for (const recorded_mark& m : r.marks) out_.marks.push_back({m.name, add.time(m.at)});
      for (const recorded_home& h : r.homes)
        out_.homes.push_back({add.region(h.region), add.node(h.node), h.bytes, add.time(h.at)});
      for (recorded_allocation a : r.allocations) {
        a.address += add.address;
        a.node = add.node(a.node);
        a.at = add.time(a.at);
        a.released = add.time_or_none(a.released);
        out_.allocations.push_back(a);
      }
    }
  }

  void sort_events() {
    std::ranges::sort(out_.waits, {}, &recorded_wait::begun);
    std::ranges::sort(out_.steals, {}, &recorded_steal::at);
    std::ranges::sort(out_.idles, {}, &recorded_idle::begun);
    std::ranges::sort(out_.jobs, {}, &recorded_job::begun);
    sort_counts(out_.counts);
    std::ranges::sort(out_.marks, {}, &recorded_mark::at);
    std::ranges::sort(out_.allocations, {}, &recorded_allocation::at);
    std::ranges::sort(out_.homes, {}, [](const recorded_home& h) { return std::tuple(h.region, h.at, h.node); });
  }

  /// Renumbers the scopes without gaps: tasks that were moved to other scopes leave some empty.
  void renumber_scopes() {
    std::unordered_map<std::uint32_t, std::uint32_t> known;
    const auto renumber = [&known](std::uint32_t& scope) {
      scope = known.try_emplace(scope, static_cast<std::uint32_t>(known.size())).first->second;
    };
    for (recorded_task& t : out_.tasks) renumber(t.scope);
    for (recorded_wait& w : out_.waits) {
      if (w.scope != recorded_wait::for_future) renumber(w.scope);
    }
  }

  void correct_times() {
    for (recorded_task& t : out_.tasks) {
      if (t.creator >= 0) corrections_.correct(t.created, out_.task(t.creator).created);
      corrections_.correct(t.create_until, t.created);
      if (t.worker < 0 && t.started == 0) continue;
      corrections_.correct(t.started, t.created);
      if (t.ended != 0) corrections_.correct(t.ended, t.started);
      if (t.completed != 0) corrections_.correct(t.completed, t.ended);
      t.ready = std::min(t.ready, t.started);
    }
  }

  std::vector<place_part> parts_;
  std::vector<part_numbers> numbers_;  // by part
  std::vector<message_link> links_;
  spawned_by_task spawned_;
  known_results results_;
  std::uint32_t free_scope_ = 0;                               // the numbers from here on are free
  std::map<std::int32_t, std::uint32_t> scope_of_;             // by spawner, of its children at other places
  std::vector<std::pair<std::size_t, std::int32_t>> arrived_;  // part and task, of received activities
  std::vector<std::pair<std::size_t, std::size_t>> order_;     // part and task, in the new order
  std::unordered_map<std::uint64_t, std::uint32_t> regions_;   // by address
  time_corrections corrections_;
  recording out_;
};

}  // namespace

recording merge_places(std::vector<place_part> parts) { return merger(std::move(parts)).merge(); }

}  // namespace kith
