// A place: a runtime, and a progress thread that exchanges messages and owns the fresh activity buffer (FAB).
//
// ADS paper, section 4. An activity from another place is in the FAB from its acceptance until its function starts; the
// tasks themselves are in the queues of the place's policy (policy/ads.hpp has a queue for them). Members under "the
// progress thread" are called by that thread only; all others may be called by any thread. Invariants:
//  P1  Only the progress thread adds to the FAB's occupancy, after it has compared it with the threshold. Without
//      credits only forced activities exceed the threshold; with credits the shares bound it (P4).
//  P2  The caller of spawn() runs in an activity of the same finish, which is open here until spawn() returns. So the
//      finish cannot end between the call and the count.
//  P3  The answer to a spawn that engages the receiver is sent before its activity can run, so before its `done`.
//  P4  The credits of place p at place q are p's share of q's room, less the activities of p that are under way, in q's
//      FAB, or not yet credited back. q returns credits once it owes half a share, so no spawner waits while all have
//      started.
//  P5  The progress thread calls a progress_function as soon as its message is accepted: the function is never in the
//      FAB, is never refused, and takes no credit.
//  P6  Of an idempotent activity the spawner counts only the result, and keeps the arguments until the result arrives.
//      Where the activity runs, it is the body of a finish of its own, and the end of that finish sends the result. So
//      a loss of that place loses no count of the spawner's finish.
#pragma once

#include "base/atomic.hpp"
#include "places/collective_hub.hpp"
#include "places/control.hpp"
#include "places/finish_table.hpp"
#include "places/place_records.hpp"
#include "places/transport.hpp"
#include "queue/native/inbox.hpp"

#include <kith/places.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::distributed {

/// What all places of a place_runtime share. Does not change while they live.
struct setup {
  int places = 1;
  bool one_group = false;  // cws: there is one place object, and the named place is ignored
  int threshold = 32;      // FAB occupancy from which on activities are refused
  std::chrono::nanoseconds retry{}, retry_most{};
  int most_refusals = 64;
  place_waiting waiting = place_waiting::works;
  bool credits = false;
  std::chrono::nanoseconds credit_wait{};
  bool survives_losses = false;
  std::uint32_t functions = 0;
  bool processes = false;   // each place is a process
  std::uint64_t clock = 0;  // a random number, the same for all places that read the same clock

  /// The credits of one place at another (P4).
  int share() const noexcept { return std::max(1, threshold / std::max(1, places - 1)); }
};

/// What waits for the end of a finish: a thread or task, or a coroutine.
struct finish_wait {
  detail::completion ended;
  std::optional<failure> failed;
  std::exception_ptr thrown;          // by the body
  std::function<void()> resume = {};  // resumes a coroutine; called when the finish and its body have ended
  atomic<int> open{2};
  std::uint64_t body = 0;  // the body's task, as recordings name it; written before the body ends
  bool begun = false;      // registered in waits_
  bool given_up = false;   // a place was lost, and the finish has ended before its body

  void end_one() {
    // acq_rel: pairs with the other call; the coroutine sees what the body and the finish left here.
    if (open.fetch_sub(1, acq_rel) == 1 && resume) resume();
  }
  void complete() {
    ended.complete();
    end_one();
  }
  /// Throws the failure or exception of the finish, if there is one.
  void rethrow() const;
};

/// The finish whose body is an idempotent activity, with the body's result (P6).
struct own_finish : finish_wait {
  std::uint64_t task = 0;  // the task that ended the body, as recordings name it
  detail::byte_buffer value;
  std::optional<failure> body_failed;
};

/// A function that runs at a place, as part of a finish. The closure of its task owns it.
struct activity_record {
  int at = 0;  // the place that was named
  finish_id in;
  bool fresh = false;           // counted in the FAB
  bool credited = false;        // it took one of result_to's credits
  std::uint32_t result_to = 0;  // the place that spawned it
  std::uint64_t result = 0;     // the result's number there; 0: no result is wanted
  std::uint64_t spawner = 0;    // given to send_activity(), as recordings name it
  const detail::remote_function* function = nullptr;
  detail::byte_buffer message;    // the arguments, after the header
  void (*body)(void*) = nullptr;  // the body of a finish, in place of a function
  void* context = nullptr;
  std::shared_ptr<finish_wait> waiting;  // for a finish's body: gets its exception
  std::shared_ptr<own_finish> own;       // for an idempotent activity from another place

  // For a running activity. A coroutine runs in parts, one after the other; a part ends after the tasks that it
  // created.
  detail::activity_coroutine* coroutine = nullptr;
  std::uint64_t task = 0;     // of the latest part, as recordings name it
  atomic<int> parts{1};       // not ended; the next part is counted before the coroutine is suspended
  detail::byte_buffer value;  // the return value, after room for a header
  std::optional<failure> failed;
  std::exception_ptr thrown;

