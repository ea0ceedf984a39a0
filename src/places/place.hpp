// A place: a runtime, and a progress thread that exchanges messages and owns the fresh activity buffer (FAB).
//
// ADS paper, section 4. An activity from another place is in the FAB from its acceptance until its function starts;
// the tasks themselves are in the queues of the place's policy (policy/ads.hpp has a queue for them). Who may call
// what: members under "the progress thread" are its own; all others may be called by any thread. Invariants:
//  P1  Only the progress thread adds to the FAB's occupancy, after it has compared it with the threshold. So the
//      threshold is exceeded by forced activities only.
//  P2  Whoever calls spawn() runs in an activity of the same finish, which is open here until that returns. So the
//      finish cannot end between the call and the count.
//  P3  The answer to a spawn that engages the receiver is sent before its activity can run, so before its `done`.
//  P4  The credits of place p at place q are p's share of q's room, less the activities of p that are under way, in q's
//      FAB, or not yet credited back. q returns credits once it owes half a share, so no spawner waits while all have
//      started.
//  P5  A progress_function is called by the progress thread as soon as its message is accepted: it is never in the FAB,
//      is never refused, and takes no credit.
//  P6  Of an idempotent activity the spawner counts the result alone, and keeps its arguments until that comes. Where
//  it
//      runs it is the body of a finish of its own, whose end sends the result. So its place can be lost without a count
//      that is lost with it.
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

  /// The activities of one place that another one has room for.
  int share() const noexcept { return std::max(1, threshold / std::max(1, places - 1)); }
};

/// What waits for the end of a finish: a thread or task, or a coroutine.
struct finish_wait {
  detail::completion ended;
  std::optional<failure> failed;
  std::exception_ptr thrown;          // of the body
  std::function<void()> resume = {};  // of a coroutine; called when the finish and its body have ended
  atomic<int> open{2};
  std::uint64_t body = 0;  // its task, as recordings name it; written before the body ends
  bool begun = false;      // registered in waits_
  bool given_up = false;   // a place was lost, and the finish has ended before its body

  void end_one() {
    if (open.fetch_sub(1, acq_rel) == 1 && resume) resume();
  }
  void complete() {
    ended.complete();
    end_one();
  }
  /// Throws what the finish throws.
  void rethrow() const;
};

/// The finish whose body is an idempotent activity, and what that has returned.
struct own_finish : finish_wait {
  std::uint64_t task = 0;  // that has ended it, as recordings name it
  detail::byte_buffer value;
  std::optional<failure> body_failed;
};

/// A function that runs at a place, as part of a finish. The closure of its task owns it.
struct activity_record {
  int at = 0;  // the place that was named
  finish_id in;
  bool fresh = false;           // it is counted in the FAB
  bool credited = false;        // it took a credit of `result_to`
  std::uint32_t result_to = 0;  // the place that waits for the result
  std::uint64_t result = 0;     // its number there; 0: nobody waits
  std::uint64_t spawner = 0;    // of send_activity(), as recordings name it
  const detail::remote_function* function = nullptr;
  detail::byte_buffer message;    // the arguments, after the header
  void (*body)(void*) = nullptr;  // of a finish, in place of a function
  void* context = nullptr;
  std::shared_ptr<finish_wait> waiting;  // of a finish's body: who gets its exception
  std::shared_ptr<own_finish> own;       // of an idempotent activity from another place

  // Of a running activity. A coroutine runs in parts, one after the other; a part ends after the tasks that it created.
  detail::activity_coroutine* coroutine = nullptr;
  std::uint64_t task = 0;     // of the part that began last, as recordings name it
  atomic<int> parts{1};       // that have not ended; the next one counts before the coroutine is suspended
  detail::byte_buffer value;  // what it has returned, behind room for a header
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

/// How a recording knows an activity that is not spawned by the running task alone: zeros stand for that task, and for
/// the next number of a result.
struct recorded_spawn {
  std::uint64_t spawner = 0, result = 0;
};

class place {
 public:
  /// `net` is this place's endpoint.
  place(const setup& all, int number, const runtime_options& each, endpoint& net);
  /// REQUIRES: nothing is open at any place, or this is a child of fork(), in which the places' threads do not exist.
  ~place();
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  /// Starts the progress thread: from now on activities of others may run here.
  void start();
  bool has_started() const noexcept { return progress_.joinable(); }

