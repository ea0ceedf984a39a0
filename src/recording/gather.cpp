#include "recording/gather.hpp"

#include "recording/log_reader.hpp"
#include "recording/parts.hpp"

#include <kith/error.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace kith {

namespace fs = std::filesystem;

namespace {

/// Reads a record of counts: those of the set in `small`, in order, then the two times.
recorded_counts counts_of(const log_cell& head, const std::byte* rest) {
  recorded_counts c;
  std::uint32_t at = 0;
  const auto next = [&]() -> std::int64_t {
    std::uint64_t number = 0;
    if (at + sizeof number > head.middle) return recorded_counts::not_counted;
    std::memcpy(&number, rest + at, sizeof number);
    at += sizeof number;
    return static_cast<std::int64_t>(std::min(number, recorded_counts::most));
  };
  counter_set::of_bits(head.small).for_each([&](counter what) { c[what] = next(); });
  c.enabled = static_cast<std::uint64_t>(std::max<std::int64_t>(0, next()));
  c.running = static_cast<std::uint64_t>(std::max<std::int64_t>(0, next()));
  return c;
}

}  // namespace

void gathered_logs::read(const mapped_log& l) {
  const auto seat = static_cast<std::uint16_t>(l.header.seat);
  std::uint64_t run_ended = 0;  // end of the run before it
  std::uint64_t scope = 0, parent = 0;
  l.for_each([&](const log_cell& head, const std::byte* rest) {
    switch (head.kind) {
      case log_kind::task: {
        const log_pair when = pair_at(rest, 0);
        creations.push_back({.ref = head.large,
                             .scope = scope,
                             .parent = parent,
                             .begun = when.first,
                             .took = (when.second & 0xffffffff) | std::uint64_t{head.middle >> 8} << 32,
                             .color = static_cast<std::int32_t>(when.second >> 32),
                             .first = static_cast<std::uint32_t>(accesses.size()),
                             .type = head.small,
                             .flags = head.flags,
                             .node = static_cast<std::uint8_t>(head.middle),
                             .seat = seat});
        break;
      }
      case log_kind::family:
        scope = head.large;
        parent = pair_at(rest, 0).first;
        break;
      case log_kind::access:
        if (creations.empty()) break;
        accesses.push_back({head.large, std::uint64_t{head.small} << 32 | head.middle,
                            static_cast<mode>(head.flags & ~log_by_handle), (head.flags & log_by_handle) != 0,
                            std::uint64_t{head.small} << 32 | head.middle});
        ++creations.back().accesses;
        break;
      case log_kind::touched:
        if (!accesses.empty()) accesses.back().touched = head.large;
        break;
      case log_kind::work:
        if (!creations.empty()) creations.back().work = static_cast<double>(head.large);
        break;
      case log_kind::key:
        if (!creations.empty()) creations.back().key = head.large;
        break;
      case log_kind::needs: needs.push_back({head.large, pair_at(rest, 0).first, needs.size()}); break;
      case log_kind::delivered: {
        const log_pair data = pair_at(rest, 0), from = pair_at(rest, 1);
        deliveries.push_back({.task = head.large,
                              .deliverer = from.first,
                              .address = data.first,
                              .bytes = std::uint64_t{head.small} << 32 | head.middle,
                              .touched = data.second,
                              .how = static_cast<mode>(head.flags & ~(log_used | log_by_owner)),
                              .used = (head.flags & log_used) != 0,
                              .by_owner = (head.flags & log_by_owner) != 0,
                              .number = from.second});
        break;
      }
      case log_kind::executed: {
        const log_pair when = pair_at(rest, 0);
        runs.push_back({head.large, interval_of(when), head.flags, seat});
        run_ended = when.second;
        break;
      }
      case log_kind::ran: {
        const std::uint64_t begun = run_ended + head.small;
        run_ended = begun + head.middle;
        runs.push_back({head.large, {begun, run_ended}, head.flags, seat});
        break;
      }
      case log_kind::completed: completions.push_back({head.large, pair_at(rest, 0).first}); break;
      case log_kind::recorder: charges.push_back({head.large, pair_at(rest, 0).first}); break;
      case log_kind::sample: {
        const log_pair took = pair_at(rest, 0);
        sampled.push_back({head.large, took.first, took.second, pair_at(rest, 1).first});
        break;
      }
      case log_kind::run: {
        const log_pair when = pair_at(rest, 0);
        creations.push_back({.ref = head.large, .begun = when.first, .seat = seat, .root = true});
        creations.back().first = static_cast<std::uint32_t>(accesses.size());
        break;
      }
      case log_kind::wait: {
        waits.push_back({head.large, pair_at(rest, 1).first, interval_of(pair_at(rest, 0)), seat});
        break;
      }
      case log_kind::steal:
        out.steals.push_back({static_cast<std::int16_t>(seat),
                              static_cast<std::int16_t>(static_cast<std::int32_t>(head.middle)), ns(head.large)});
        break;
      case log_kind::idle: {
        const interval when = interval_of(pair_at(rest, 0));
        out.idles.push_back({static_cast<std::int16_t>(seat), ns(when.begun), ns(when.ended)});
        break;
      }
      case log_kind::job: {
        const interval when = interval_of(pair_at(rest, 0));
        out.jobs.push_back({static_cast<std::int16_t>(seat), head.middle, head.large, ns(when.begun), ns(when.ended)});
        break;
      }
      case log_kind::type:
        if (out.types.size() <= head.small) out.types.resize(head.small + std::size_t{1});
        out.types[head.small].assign(reinterpret_cast<const char*>(rest), head.middle);
        break;
      case log_kind::mark:
        out.marks.push_back({std::string(reinterpret_cast<const char*>(rest) + sizeof(log_pair), head.middle),
                             ns(pair_at(rest, 0).first)});
        break;
      case log_kind::home: {
        const log_pair p = pair_at(rest, 0);
        const auto node = static_cast<std::int16_t>(head.middle);
        if (p.second == 0) {
          homes[head.large] = node;
        } else {
          moves.push_back({head.large, node, p.first, p.second, seat});
        }
        break;
      }
      case log_kind::allocation: {
        const log_pair p = pair_at(rest, 0);
        out.allocations.push_back({.address = head.large,
                                   .bytes = p.first,
                                   .at = ns(p.second),
                                   .distribution = static_cast<std::uint8_t>(head.flags & ~log_huge),
                                   .node = static_cast<std::int16_t>(head.small),
                                   .huge = (head.flags & log_huge) != 0});
        break;
      }
      case log_kind::given_back: returns.push_back({head.large, ns(pair_at(rest, 0).second)}); break;
      case log_kind::place: {
        const log_pair pair = pair_at(rest, 0);
        place = {.present = true,
                 .job = head.large,
                 .clock = pair.second,
                 .number = head.small,
                 .places = static_cast<std::uint32_t>(pair.first),
                 .host = std::string(reinterpret_cast<const char*>(rest) + sizeof(log_pair), head.middle)};
        break;
      }
      case log_kind::message: {
        const log_pair when = pair_at(rest, 0), numbers = pair_at(rest, 1);
        messages.push_back(
            {head.flags, head.small, head.large, when.first, when.second, numbers.first, numbers.second});
        break;
      }
      case log_kind::clock: {
        const log_pair here = pair_at(rest, 0);
        clocks.push_back({here.first, here.second, pair_at(rest, 1).first});
        break;
      }
      case log_kind::part: made.push_back({log_continues, head.large, pair_at(rest, 0).first, 0, 0}); break;
      case log_kind::made: {
        const log_pair when = pair_at(rest, 0);
        made.push_back({head.flags, head.large, when.first, when.second, pair_at(rest, 1).first});
        break;
      }
      case log_kind::flow: {
        flow_record& f = flows.emplace_back(head.large);
        f.numbers.resize(head.middle / sizeof(std::uint64_t));
        std::memcpy(f.numbers.data(), rest, f.numbers.size() * sizeof(std::uint64_t));
        break;
      }
      case log_kind::counts: counts.push_back({head.large, counts_of(head, rest)}); break;
      case log_kind::end: break;
    }
  });
}

std::uint64_t job_of_parts(const std::string& folder) {
  const fs::path file = fs::path(folder) / log_of_place;
  if (!fs::exists(file) || fs::exists(fs::path(folder) / "addresses.streams")) return 0;
  try {
    std::uint64_t job = 0;
    mapped_log(file).for_each([&job](const log_cell& head, const std::byte*) {
      if (head.kind == log_kind::place) job = head.large;
    });
    return job;
  } catch (const error&) {  // read_part() says what is wrong
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
    g.read(*logs[i]);
  }
  return g;
}

}  // namespace kith