  activity_record() = default;
  activity_record(const activity_record&) = delete;
  activity_record& operator=(const activity_record&) = delete;
  ~activity_record() { end_coroutine(); }
  void end_coroutine() noexcept {
    if (coroutine != nullptr) std::exchange(coroutine, nullptr)->handle().destroy();
  }
};

/// What a recording notes of an activity whose spawner or result differs from the usual ones, for which 0 stands: the
/// running task, and the next number of a result.
struct recorded_spawn {
  std::uint64_t spawner = 0, result = 0;
};

class place {
 public:
  /// `net` is this place's endpoint.
  place(const setup& job, int number, const runtime_options& each, endpoint& net);
  /// REQUIRES: nothing is open at any place, or this is a child of fork(), in which the places' threads do not exist.
  ~place();
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  /// Starts the progress thread: from then on activities from other places may run here.
  void start();
  bool has_started() const noexcept { return progress_.joinable(); }

  /// Spawns on behalf of `spawner`, which runs here.
  void spawn(const activity_record& spawner, int to, const detail::remote_function& f, detail::packed_arguments message,
             std::shared_ptr<detail::remote_result> result);
  /// As spawn(), for an idempotent activity. REQUIRES: losses are survived.
  void spawn_idempotent(const activity_record& spawner, int to, const detail::remote_function& f,
                        detail::packed_arguments message, std::shared_ptr<detail::remote_result> result);
  /// Whether that place was lost.
  bool has_lost(int number) const;
  /// As spawn(), in a finish that is open here until this returns, and without waiting until the other place has
  /// accepted the activity. If `to` is this place, the activity's task is not a child of the caller's. The arguments
  /// are copied.
  void send_activity(finish_id in, int to, const detail::remote_function& f, detail::packed_arguments message,
                     std::shared_ptr<detail::remote_result> result, const recorded_spawn& as = {});
  /// Whether what happens here is recorded.
  bool is_recorded() const noexcept { return records_ != nullptr; }
  /// The running task, as recordings name it; 0: this thread runs no task of this place.
  std::uint64_t running_task() const;
  /// A number for recorded_spawn::result. REQUIRES: this place is recorded.
  std::uint64_t number_result();
  /// Records a step of a task with a data_flow (place_records::flow). REQUIRES: this place is recorded.
  void note_flow(std::uint64_t task, std::vector<std::uint64_t> numbers);
  /// Keeps a finish that is open here open until let_go(), which may give it a failure.
  void hold(finish_id in);
  void let_go(finish_id in, std::optional<failure> why) { end(in, std::move(why)); }
  int number() const noexcept { return number_; }
  bool is_here(int to) const noexcept { return to == number_ || job_.one_group; }
  const setup& job() const noexcept { return job_; }
  /// Runs `f` as the body of a new finish and waits for the finish. `caller` is null outside of activities.
  void finish(const activity_record* caller, void (*f)(void*), void* context);
  /// As finish(), for a coroutine: returns at once, and `waiting->resume` is called when the finish and its body have
  /// ended.
  void begin_finish(const activity_record* caller, void (*f)(void*), void* context,
                    std::shared_ptr<finish_wait> waiting);
  /// A function that resumes the running activity's coroutine, which is about to be suspended. Called once: when
  /// `finish` has ended, or, if it is null, when what the coroutine waits for is there.
  std::function<void()> resumption(activity_record& coroutine, std::coroutine_handle<> suspended,
                                   const finish_wait* finish = nullptr);
  /// Takes part in a collective, and waits for its end. Any task may call it; one at a time at each place.
  void take_part(const char* call, const collective& c);
  /// Called at place 0 when a run begins, and when it has ended.
  void begin_run();
  void end_run();
  /// The activity to which the running task belongs; null if it belongs to none.
  activity_record* current() const;
  /// The number of this place's engine.
  std::uint64_t engine() const noexcept { return engine_; }
  /// The file of this place's recording; empty: nothing is recorded. The place's owner assembles the parts after it has
  /// destroyed the place.
  const std::string& recorded_in() const noexcept { return recorded_in_; }
  /// Ends the runtime: waits until its last tasks have left.
  void end_tasks();
  /// Waits until all coroutines that have begun have ended.
  void await_coroutines() const;
  place_statistics statistics() const;
  /// REQUIRES: nothing is open, so that no thread counts.
  void reset_statistics();

  // ---- in a job of several processes

