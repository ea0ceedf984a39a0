#include "recording/gather.hpp"

#include "recording/log_reader.hpp"
#include "recording/parts.hpp"

#include <kith/error.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace kith {

namespace fs = std::filesystem;

namespace {

/// A record of a log: its head, and the cells after it.
struct log_record {
  const log_cell& head;
  const std::byte* rest;

  /// The i-th cell after the head.
  log_pair pair(int i) const { return pair_at(rest, i); }
  /// The i-th cell as an interval of time.
  interval times(int i) const { return interval_of(pair(i)); }
  /// Bytes of data, which have 48 bits in the head.
  std::uint64_t bytes() const { return std::uint64_t{head.small} << 32 | head.middle; }
  /// The text that follows `pairs` cells.
  std::string text(std::size_t pairs) const {
    return {reinterpret_cast<const char*>(rest) + pairs * sizeof(log_pair), head.middle};
  }
  std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> all(head.middle / sizeof(std::uint64_t));
    std::memcpy(all.data(), rest, all.size() * sizeof(std::uint64_t));
    return all;
  }
};

/// Adds the records of one log, in their order, to what was gathered. Some records describe further the task, or the
/// access, before them in the same log; some begin where the one before them ended.
class log_gatherer {
 public:
  log_gatherer(gathered_logs& to, std::uint32_t seat) : to_(to), seat_(static_cast<std::uint16_t>(seat)) {}

  void add(const log_record& r) {
    const log_cell& head = r.head;
    switch (head.kind) {
      // tasks as they were created
      case log_kind::family: set_family(r); break;
      case log_kind::task: add_task(r); break;
      case log_kind::run: add_root(r); break;
      case log_kind::access: add_access(r); break;
      case log_kind::touched: set_touched(r); break;
      case log_kind::work: set_work(r); break;
      case log_kind::key: set_key(r); break;
      case log_kind::needs: to_.needs.push_back({head.large, r.pair(0).first, to_.needs.size()}); break;
      case log_kind::delivered: add_delivery(r); break;
      case log_kind::type: name_type(r); break;
      // tasks as they ran
      case log_kind::executed: add_run(r, r.times(0), r.pair(0).second); break;
      case log_kind::ran: add_short_run(r); break;
      case log_kind::completed: to_.completions.push_back({head.large, r.pair(0).first}); break;
      case log_kind::wait: to_.waits.push_back({head.large, r.pair(1).first, r.times(0), seat_}); break;
      case log_kind::recorder: to_.charges.push_back({head.large, r.pair(0).first}); break;
      case log_kind::sample:
        to_.sampled.push_back({head.large, r.pair(0).first, r.pair(0).second, r.pair(1).first});
        break;
      case log_kind::counts: to_.counts.push_back({head.large, counts_of(r)}); break;
      // workers
      case log_kind::steal: add_steal(r); break;
      case log_kind::idle: add_idle(r); break;
      case log_kind::job: add_job(r); break;
      // the program and its memory
      case log_kind::mark: to_.out.marks.push_back({r.text(1), to_.ns(r.pair(0).first)}); break;
      case log_kind::home: add_home(r); break;
      case log_kind::allocation: add_allocation(r); break;
      case log_kind::given_back: to_.returns.push_back({head.large, to_.ns(r.pair(0).second)}); break;
      // places
      case log_kind::place: set_place(r); break;
      case log_kind::message: add_message(r); break;
      case log_kind::clock: to_.clocks.push_back({r.pair(0).first, r.pair(0).second, r.pair(1).first}); break;
      case log_kind::part: to_.made.push_back({log_continues, head.large, r.pair(0).first, 0, 0}); break;
      case log_kind::made:
        to_.made.push_back({head.flags, head.large, r.pair(0).first, r.pair(0).second, r.pair(1).first});
        break;
      case log_kind::flow: to_.flows.push_back({head.large, r.numbers()}); break;
      case log_kind::end: break;
    }
  }

