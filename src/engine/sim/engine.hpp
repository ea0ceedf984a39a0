// The simulator's engine: does what the native one does with tasks, in simulated time. Called through simulation.hpp.
//
// A policy call runs at its event's time; the worker that calls spends the call's cost afterwards. A worker pays for a
// search for work before it searches: a worker that is nearer to the queue may find first what was pushed just before.
#pragma once

#include "engine/life/throttle.hpp"
#include "engine/sim/node_time.hpp"
#include "engine/sim/places.hpp"
#include "engine/sim/records.hpp"
#include "engine/sim/run_notes.hpp"
#include "engine/sim/simulation.hpp"
#include "engine/sim/unit.hpp"
#include "engine/sim/world.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace kith::sim {

/// The least time that passes, even if all costs are 0.
inline constexpr picoseconds least_step = 1000;

class engine {
 public:
  engine(const program&, const machine_model&, const run_options&);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  result run();

  // Called by workers.
  bool ring(worker& w, const worker_set& audience);
  bool anybody_sleeps(const policy_group& g) const noexcept;
  void charge(worker& w, event e, worker_id owner);
  bool drop_if_dead(task& t);
  [[noreturn]] void refuse(task& t, const std::string& why) const;
  void submit(worker& w, kith::job<sequential::worker_view>& j, const worker_set& audience);

 private:
  // The steps of the constructor, in this order: each needs the results of those before it.
  void number_regions();
  void make_members();
  void make_groups(const std::string& policy);
  void make_unit();
  void make_workers();
  void make_records();

  // roots.cpp: when the members of the program begin
  void start_members(const worker& w);
  /// Begins a root whose turn it is on this worker, which has nothing to run or waits; false if there is none.
  bool begin_due_root(worker& w) { return unbegun_ != 0 && try_begin_root(w); }
  bool try_begin_root(worker& w);
  void begin_root(worker& w, std::size_t member);
  void end_root(std::int32_t t, const worker& w);
  void wake_for_root(std::size_t member, picoseconds now);
  void set_start_event(std::size_t member, picoseconds start);

  // create.cpp, life.cpp, compute.cpp and ends.cpp: what happens to tasks
  void step(worker& w);
  void start(worker& w, std::int32_t t, bool at_creation = false);
  void note_worker(std::int32_t t, const worker&);
  void name_passers(const task_record&);
  bool take(std::int32_t t);
  void run_action(worker& w);
  void compute(worker& w, frame& f, picoseconds work);
  void begin_fetch(worker& w, frame& f, picoseconds work);
  bool find_touched(data_walk& d);
  void fetch_chunk(worker& w, frame& f);
  /// A step that spends the time, and one that creates.
  void create(worker& w, std::int32_t t) {
    if (w.frames.back().time_paid) {
      create_paid(w, t);
    } else {
      pay_for_creation(w, t);
    }
  }
  void pay_for_creation(worker& w, std::int32_t t);
  void create_paid(worker& w, std::int32_t t);
  policy_task& make_policy_task(worker& w, std::int32_t t);
  void add_edge(task_record& before, std::uint32_t d, std::int32_t after);
  bool link(std::int32_t t);
  void submit(worker& w, std::int32_t t);
  void explore(worker& w);
  bool is_member(const task_record& made, std::int32_t creator) const;
  bool is_throttled_member(worker& w, std::uint32_t scope) const;
  void begin_help(worker& w, std::uint32_t scope, bool member);
  void end_help(worker& w);
  void wait(worker& w, std::uint32_t scope);
  bool may_resume(const frame& wait) const;
  void end_body(worker& w);
  bool leave(worker& w, std::int32_t t, std::uint32_t first_scope);
  void end(std::int32_t t, worker& w, bool keep_next);
  void pass_turns(policy_task& v, worker& w);
  void report_to_scope(std::int32_t t, worker& w);
  void end_fences(std::vector<std::int32_t>& fences, worker& w);
  void start_released(worker& w, bool keep_next);
  void count_down_answered(const worker& w);
  void make_named_nodes(std::int32_t t, worker& w, bool keep_next);
  void end_left(worker& w, bool keep_next);
  void end_in_scope(std::uint32_t scope, worker& w);
  void wake_waiter(std::uint32_t scope, worker& w);
  void release(std::int32_t t, worker& w, std::vector<std::int32_t>& fences);
  void forget(std::int32_t t);
  void make_ready(worker& w, std::vector<task*>& batch, ready_reason why, bool keep);
  void requeue(worker& w, std::int32_t t);
  bool prepare_ready(std::int32_t t);
  static void note_predecessor_ended(const task_record& r, const worker& w);
  void count_accesses(worker& w, frame& f);

