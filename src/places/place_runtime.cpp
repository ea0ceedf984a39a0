// kith::place_runtime, and what a program calls at a place.
#include "base/environment.hpp"
#include "base/fork.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/worker.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "places/job.hpp"
#include "places/job_recording.hpp"
#include "places/place.hpp"
#include "places/place_of_caller.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <system_error>
#include <unordered_map>

namespace kith {

using distributed::message_kind;
using distributed::place;

namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& expected) {
  throw error("place_options::" + option + ": expected " + expected, error_kind::setting);
}

distributed::setup setup_of(const place_options& o, const distributed::transport& net) {
  if (o.fab_slots < 1 || o.fab_slots > 1 << 20)
    refuse("fab_slots = " + std::to_string(o.fab_slots), "1 to " + std::to_string(1 << 20));
  if (!(o.fab_threshold > 0 && o.fab_threshold <= 1))
    refuse("fab_threshold = " + std::to_string(o.fab_threshold), "more than 0, at most 1");
  if (!(o.retry_seconds >= 0 && o.retry_seconds <= o.retry_most_seconds && o.retry_most_seconds <= 3600))
    refuse("retry_seconds = " + std::to_string(o.retry_seconds) +
               ", retry_most_seconds = " + std::to_string(o.retry_most_seconds),
           "0 <= retry_seconds <= retry_most_seconds <= 3600");
  if (o.most_refusals < 0 || o.most_refusals > 1 << 20)
    refuse("most_refusals = " + std::to_string(o.most_refusals), "0 to " + std::to_string(1 << 20));
  if (!(o.credit_seconds >= 0 && o.credit_seconds <= 3600))
    refuse("credit_seconds = " + std::to_string(o.credit_seconds), "0 to 3600");
  const auto in_nanoseconds = [](double seconds) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  };
  std::random_device random;
  return {.places = net.places(),
          .one_group = o.scheduling == place_scheduling::cws,
          .threshold = std::max(1, static_cast<int>(std::lround(o.fab_slots * o.fab_threshold))),
          .retry = in_nanoseconds(o.retry_seconds),
          .retry_most = in_nanoseconds(o.retry_most_seconds),
          .most_refusals = o.most_refusals,
          .waiting = o.waiting,
          .credits = o.admission == place_admission::credits,
          .credit_wait = in_nanoseconds(o.credit_seconds),
          .survives_losses = o.on_loss == place_loss::survivors_go_on && net.loses_places(),
          .functions = distributed::number_functions(),
          .processes = net.own_place().has_value(),
          .clock = std::uint64_t{random()} << 32 | random() | 1};
}

/// The number of places that the program or its user asks for; none if neither does.
std::optional<int> number_of_places(std::optional<int> option) {
  if (!option) {
    const std::optional<std::int64_t> set = number_of(var::places);
    return set ? std::optional<int>(static_cast<int>(*set)) : std::nullopt;
  }
  if (*option < var::places.least || *option > var::places.most) {
    refuse("places = " + std::to_string(*option),
           std::to_string(var::places.least) + " to " + std::to_string(var::places.most));
  }
  return option;
}

constinit std::unique_ptr<distributed::transport> given_transport;  // by use_transport()

/// Joins the other processes of the job, or makes all places here.
std::unique_ptr<distributed::transport> make_transport(const place_options& o) {
  if (given_transport != nullptr) return std::move(given_transport);
  const std::optional<int> places = number_of_places(o.places);
  const bool one_group = o.scheduling == place_scheduling::cws;
  if (!distributed::is_several_processes()) {
    const int all = places.value_or(static_cast<int>(standard_number(var::places)));
    return distributed::make_thread_transport(all, one_group);
  }
  if (one_group) {
    throw error(
        "place_options::scheduling = cws: all workers are one group, which cannot be spread over processes; "
        "start the program without a launcher",
        error_kind::setting);
  }
  const int workers = workers_setting(o.each.workers).value_or(0);
  const int cores =
      plan_workers(current_machine(o.each.machine), process_limits(), std::nullopt, false, {bind_mode::off}).workers;
  return distributed::join_processes(places, workers != 0 && workers < cores, o.on_loss == place_loss::survivors_go_on);
}