  /// Spawns on behalf of `spawner`, which runs here.
  void spawn(const activity_record& spawner, int to, const detail::remote_function& f, detail::packed_arguments message,
             std::shared_ptr<detail::remote_result> result);
  /// The same of an idempotent activity. REQUIRES: losses are survived.
  void spawn_idempotent(const activity_record& spawner, int to, const detail::remote_function& f,
                        detail::packed_arguments message, std::shared_ptr<detail::remote_result> result);
  /// Whether that place was lost.
  bool has_lost(int place) const;
  /// The same as part of a finish that is open here until this returns, and without waiting until the other place has
  /// accepted the activity. At this place it is nobody's child. The arguments are copied.
  void send_activity(finish_id in, int to, const detail::remote_function& f, detail::packed_arguments message,
                     std::shared_ptr<detail::remote_result> result, const recorded_spawn& as = {});
  /// Whether what happens here is recorded.
  bool is_recorded() const noexcept { return records_ != nullptr; }
  /// The running task, as recordings name it; 0: this thread runs no task of this place.
  std::uint64_t running_task() const;
  /// For send_activity(). REQUIRES: this place is recorded.
  std::uint64_t number_result();
  /// Records what a task has done with a data_flow (place_records::flow). REQUIRES: this place is recorded.
  void note_flow(std::uint64_t task, std::vector<std::uint64_t> numbers);
  /// Keeps a finish open that is open here, until let_go(), which may give it a failure.
  void hold(finish_id in);
  void let_go(finish_id in, std::optional<failure> why) { end(in, std::move(why)); }
  int number() const noexcept { return number_; }
  bool is_here(int to) const noexcept { return to == number_ || all_.one_group; }
  const setup& all() const noexcept { return all_; }
  /// Runs `f` as the body of a new finish and waits for that. `caller` is null outside of activities.
  void finish(const activity_record* caller, void (*f)(void*), void* context);
  /// The same for a coroutine, which `waiting->resume` resumes in place of waiting.
  void begin_finish(const activity_record* caller, void (*f)(void*), void* context,
                    std::shared_ptr<finish_wait> waiting);
  /// What resumes the coroutine that the running activity is about to suspend, until `finish` has ended, or until
  /// whoever calls it has something for it.
  std::function<void()> resumption(activity_record& coroutine, std::coroutine_handle<> suspended,
                                   const finish_wait* finish = nullptr);
  /// Takes part in what all places do together, and waits for it. Any task; one at a time.
  void take_part(const char* call, const collective& c);
  /// At place 0: a run begins, or has ended.
  void begin_run();
  void end_run();
  /// The activity that the running task belongs to; null if it belongs to none.
  activity_record* current() const;
  /// The number of this place's engine.
  std::uint64_t engine() const noexcept { return engine_; }
  /// The file of its recording, whose parts whoever made the place assembles when it is destroyed; empty: nothing is
  /// recorded.
  const std::string& recorded_in() const noexcept { return recorded_in_; }
  /// Ends the runtime: waits until its last tasks have left.
  void end_tasks();
  /// Waits until no coroutine is left that has begun.
  void await_coroutines() const;
  place_statistics statistics() const;
  /// REQUIRES: nothing is open, so that no thread counts.
  void reset_statistics();

  // ---- in a job of several processes

  /// What this process and the others told each other.
  control& job() noexcept { return control_; }
  /// Sends the message to all other places.
  void tell_others(message_header h, const std::optional<failure>& why = {});
  /// This place wants to end. REQUIRES: nothing is open here but what a lost place has spawned.
  void begin_leaving();
  /// Waits until all places want to end, or one is lost that they cannot do without; and before that for what a lost
  /// place has spawned here.
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
    std::shared_ptr<const detail::packed_arguments> message;  // a transport may still read the last one that was sent
    std::chrono::steady_clock::time_point deadline;           // for a credit to come
    int refusals = 0;
    bool idempotent = false;
    detail::completion accepted;        // if the spawner works meanwhile
    atomic<std::uint32_t> answered{0};  // if it is blocked
    atomic<bool> dropped{
        false};  // a place was lost; written before the two above, except for an offer sent with a credit