  // lines.cpp: how tasks replay their lines
  void make_lines();
  bool has_rows(const frame& f) const noexcept;
  /// The core's own time between two of the task's accesses.
  picoseconds access_interval(std::size_t task) const noexcept;
  void begin_replay(worker& w, frame& f, picoseconds work, bool all);
  void replay(worker& w, frame& f);
  std::uint32_t lines_in_use(const worker& w, std::int32_t task) const noexcept;
  void measure_lines_from_here();
  void line_results(result& r);

  // search.cpp: what idle workers do
  /// A step that spends the time, and one that looks.
  void search(worker& w) {
    if (w.search_paid) {
      look_for_task(w);
    } else {
      pay_for_search(w);
    }
  }
  void look_for_task(worker& w);
  static bool may_claim_children(const worker& w) noexcept;
  bool run_unqueued(worker& w);
  bool run_prefetched(worker& w);
  void run_given(worker& w, task& t);
  bool run_if_found(worker& w, std::int32_t t);
  bool run_if_claimed(worker& w, std::int32_t child, bool in_vain);
  void pay_for_search(worker& w);
  void note_found(worker& w);
  void found_nothing(worker& w, poll_result::answer answer);
  void run_found(worker& w, std::int32_t t);
  bool may_run_on(const frame& wait, std::int32_t t) const;
  std::optional<std::size_t> find_resumable_stack(worker& w, bool all_stacks, bool idle) const;
  bool switch_stack(worker& w, bool all_stacks = false, bool idle = false);
  void leave_stack(worker& w);
  bool claim(std::int32_t t);
  std::int32_t claim_child(std::uint32_t scope, bool all);
  std::int32_t claim_adopted(worker& w);
  std::int32_t claim_awaited(worker& w);
  void begin_job(worker& w);
  void end_job(worker& w);
  void begin_search(worker& w);

  // park.cpp: how they sleep, and are woken
  void end_last_round(worker& w);
  void park(worker& w);
  void register_waiter(const worker& w);
  void wake(worker& w, picoseconds time);
  void wake_at(worker& w, picoseconds time);
  [[noreturn]] void starved();

  // queue_costs.cpp: what pushes, pops and steals cost
  picoseconds far_cost(picoseconds near, int distance) const noexcept;
  int distance_of_shared() const;

  // places.cpp: tasks that belong to places, and messages between these
  std::uint32_t place_of(std::int32_t t) const noexcept;
  /// The color of a task of recorded places: a worker of its place. A recording numbers the workers of all places in a
  /// row.
  std::int32_t color_at_place(std::size_t task) const noexcept;
  /// A node of the task's place on this machine, for one of the place's nodes as recorded.
  std::int16_t node_at_place(std::size_t task) const;
  /// The workers that a color of the task may name: those of its place.
  const team& owners_of_colors(std::int32_t t) const noexcept;
  std::uint64_t argument_bytes(std::int32_t t) const noexcept;
  std::uint32_t home_of(std::uint32_t scope) const noexcept;
  bool is_elsewhere(std::int32_t t, const worker& w) const noexcept { return network_ && place_of(t) != w.group.place; }
  void make_places();
  worker& make_progress(std::uint32_t place, picoseconds now);
  void deliver_message();
  void count_down(std::int32_t t, worker& progress);
  void end_in_remote_scope(std::uint32_t scope, worker& w);
  void place_results(result& r) const;