/// The options of each place's runtime (of the only one, under cws). `shared`: all places are in this process.
runtime_options options_of_each(const place_options& o, const distributed::setup& job, bool shared) {
  runtime_options each = o.each;
  const int cores =
      plan_workers(current_machine(each.machine), process_limits(), std::nullopt, false, {bind_mode::off}).workers;
  const int here = shared ? job.places : 1;  // the launcher's processes have their shares of a machine already
  const int share = std::max(1, cores / here);
  const bool oversubscribe = oversubscribe_setting(each.oversubscribe);
  int workers = workers_setting(each.workers).value_or(share);
  if (!oversubscribe) workers = std::min(workers, share);
  // The progress threads need cores as well: a worker that looks for work for long would keep them waiting.
  if (!each.spin && job.places > 1 && here * (workers + 1) > cores && !value_of(var::spin)) each.spin = 0;
  each.workers = job.one_group ? std::min(job.places * workers, most_workers) : workers;
  each.oversubscribe = oversubscribe || each.workers.value() * (job.one_group ? 1 : here) > cores;
  if (!each.policy && !value_of(var::policy)) each.policy = "ads";
  return each;
}

/// Calls make(). If it throws, the other processes are told, and do not start either.
template <class F>
auto make_or_refuse(distributed::transport& net, F&& make) {
  std::string why;
  try {
    return make();
  } catch (const std::exception& e) {
    why = e.what();
    static_cast<void>(net.agree(&why));
    throw;
  }
}

/// Waits until all processes have made their places. Throws if one could not, or was lost.
void expect_all_made(distributed::transport& net) {
  const std::optional<distributed::refusal> refused = net.agree(nullptr);
  if (!refused) return;
  if (refused->lost) throw place_lost(refused->place, "was lost: " + refused->why);
  throw error("place " + std::to_string(refused->place) + " cannot start: " + refused->why, error_kind::setting);
}

}  // namespace

void distributed::use_transport(std::unique_ptr<transport> next) { given_transport = std::move(next); }

class place_runtime::implementation {
 public:
  explicit implementation(const place_options& o)
      : net_(make_transport(o)),
        job_(make_or_refuse(*net_, [&] { return setup_of(o, *net_); })),
        own_(net_->own_place()) {
    make_or_refuse(*net_, [&] { make_places(o); });
    expect_all_made(*net_);
    if (job_.survives_losses && own_ == 0) distributed::notify_guard(distributed::survivors_file);
  }
  ~implementation() {
    // A task that has reported its end to its finish may still be leaving, and can ring any place.
    for (const auto& p : places_) p->end_tasks();
    std::vector<std::string> files;
    for (const auto& p : places_) {
      if (!p->recorded_in().empty()) files.push_back(p->recorded_in());
    }
    places_.clear();  // ends the progress threads, which write to the recordings as well
    if (files.empty() || is_inherited() || value_of(var::record_parts)) return;
    if (!own_) {
      distributed::assemble_here(files);
    } else if (is_first()) {
      distributed::assemble_job(files.front(), job_.places);
    }
  }
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  /// If places can be lost, waits until all leave: until then, tasks that a lost place has spawned here may need this
  /// place.
  void leave() {
    if (!net_->loses_places() || is_inherited() || !here().has_started()) return;
    if (own_ == 0) here().tell_others({.kind = message_kind::job_ended});
    for (const auto& p : places_) p->begin_leaving();
    for (const auto& p : places_) p->await_left();
  }

  /// The place whose worker the calling thread is; null for other threads.
  place* of_thread() const {
    const native::worker* const w = native::worker::current();
    const auto at = w == nullptr ? by_engine_.end() : by_engine_.find(w->engine.number);
    return at == by_engine_.end() ? nullptr : at->second;
  }
  /// Whether it was made before fork(), by the parent of this process.
  bool is_inherited() const noexcept { return made_in_ != forks(); }
  void refuse_inherited(const char* call) const {
    if (!is_inherited()) return;
    throw error(std::string(call) +
                ": these places were made before fork(), and their threads are the parent's; make a "
                "kith::place_runtime in the child");
  }
  const distributed::setup& job() const noexcept { return job_; }
  const distributed::transport& net() const noexcept { return *net_; }
  const std::vector<std::unique_ptr<place>>& objects() const noexcept { return places_; }
  /// The first place of this process.
  place& here() const noexcept { return *places_.front(); }
  std::optional<int> own() const noexcept { return own_; }
  /// The answers of all other processes. REQUIRES: is_first().
  std::map<int, place_statistics> ask_others(message_kind question) const {
    here().tell_others({.kind = question});
    return here().control_of_job().await_answers(static_cast<std::size_t>(job_.places) - 1);
  }
  /// Whether place 0 is in this process.
  bool is_first() const noexcept { return own_.value_or(0) == 0; }