 private:
  void set_family(const log_record& r) {
    scope_ = r.head.large;
    parent_ = r.pair(0).first;
  }
  void add_task(const log_record& r) {
    const log_pair when = r.pair(0);
    to_.creations.push_back({.ref = r.head.large,
                             .scope = scope_,
                             .parent = parent_,
                             .begun = when.first,
                             .took = (when.second & 0xffffffff) | std::uint64_t{r.head.middle >> 8} << 32,
                             .color = static_cast<std::int32_t>(when.second >> 32),
                             .first = static_cast<std::uint32_t>(to_.accesses.size()),
                             .type = r.head.small,
                             .flags = r.head.flags,
                             .node = static_cast<std::uint8_t>(r.head.middle),
                             .seat = seat_});
  }
  void add_root(const log_record& r) {
    to_.creations.push_back({.ref = r.head.large,
                             .begun = r.pair(0).first,
                             .first = static_cast<std::uint32_t>(to_.accesses.size()),
                             .type = r.head.small,
                             .seat = seat_,
                             .root = true});
  }
  void add_access(const log_record& r) {
    if (to_.creations.empty()) return;
    to_.accesses.push_back({r.head.large, r.bytes(), static_cast<mode>(r.head.flags & ~log_by_handle),
                            (r.head.flags & log_by_handle) != 0, r.bytes()});
    ++to_.creations.back().accesses;
  }
  void set_touched(const log_record& r) {
    if (!to_.accesses.empty()) to_.accesses.back().touched = r.head.large;
  }
  void set_work(const log_record& r) {
    if (!to_.creations.empty()) to_.creations.back().work = static_cast<double>(r.head.large);
  }
  void set_key(const log_record& r) {
    if (!to_.creations.empty()) to_.creations.back().key = r.head.large;
  }
  void add_delivery(const log_record& r) {
    const log_pair data = r.pair(0), from = r.pair(1);
    to_.deliveries.push_back({.task = r.head.large,
                              .deliverer = from.first,
                              .address = data.first,
                              .bytes = r.bytes(),
                              .touched = data.second,
                              .how = static_cast<mode>(r.head.flags & ~(log_used | log_by_owner)),
                              .used = (r.head.flags & log_used) != 0,
                              .by_owner = (r.head.flags & log_by_owner) != 0,
                              .number = from.second});
  }
  void name_type(const log_record& r) {
    std::vector<std::string>& types = to_.out.types;
    if (types.size() <= r.head.small) types.resize(r.head.small + std::size_t{1});
    types[r.head.small] = r.text(0);
  }

  /// `end`: the time from which a short run that follows in the log counts.
  void add_run(const log_record& r, interval when, std::uint64_t end) {
    to_.runs.push_back({r.head.large, when, r.head.flags, seat_});
    run_ended_ = end;
  }
  void add_short_run(const log_record& r) {
    const std::uint64_t begun = run_ended_ + r.head.small, ended = begun + r.head.middle;
    add_run(r, {begun, ended}, ended);
  }
  /// The counters of the set in `small`, in order, then the two times. A missing number was not counted.
  static recorded_counts counts_of(const log_record& r) {
    const std::vector<std::uint64_t> numbers = r.numbers();
    recorded_counts c;
    std::size_t at = 0;
    const auto next = [&]() -> std::int64_t {
      if (at == numbers.size()) return recorded_counts::not_counted;
      return static_cast<std::int64_t>(std::min(numbers[at++], recorded_counts::most));
    };
    counter_set::of_bits(r.head.small).for_each([&](counter what) { c[what] = next(); });
    c.enabled = static_cast<std::uint64_t>(std::max<std::int64_t>(0, next()));
    c.running = static_cast<std::uint64_t>(std::max<std::int64_t>(0, next()));
    return c;
  }

  void add_steal(const log_record& r) {
    const auto victim = static_cast<std::int16_t>(static_cast<std::int32_t>(r.head.middle));
    to_.out.steals.push_back({static_cast<std::int16_t>(seat_), victim, to_.ns(r.head.large)});
  }
  void add_idle(const log_record& r) {
    const interval when = r.times(0);
    to_.out.idles.push_back({static_cast<std::int16_t>(seat_), to_.ns(when.begun), to_.ns(when.ended)});
  }
  void add_job(const log_record& r) {
    const interval when = r.times(0);
    to_.out.jobs.push_back(
        {static_cast<std::int16_t>(seat_), r.head.middle, r.head.large, to_.ns(when.begun), to_.ns(when.ended)});
  }