  // place_offers.cpp: tasks for other places
  void offer(worker& w, std::int32_t t);
  void receive_offer(const place_message& m);
  void receive_answer(const place_message& m);

  // place_enables.cpp: dependences between places
  bool link_among_places(std::int32_t t);
  bool is_released_elsewhere(std::int32_t ended, std::int32_t next, std::uint32_t dependence, const worker& w);
  void send_enable(worker& w, std::uint32_t to, std::vector<std::uint32_t> dependences);
  void send_enables(worker& w);
  void send_late_enables(std::int32_t t, std::span<const std::uint32_t> dependences);
  void receive_enable(const place_message& m);

  // place_flows.cpp: what a place makes for itself, and results
  bool has_result(std::int32_t t) const noexcept;
  /// Whether the place of the task's creator learns of its end by a message with its result.
  bool answers(std::int32_t t) const noexcept;
  /// Whether the task waits at the place of its creator, and is made there when it may run.
  bool waits_for_answers(const task_record& t) const noexcept { return network_ && (t.continues || t.flow); }
  void continue_later(worker& w, std::int32_t t);
  void add_to_flow(worker& w, std::int32_t t);
  void count_down_wait(std::int32_t t, std::uint32_t place, picoseconds now);
  void admit(std::int32_t t, worker& progress);
  void offer_of_flow(std::int32_t t, worker& progress);
  void send_result(std::int32_t t, worker& w);
  void receive_result(const place_message& m);

  // place_requests.cpp: requests, which progress threads serve
  void ask(worker& w, std::size_t request);
  void await_reply(worker& w, std::size_t request);
  void receive_reply(const place_message& m);

  // hardware.cpp: searching, if the queues are in a scheduling unit
  void count_message(const worker& w, bool to_unit, int bytes);
  void push_to_unit(worker& w);
  void request_from_unit(worker& w);
  poll_result poll_unit(worker& w, picoseconds now);
  task* queue_ready(worker& w, std::span<task* const> tasks, ready_reason why);
  void read_tasks(worker& w, picoseconds now);
  void receive_from_unit(worker& w);
  std::int32_t take_prefetched(worker& w);
  void request_ahead(worker& w, picoseconds now);
  void set_prefetch_event(const worker& w, picoseconds time);
  void step_prefetcher(worker& w, picoseconds now);
  bool answer_waiting_request(const worker& w, const worker_set& audience);