 private:
  void make_places(const place_options& o) {
    runtime_options each = options_of_each(o, job_, !own_);
    if (own_ && !value_of(var::record_parts)) {
      const std::string file = each.record ? *each.record : value_of(var::record).value_or("");
      if (!file.empty()) {
        each.record = distributed::recording_of_place(file, *own_);
        grace_.emplace();
      }
    }
    const int first = own_.value_or(0), last = own_ || job_.one_group ? first : job_.places - 1;
    for (int p = first; p <= last; ++p) {
      places_.push_back(std::make_unique<place>(job_, p, each, net_->endpoint_of(p)));
      by_engine_[places_.back()->engine()] = places_.back().get();
    }
  }

  const std::uint32_t made_in_ = forks();
  std::unique_ptr<distributed::transport> net_;
  const distributed::setup job_;
  const std::optional<int> own_;  // the only place of this process; none: it has all
  std::optional<distributed::end_grace> grace_;
  std::vector<std::unique_ptr<place>> places_;
  std::unordered_map<std::uint64_t, place*> by_engine_;
};

namespace {

// The constructor publishes the object, and the_only(), refuse_second() and later constructors read it: their
// exchanges and loads pair.
atomic<place_runtime::implementation*> only{nullptr};

place_runtime::implementation& the_only(const char* call) {
  place_runtime::implementation* const there = only.load(acquire);
  if (there == nullptr) throw error(std::string(call) + ": there are no places; make a kith::place_runtime first");
  there->refuse_inherited(call);
  return *there;
}

/// Refuses before threads are started for places that could not be used.
void refuse_second() {
  const place_runtime::implementation* const there = only.load(acquire);
  if (there != nullptr && !there->is_inherited())
    throw error("place_runtime: there is one already; expected one at a time in a process");
}

}  // namespace

distributed::caller distributed::caller_of(const char* call) {
  place* const p = the_only(call).of_thread();
  activity_record* const running = p == nullptr ? nullptr : p->current();
  if (running == nullptr) {
    throw error(std::string(call) +
                ": no activity runs on this thread; call it inside place_runtime::run(), or in "
                "what that spawns");
  }
  return {p, running};
}

place_error::place_error(int place, const std::string& reason)
    : error("place " + std::to_string(place) + ": " + reason),
      place_(place),
      reason_(std::make_shared<const std::string>(reason)) {}

place_runtime::place_runtime(const place_options& options)
    : impl_((refuse_second(), std::make_unique<implementation>(options))) {
  implementation* before = only.load(acquire);
  do {
    refuse_second();  // another thread may have made one meanwhile
  } while (!only.compare_exchange_weak(before, impl_.get(), acq_rel));
  try {
    for (const auto& p : impl_->objects()) p->start();
  } catch (const std::system_error& e) {
    implementation* mine = impl_.get();
    only.compare_exchange_strong(mine, nullptr, acq_rel);
    throw error(std::string("place_runtime: the thread of a place cannot be started: ") + e.what(),
                error_kind::resources);
  }
}

place_runtime::~place_runtime() {
  if (!impl_->is_inherited() && !impl_->is_first()) {
    try {
      impl_->here().control_of_job().await_job();  // activities may still come here, and need the places
    } catch (...) {                                // a place was lost; that was thrown where it mattered
    }
  }
  impl_->leave();
  implementation* mine = impl_.get();
  only.compare_exchange_strong(mine, nullptr, acq_rel);  // in a child of fork() there may be another one
  impl_.reset();
}