  /// The home of a region: from a time on, or, without a time, at the end of the run.
  void add_home(const log_record& r) {
    const log_pair p = r.pair(0);
    const auto node = static_cast<std::int16_t>(r.head.middle);
    if (p.second == 0) {
      to_.homes[r.head.large] = node;
    } else {
      to_.moves.push_back({r.head.large, node, p.first, p.second, seat_});
    }
  }
  void add_allocation(const log_record& r) {
    const log_pair p = r.pair(0);
    to_.out.allocations.push_back({.address = r.head.large,
                                   .bytes = p.first,
                                   .at = to_.ns(p.second),
                                   .distribution = static_cast<std::uint8_t>(r.head.flags & ~log_huge),
                                   .node = static_cast<std::int16_t>(r.head.small),
                                   .huge = (r.head.flags & log_huge) != 0});
  }

  void set_place(const log_record& r) {
    const log_pair p = r.pair(0);
    to_.place = {.present = true,
                 .job = r.head.large,
                 .clock = p.second,
                 .number = r.head.small,
                 .places = static_cast<std::uint32_t>(p.first),
                 .host = r.text(1)};
  }
  void add_message(const log_record& r) {
    const log_pair when = r.pair(0), numbers = r.pair(1);
    to_.messages.push_back(
        {r.head.flags, r.head.small, r.head.large, when.first, when.second, numbers.first, numbers.second});
  }

  gathered_logs& to_;
  const std::uint16_t seat_;
  std::uint64_t run_ended_ = 0;           // when the last run in this log ended; ticks
  std::uint64_t scope_ = 0, parent_ = 0;  // of the tasks that follow
};

void gather(const mapped_log& from, gathered_logs& to) {
  log_gatherer gatherer(to, from.header.seat);
  from.for_each([&](const log_cell& head, const std::byte* rest) { gatherer.add({head, rest}); });
}

}  // namespace

std::uint64_t job_of_parts(const std::string& folder) {
  const fs::path file = fs::path(folder) / log_of_place;
  std::error_code ignored;  // a folder that cannot be asked about has no log; read_part() says why
  if (!fs::exists(file, ignored) || fs::exists(fs::path(folder) / "addresses.streams", ignored)) return 0;
  try {
    std::uint64_t job = 0;
    mapped_log(file).for_each([&job](const log_cell& head, const std::byte*) {
      if (head.kind == log_kind::place) job = head.large;
    });
    return job;
  } catch (const error&) {  // read_part() reports the error
    return 0;
  }
}

gathered_logs gather_logs(const std::string& folder, const progress& tell) {
  refuse_parts_in_use(folder);
  std::vector<fs::path> paths;
  std::error_code why;
  for (const auto& entry : fs::directory_iterator(folder, why)) {
    if (entry.path().extension() == ".log") paths.push_back(entry.path());
  }
  if (why || paths.empty())
    throw error(folder + ": no logs in this folder; expected the folder FILE.parts of a recorded run",
                error_kind::input);
  std::ranges::sort(paths);
  gathered_logs g;
  std::vector<std::unique_ptr<mapped_log>> logs;
  for (const fs::path& p : paths) {
    auto l = std::make_unique<mapped_log>(p);
    if (l->empty()) {
      std::fprintf(stderr, "kith: %s: nothing was written to it: left out\n", p.c_str());
      continue;
    }
    logs.push_back(std::move(l));
    g.began = std::min(g.began, logs.back()->header.began);
    g.ns_per_tick = logs.back()->header.seconds_per_tick * 1e9;
  }
  if (logs.empty()) throw error(folder + ": no logs of a run there: nothing was written to them", error_kind::input);
  g.out.meta = read_about(folder);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (tell) tell("logs", static_cast<double>(i) / static_cast<double>(logs.size()));
    gather(*logs[i], g);
  }
  return g;
}

}  // namespace kith