  void spend(worker& w, picoseconds time) {
    w.clock += time;
    w.overhead += time;
  }
  picoseconds cost(double ns) const { return options_.parts.scheduling ? static_cast<picoseconds>(ns * 1000) : 0; }
  /// A member's colors and nodes refer to the machine where it was recorded; they are scaled to this one.
  std::int32_t color_here(const program::member& recorded, std::int32_t c) const noexcept {
    const std::int32_t then = recorded.workers;
    if (c < 0 || then == 0) return c;
    const std::int64_t here = c < then ? std::int64_t{c} * team_.size() / then : std::int64_t{c} - then + team_.size();
    return static_cast<std::int32_t>(std::min<std::int64_t>(here, std::numeric_limits<std::int32_t>::max()));
  }
  std::int32_t node_here(const program::member& recorded, std::int32_t n) const noexcept {
    return n < 0 ? n : static_cast<std::int32_t>(std::int64_t{n % recorded.nodes} * team_.nodes() / recorded.nodes);
  }
  /// The policy of the first group. Those of other groups need and observe the same.
  const policy_calls<sequential::world>& policy() const noexcept { return groups_.front().policy; }
  task_record& record_of(std::int32_t t) { return records_[static_cast<std::size_t>(t)]; }
  task_state& state_of(std::int32_t t) { return record_of(t).state; }
  policy_task& policy_task_of(std::int32_t t) { return *record_of(t).slot; }
  std::span<const program::access> accesses(const task_record& t) const noexcept {
    return {program_.accesses.data() + t.first_access, program_.accesses.data() + t.end_access};
  }
  std::span<const std::int32_t> predecessors(const task_record& t) const noexcept {
    return {program_.predecessors.data() + t.first_dependence, program_.predecessors.data() + t.end_dependence};
  }
  // These prefetch what a worker will read when it continues. Other workers run meanwhile. They change no result.
  void expect_predecessors(const task_record& t) const noexcept {
    for (const std::int32_t before : predecessors(t)) __builtin_prefetch(&records_[static_cast<std::size_t>(before)]);
  }
  /// Called when one predecessor is left.
  void expect_ready(const task_record& t) const noexcept {
    __builtin_prefetch(accesses(t).data());
    __builtin_prefetch(&program_.actions[t.first_action]);
  }
  /// Called when the task is ready: its accesses were fetched meanwhile, and name the regions that will be read.
  void expect_start(const task_record& t) const noexcept {
    for (const program::access& a : accesses(t)) __builtin_prefetch(&regions_[a.kept.region]);
  }
  void expect_end(const task_record& t) const noexcept {
    __builtin_prefetch(&program_.compute[static_cast<std::size_t>(&t - records_.data())]);
    if (t.first_successor != 0) __builtin_prefetch(&successors_[t.first_successor - 1]);
  }
  void place_by_colors();
  void place_by_layout();
  void place_by_regions();
  void put(std::uint32_t region, node_id home);
  void note_moved(std::uint32_t region) {
    if (moved_.empty()) moved_.resize(regions_.count());
    moved_[region] = true;
  }
  /// Whether a chunk of this region moves before a task of the worker uses it: a chunk that is written, with "+pm"; or
  /// if the policy has asked that the region move here.
  bool moves_here(const worker& w, std::uint32_t region, bool writes) const {
    return (migrates_ && writes) || (!moved_.empty() && moved_[region] && regions_[region].home_node() == w.node);
  }
  void move_chunk(worker& w, std::uint32_t region, std::uint32_t chunk);
  /// A region smaller than a page does not move, because its neighbours' data would move with it.
  bool may_move(std::uint64_t region_bytes) const noexcept { return region_bytes >= machine_.page_bytes; }
  void measure_from_here();
  result results();

  // schedule.cpp: the simulated run as a recording, if there are notes_
  void note_first_homes();
  void note_homes(std::int32_t t, picoseconds began);
  void note_home(std::uint32_t region, picoseconds since);
  void note_message(const place_message& m, picoseconds now);
  recording finish_schedule();
  void finish_places(recording& s) const;

  struct scope_state {
    std::uint64_t unfinished = 0, created = 0;
    std::uint64_t ended_here = 0, throttle_at = 0;
    std::int32_t owner = -1;             // the worker that creates in it
    bool leveled = false;                // children have several priorities: the policy is asked before any is claimed
    std::int32_t waiter = -1;            // the worker that waits until it is empty
    std::int32_t task = -1;              // the parent task
    std::uint32_t next_of_task = 0;      // 1 + the next scope of the same parent; 0: none
    bool left = false;                   // the parent's body has ended; the parent ends when the scope is empty
    std::vector<std::int32_t> children;  // listed children, which may be claimed
    bool linked = false;                 // its nodes (of a static graph) have their edges
    // `wanted` has the nodes that the next wait starts: first those from which a keyed graph is explored, then
    // those without predecessors. Until that wait begins, `held` explored nodes are not waited for.
    std::vector<std::int32_t> wanted;
    std::uint64_t held = 0;
  };

  const program& program_;
  const machine_model& machine_;
  const run_options options_;
  const life::throttle throttle_{options_.throttle};
  const std::vector<core_id> cores_;  // of the workers
  const team team_;
  region_table regions_;
  std::optional<address_layout> layout_;  // if the recording's allocations decide homes
  memory_view view_;
  bool migrates_ = false;             // pages of written data move to the node that writes them
  std::vector<bool> moved_;           // by region: its home has moved because the policy asked; empty: none has
  std::vector<std::int16_t> ran_on_;  // by task: the worker that started it; empty if no task delivers references
  std::vector<std::uint64_t> bytes_by_node_;  // scratch
  class program_identities final : public identity_source {
   public:
    explicit program_identities(const program& p) : program_(p) {}
    std::uint64_t identity_of(const task& t) const override;
    std::uint64_t identity_of(std::int32_t n) const;