  /// The state of the job: ends of runs, counts and losses.
  control& control_of_job() noexcept { return control_; }
  /// Sends the message to all other places.
  void tell_others(message_header h, const std::optional<failure>& why = {});
  /// Tells the others that this place wants to end. REQUIRES: nothing is open here except what a lost place has
  /// spawned.
  void begin_leaving();
  /// Waits until everything that a lost place has spawned here has ended, and then until all places want to end, or a
  /// place is lost that they cannot do without.
  void await_left() { control_.await_left(); }
  const runtime& tasks() const noexcept { return *tasks_; }

 private:
  /// A message for the progress thread to send.
  struct outgoing {
    int to = 0;
    detail::byte_buffer message;
    std::shared_ptr<const detail::packed_arguments>
        offered;  // an offer's message, shared because it may be sent again; `message` is then empty
    outgoing* next = nullptr;
  };
  friend void set_next(outgoing& o, outgoing* next) noexcept { o.next = next; }
  friend outgoing* get_next(const outgoing& o) noexcept { return o.next; }

  /// A spawn that waits for its answer.
  struct offer {
    int to = 0;
    finish_id in;
    std::shared_ptr<const detail::packed_arguments> message;  // the transport may still read the one sent last
    std::chrono::steady_clock::time_point deadline;           // for the credit
    int refusals = 0;
    bool idempotent = false;
    detail::completion accepted;        // for a spawner that works meanwhile
    atomic<std::uint32_t> answered{0};  // for a spawner that is blocked
    atomic<bool> dropped{
        false};  // a place was lost; written before the two above, except for an offer sent with a credit

    void complete() {
      answered.store(1, release);  // pairs with wait_for()
      answered.notify_all();
      accepted.complete();
    }
  };
  /// A collective that a task waits for.
  struct pending_collective {
    collective what;
    detail::completion ended;
    // Written before `ended` completes. The waiting task makes the exception from these: an exception object that two
    // threads share is freed by either, and the thread sanitizer cannot see that this is safe.
    std::optional<failure> failed;
    std::optional<error> refused;
    std::shared_ptr<const std::byte> combined = {};  // the result, where losses are survived; null: there is none
  };
  /// A result that an activity waits for.
  struct awaited {
    std::shared_ptr<detail::remote_result> result;
    finish_id in;
    int from = 0;  // the place that sends it
    // For an idempotent activity.
    const detail::remote_function* function = nullptr;
    std::shared_ptr<const detail::packed_arguments> message = {};
  };
  /// A suspended coroutine that is to go on as a new task.
  struct resumed_part {
    activity_record* coroutine = nullptr;
    std::coroutine_handle<> suspended;
    std::uint64_t since = 0;  // ticks; 0: nothing is recorded
    place_records::awaited for_what = {};
  };
  /// The arguments of place_records::flow().
  struct flow_note {
    std::uint64_t task = 0;
    std::vector<std::uint64_t> numbers;
  };
  class closure;

  std::uint64_t open(finish_id in, int to, std::shared_ptr<detail::remote_result> result, std::uint64_t number = 0);
  std::unique_ptr<activity_record> make_activity(finish_id in, int at, const detail::remote_function& f,
                                                 detail::packed_arguments message) const;
  std::shared_ptr<offer> make_offer(finish_id in, int to, const detail::remote_function& f,
                                    detail::packed_arguments message, std::shared_ptr<detail::remote_result> result,
                                    const recorded_spawn& as = {});
  std::shared_ptr<offer> offer_idempotent(std::uint64_t result, int to, detail::packed_arguments message);
  void register_offer(const std::shared_ptr<offer>& made, detail::packed_arguments message, message_header h,
                      const detail::remote_function& f);
  int living_place(int preferred);
  void post_offer(offer& o);
  void leave_buffer(activity_record& a) noexcept;
  std::uint64_t make_task(std::unique_ptr<activity_record> a);
  void run(std::unique_ptr<activity_record> a) noexcept;
  void run_part(activity_record& a, const std::function<void()>& code) noexcept;
  void conclude(activity_record& a);
  void send_result(std::uint32_t to, std::uint64_t result, std::uint64_t task, detail::byte_buffer value,
                   const std::optional<failure>& failed);
  void open_own_finish(const message_header& h, activity_record& a);
  void end(finish_id f, std::optional<failure> why, std::optional<int> heard_from = {});
  void deliver(std::uint64_t result, detail::byte_buffer value, const std::optional<failure>& failed);
  void post(int to, detail::byte_buffer message);
  void wait_for(offer& o) const;
  void contribute(const std::shared_ptr<pending_collective>& mine, detail::byte_buffer message);
  void send_answers(const collective_hub::answers& answers);
  void end_first_collective(const std::shared_ptr<const detail::packed_arguments>& message);
  bool do_collectives();
  void end_collectives(const std::optional<failure>& failed, const error* refused);
  void refuse_if_lost() const;
  void refuse_if_lost(int to) const;
  void wait_for_body(const activity_record* caller);