void place_runtime::run_root(void* context, void (*f)(void*)) {
  if (native::worker::current() != nullptr) {
    throw error("place_runtime::run(): called inside a task; kith::finish() waits for what an activity spawns");
  }
  impl_->refuse_inherited("place_runtime::run()");
  place& here = impl_->here();
  if (!impl_->is_first()) {
    here.control_of_job().await_run();
    return;
  }
  std::optional<distributed::failure> failed;
  here.begin_run();
  try {
    here.finish(nullptr, f, context);
    here.end_run();
  } catch (...) {
    here.end_run();
    failed = distributed::current_failure(0);
    if (impl_->own()) here.tell_others({.kind = message_kind::run_ended}, failed);
    throw;
  }
  if (impl_->own()) here.tell_others({.kind = message_kind::run_ended});
}

void place_runtime::serve() {
  if (native::worker::current() != nullptr)
    throw error("place_runtime::serve(): called inside a task; call it in place of run()");
  impl_->refuse_inherited("place_runtime::serve()");
  if (!impl_->is_first()) impl_->here().control_of_job().await_job();
}

bool place_runtime::has_place(int place) const noexcept {
  return place >= 0 && place < places() && impl_->own().value_or(place) == place;
}

int place_runtime::places() const noexcept { return impl_->job().places; }
int place_runtime::workers() const noexcept { return impl_->objects().front()->tasks().workers(); }
std::string place_runtime::policy() const { return impl_->objects().front()->tasks().policy(); }
std::string place_runtime::transport() const { return impl_->net().name(); }
bool place_runtime::dry() const noexcept { return impl_->objects().front()->tasks().dry(); }

std::vector<place_statistics> place_runtime::statistics() const {
  if (native::worker::current() != nullptr)
    throw error("place_runtime::statistics(): called inside a task; call it after run()");
  std::vector<place_statistics> all;
  if (!impl_->own()) {
    for (const auto& p : impl_->objects()) all.push_back(p->statistics());
    return all;
  }
  all.resize(static_cast<std::size_t>(places()));
  all[static_cast<std::size_t>(*impl_->own())] = impl_->here().statistics();
  if (impl_->is_first()) {
    for (auto& [place, counts] : impl_->ask_others(message_kind::ask_counts))
      all[static_cast<std::size_t>(place)] = std::move(counts);
  }
  return all;
}

void place_runtime::reset_statistics() {
  impl_->refuse_inherited("place_runtime::reset_statistics()");
  if (!impl_->is_first()) return;
  for (const auto& p : impl_->objects()) p->reset_statistics();
  if (impl_->own()) impl_->ask_others(message_kind::reset_counts);
}

int places() { return the_only("places()").job().places; }

int here() { return distributed::caller_of("here()").running->at; }

place_ref at(int place) {
  const int all = the_only("at()").job().places;
  if (place < 0 || place >= all) {
    throw error("at(" + std::to_string(place) + "): expected a place from 0 to " + std::to_string(all - 1) +
                " (kith::places() - 1)");
  }
  return place_ref(place);
}

namespace detail {

namespace {

void expect_known(int place) {
  const int all = the_only("at()").job().places;
  if (place < all) return;
  throw error("at(" + std::to_string(place) + "): this place_ref is of another place_runtime; now there are " +
              std::to_string(all) + " places");
}

}  // namespace

bool is_lost(int place) {
  expect_known(place);
  const place_runtime::implementation& all = the_only("at(place).is_lost()");
  const distributed::place* const mine = all.of_thread();
  return (mine != nullptr ? *mine : all.here()).has_lost(place);
}

void spawn_at(int to, const remote_function& f, packed_arguments message, std::shared_ptr<remote_result> result,
              bool idempotent) {
  distributed::expect_numbered(f, to);
  const distributed::caller me = distributed::caller_of("at(place).spawn()");
  expect_known(to);
  if (!idempotent || !me.at->job().survives_losses) {
    me.at->spawn(*me.running, to, f, std::move(message), std::move(result));
  } else {
    if (!result) result = std::make_shared<remote_result>();
    me.at->spawn_idempotent(*me.running, to, f, std::move(message), std::move(result));
  }
}

void finish(void* context, void (*f)(void*)) {
  const distributed::caller me = distributed::caller_of("finish()");
  me.at->finish(me.running, f, context);
}

}  // namespace detail

}  // namespace kith