   private:
    const program& program_;
    mutable std::vector<std::uint64_t> all_;  // made at the first call
  } identities_{program_};
  std::deque<policy_group> groups_;  // one for each place; without places, one
  std::optional<memory> memory_;
  std::optional<line_memory> lines_;  // in fidelity line, in place of memory_
  picoseconds most_ahead_ = 0, contention_time_ = 0;
  double replay_began_ = 0;  // by this thread's processor clock
  data_rates data_;
  struct {
    picoseconds create, push, pop, attempt, steal, wake;
  } const costs_;  // the machine's costs; 0 if scheduling is free
  struct {
    picoseconds push, pop, steal;
  } const shared_costs_;  // for queues without an owner
  std::deque<worker> workers_;
  std::optional<place_network> network_;  // if there are places
  std::deque<place_state> places_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, flow_window> flow_windows_;  // by scope and place
  std::vector<request_progress> requests_;                                       // by request
  std::unordered_map<std::int32_t, std::uint32_t> replies_left_;  // by part of a coroutine; never iterated
  picoseconds message_cost_ = 0;                                  // a progress thread's time for a message
  picoseconds now_ = 0;
  std::optional<unit> unit_;             // if the queues are in hardware
  std::vector<prefetcher> prefetchers_;  // by worker, if the queues are in hardware
  event_queue events_;                   // of the workers; those of prefetchers follow
  picoseconds partition_time_ = 0;
  std::vector<task_record> records_;
  struct successor {
    std::int32_t task;
    std::uint32_t next;  // 1 + the next dependence on the same predecessor; 0: none
  };
  std::vector<successor> successors_;  // by dependence
  static constexpr std::size_t slots_at_once = 64;
  std::vector<std::unique_ptr<policy_task[]>> slot_blocks_;
  std::vector<policy_task*> free_slots_;
  std::vector<scope_state> scopes_;
  std::vector<std::uint32_t> left_scopes_;     // by task: how many of its scopes were not empty when its body ended
  std::vector<std::uint32_t> left_and_empty_;  // scopes whose parents must be ended
  std::unordered_map<const void*, picoseconds> queue_free_at_;  // when a queue is free again; never iterated
  std::pair<const void*, picoseconds*> last_queue_{};           // the entry that was used last
  std::vector<task*> batch_;
  std::vector<std::uint32_t> to_enable_;  // dependences of tasks of other places on the task that ends now
  std::vector<std::int32_t> answered_;    // tasks that wait, at their creators' place, for the task that ends now
  /// How far a member of the program is.
  struct member_state {
    std::size_t next_root;
    std::uint32_t root_worker;
    bool runs = false;  // a root of it has begun and not ended
    picoseconds starts = 0, ended = 0;
  };
  std::vector<member_state> members_;  // by member
  std::size_t unbegun_ = 0;            // members of which no root runs, and one is left
  bool started_ = false;               // what comes before the last marks has run
  bool done_ = false;
  std::uint32_t sequence_ = 0;
  std::uint64_t steps_ = 0, events_taken_ = 0;  // result::steps, result::events
  picoseconds run_began_ = 0;                   // the current run; a recording may hold several
  std::optional<run_notes> notes_;              // if the schedule is kept

  struct baseline {
    picoseconds time = 0, serial = 0, partition = 0;
    std::uint64_t local_bytes = 0, remote_bytes = 0, migrated_bytes = 0, hits = 0, misses = 0;
    std::vector<event_snapshot> sums;
    std::vector<worker_times> times;
    std::vector<interconnect::link> links;
    line_counts lines;
    std::uint64_t unit_operations = 0;
    picoseconds unit_busy = 0;
    std::uint64_t unit_spills = 0;
  } baseline_;
  picoseconds serial_time_ = 0;
};

}  // namespace kith::sim