  // ---- the progress thread
  void progress();
  bool send_outgoing(bool offers = true);
  bool make_tasks();
  void send(int to, detail::byte_buffer message);
  void send(int to, const std::shared_ptr<const detail::packed_arguments>& offered);
  void count_message(int to, const message_header& h, std::size_t bytes);
  bool offer_again();
  void take_credits(const message_header& h);
  bool send_without_credit();
  std::chrono::steady_clock::time_point next_time();
  void handle(detail::byte_buffer message);
  std::uint64_t accept(const message_header& h, detail::byte_buffer message);
  void serve(const message_header& h, const detail::remote_function& f, std::span<const std::byte> arguments);
  void answered(const message_header& h);
  void refused(const message_header& h);
  void handle_control(const message_header& h, std::optional<failure> failed, place_statistics counted);
  bool outlives_loss() const;
  bool answer_questions();
  void lose(const lost_place& what);
  void lose_all(const failure& why);
  void lose_one(const failure& why);
  void drop(std::vector<std::shared_ptr<offer>> offers);
  bool end_dropped_offers();
  void try_leave();

  const setup& job_;
  const int number_;
  endpoint& net_;
  std::unique_ptr<runtime> tasks_;
  std::uint64_t engine_;
  const std::unique_ptr<place_records> records_;  // used by the progress thread; null: nothing is recorded
  std::string recorded_in_;
  const pid_t made_in_ = getpid();
  const name body_of_finish_{"finish"};  // the type of the tasks of bodies

  mutable std::mutex guard_;  // guards the members from here to wait_for_credit_
  std::vector<std::shared_ptr<pending_collective>>
      new_collectives_;  // not yet started; where losses are survived: not yet answered
  std::vector<std::unique_ptr<activity_record>> arrived_;  // to run here, not yet made tasks
  std::vector<resumed_part> resumed_;                      // the progress thread makes tasks of these
  std::vector<flow_note> flow_notes_;                      // the progress thread records these
  std::optional<failure> lost_;                      // once set, the tables below have nothing open and are not used
  std::vector<std::optional<failure>> lost_places_;  // by place; empty unless losses are survived
  int last_substitute_ = 0;                          // the place that got the last activity of a lost one
  finish_table finishes_;
  std::unordered_map<std::uint64_t, std::shared_ptr<finish_wait>> waits_;  // by finish number; home is here
  std::unordered_map<std::uint64_t, std::shared_ptr<offer>> offers_;       // by sequence number
  std::unordered_map<std::uint64_t, awaited> results_;
  std::uint64_t last_number_ = 0;                                      // of offers and results
  std::vector<int> credits_;                                           // this place's, at each other place
  std::map<int, std::deque<std::shared_ptr<offer>>> wait_for_credit_;  // by place; no queue is empty

  mutable std::mutex running_guard_;
  std::unordered_map<std::uint64_t, activity_record*> running_;  // by their tasks

  std::mutex hub_guard_;                       // taken before guard_; orders contributions and answers
  const std::unique_ptr<collective_hub> hub_;  // of place 0, where losses are survived

  native::inbox<outgoing> outbox_;
  atomic<int> fab_{0};
  std::vector<atomic<std::uint32_t>> owed_;  // credits to return, by place
  atomic<int> coroutines_{0};                // begun and not ended
  atomic<bool> stopping_{false};
  atomic<bool> leaving_{false};
  control control_;

  // ---- used by the progress thread, except what says otherwise; statistics() reads the counts
  std::deque<std::shared_ptr<pending_collective>> started_collectives_;  // started, not ended
  std::uint64_t collectives_ended_ = 0;
  std::multimap<std::chrono::steady_clock::time_point, std::shared_ptr<offer>> again_;  // refused offers, by retry time
  std::vector<std::shared_ptr<offer>> dropped_;  // the transport may still read their messages
  // From lose_all(), kept until the place ends: the thread sanitizer cannot see that another thread is done with an
  // exception that this one frees.
  std::vector<std::shared_ptr<detail::remote_result>> lost_results_;
  std::vector<message_header> questions_;  // for counts, not yet answered
  bool has_left_ = false;                  // the others do without this place
  std::uint64_t handled_result_ = 0;       // the number of the result that is being handled
  struct counts {
    struct message_counts {
      atomic<std::uint64_t> messages{0}, bytes{0};
    };
    message_counts spawns, answers, results, credits, dones;
    atomic<std::uint64_t> largest_spawn{0}, accepted{0}, refused{0}, forced{0}, waited{0};
    atomic<std::uint64_t> fab_sum{0}, fab_peak{0};
  } counts_;
  atomic<std::uint64_t> activities_{0};
  std::thread progress_;
};

}  // namespace kith::distributed