    void complete() {
      answered.store(1, release);
      answered.notify_all();
      accepted.complete();
    }
  };
  /// A collective that a task waits for.
  struct part {
    collective what;
    detail::completion ended;
    // Written before it has ended. The task that waits makes the exception: an exception object that two threads share
    // is freed by either, which the thread sanitizer cannot see to be safe.
    std::optional<failure> failed;
    std::optional<error> refused;
    std::shared_ptr<const std::byte> combined = {};  // the result, where losses are survived; null: there is none
  };
  /// A result that an activity waits for.
  struct awaited {
    std::shared_ptr<detail::remote_result> result;
    finish_id in;
    int from = 0;  // the place that sends it
    // Of an idempotent activity
    const detail::remote_function* function = nullptr;
    std::shared_ptr<const detail::packed_arguments> message = {};
  };
  /// A coroutine that goes on.
  struct resumed_part {
    activity_record* coroutine = nullptr;
    std::coroutine_handle<> suspended;
    std::uint64_t since = 0;  // ticks; 0: nothing is recorded
    place_records::awaited for_what = {};
  };
  /// For place_records::flow().
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
  void contribute(const std::shared_ptr<part>& mine, detail::byte_buffer message);
  void answer_parts(const collective_hub::answers& answers);
  void end_part(const std::shared_ptr<const detail::packed_arguments>& message);
  bool do_collectives();
  void end_parts(const std::optional<failure>& failed, const error* refused);
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
  void obey(const message_header& h, std::optional<failure> failed, place_statistics counted);
  bool outlives_loss() const;
  bool answer_questions();
  void lose(const lost_place& what);
  void lose_all(const failure& why);
  void lose_one(const failure& why);
  void drop(std::vector<std::shared_ptr<offer>> offers);
  bool end_dropped_offers();
  void leave_in_turn();

  const setup& all_;
  const int number_;
  endpoint& net_;
  std::unique_ptr<runtime> tasks_;
  std::uint64_t engine_;
  const std::unique_ptr<place_records> records_;  // the progress thread's; null: nothing is recorded
  std::string recorded_in_;
  const pid_t made_in_ = getpid();
  const name body_of_finish_{"finish"};  // the type of these tasks

  mutable std::mutex guard_;                      // guards the members from here to wait_for_credit_
  std::vector<std::shared_ptr<part>> new_parts_;  // not yet started; where losses are survived: not yet answered
  std::vector<std::unique_ptr<activity_record>> arrived_;  // of send_activity(), likewise
  std::vector<resumed_part> resumed_;                      // the progress thread makes their tasks
  std::vector<flow_note> flow_notes_;                      // and notes these
  std::optional<failure> lost_;  // once it is set, nothing is open in the tables below, and none of them is used
  std::vector<std::optional<failure>> lost_places_;  // by place; empty unless losses are survived
  int last_substitute_ = 0;                          // the place that got the last activity of a lost one
  finish_table finishes_;
  std::unordered_map<std::uint64_t, std::shared_ptr<finish_wait>> waits_;  // by finish number; home is here
  std::unordered_map<std::uint64_t, std::shared_ptr<offer>> offers_;       // by sequence number
  std::unordered_map<std::uint64_t, awaited> results_;
  std::uint64_t last_number_ = 0;                                      // of an offer or a result
  std::vector<int> credits_;                                           // this place's at each other one
  std::map<int, std::deque<std::shared_ptr<offer>>> wait_for_credit_;  // at that place; none is empty

  mutable std::mutex running_guard_;
  std::unordered_map<std::uint64_t, activity_record*> running_;  // by their tasks

  std::mutex hub_guard_;                       // taken before guard_, for the order of contributions and answers
  const std::unique_ptr<collective_hub> hub_;  // of place 0, where losses are survived

  native::inbox<outgoing> outbox_;
  atomic<int> fab_{0};
  std::vector<atomic<std::uint32_t>> owed_;  // credits of each other place here, that it does not know of
  atomic<int> coroutines_{0};                // that have begun and not ended
  atomic<bool> stopping_{false};
  atomic<bool> leaving_{false};
  control control_;

  // ---- the progress thread's; counts are read by statistics()
  std::deque<std::shared_ptr<part>> parts_;  // started, not ended
  std::uint64_t parts_ended_ = 0;
  std::multimap<std::chrono::steady_clock::time_point, std::shared_ptr<offer>> again_;  // refused offers, by their time
  std::vector<std::shared_ptr<offer>> dropped_;  // the transport may still read their messages
  // Of lose_all(), until the place ends: the thread sanitizer cannot see that another thread has left an exception that
  // this one frees.
  std::vector<std::shared_ptr<detail::remote_result>> lost_results_;
  std::vector<message_header> questions_;  // for counts, not yet answered
  bool has_left_ = false;                  // the others do without this place
  std::uint64_t handled_result_ = 0;       // the number of the result that has come now
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
