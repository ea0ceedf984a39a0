#include "recording/assemble.hpp"

#include "recording/check.hpp"
#include "recording/file.hpp"
#include "recording/log_reader.hpp"
#include "recording/ready_times.hpp"
#include "recording/siblings.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <tuple>
#include <unordered_map>

namespace kith {

namespace fs = std::filesystem;

namespace {

struct interval {
  std::uint64_t begun = 0, ended = 0;
};
/// Of two times in a log. Clocks of two processors may differ a little: what a thread began on one does not end before that.
interval interval_of(log_pair when) { return {when.first, std::max(when.first, when.second)}; }

/// What the logs say of one task; positions are into the arrays of `gathered`.
struct birth {
  std::uint64_t ref = 0, scope = 0, parent = 0, begun = 0;
  std::uint64_t took = 0;
  std::uint64_t key = 0;
  std::int32_t color = -1;
  std::uint32_t first = 0, accesses = 0;  // of `accesses`
  double work = -1;
  std::uint16_t type = 0;
  std::uint8_t flags = 0, node = 255;
  std::uint16_t seat = 0;
  bool root = false;
  std::size_t read_as = 0;  // its place in the logs
};
struct need {
  std::uint64_t task, before;
  std::size_t read_as;
};
struct raw_access {
  std::uint64_t address, bytes;
  mode how;
  std::uint64_t touched;
};
struct run_of_task {
  std::uint64_t ref = 0;
  interval when;
  std::uint8_t flags = 0;
  std::uint16_t seat = 0;
};

class gathered {
 public:
  std::vector<birth> births;
  std::vector<raw_access> accesses;
  std::vector<need> needs;
  std::vector<run_of_task> runs;  // by seat, in the order in which they ended
  struct wait {
    std::uint64_t scope, task;
    interval when;
    std::uint16_t seat;
  };
  std::vector<wait> waits;
  struct give_back {
    std::uint64_t address, at;
  };
  std::vector<give_back> returns;
  struct sample {
    std::uint64_t task, cold, warm, hot;  // ticks
  };
  std::vector<sample> sampled;
  struct charge {
    std::uint64_t task, spent;  // ticks
  };
  std::vector<charge> charges;
  struct move {  // of a region, to a node
    std::uint64_t address;
    std::int16_t node;
    std::uint64_t bytes, at;  // in ticks
    std::uint16_t seat;
  };
  std::vector<move> moves;
  recording out;
  std::uint64_t began = ~std::uint64_t{0};
  double ns_per_tick = 1;

  std::uint64_t ns(std::uint64_t ticks) const {
    constexpr double latest = 9e18;  // a conversion of more is not defined
    if (ticks <= began) return 0;
    return static_cast<std::uint64_t>(std::min(latest, static_cast<double>(ticks - began) * ns_per_tick));
  }

  void read(const mapped_log& l) {
    const auto seat = static_cast<std::uint16_t>(l.header.seat);
    l.for_each([&](const log_cell& head, const std::byte* rest) {
      switch (head.kind) {
        case log_kind::task: {
          const log_pair where = pair_at(rest, 0), when = pair_at(rest, 1);
          births.push_back({.ref = head.large,
                            .scope = where.first,
                            .parent = where.second,
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
        case log_kind::access:
          if (births.empty()) break;
          accesses.push_back({head.large, std::uint64_t{head.small} << 32 | head.middle, static_cast<mode>(head.flags),
                              std::uint64_t{head.small} << 32 | head.middle});
          ++births.back().accesses;
          break;
        case log_kind::touched:
          if (!accesses.empty()) accesses.back().touched = head.large;
          break;
        case log_kind::work:
          if (!births.empty()) births.back().work = static_cast<double>(head.large);
          break;
        case log_kind::key:
          if (!births.empty()) births.back().key = head.large;
          break;
        case log_kind::needs: needs.push_back({head.large, pair_at(rest, 0).first, needs.size()}); break;
        case log_kind::executed: {
          runs.push_back({head.large, interval_of(pair_at(rest, 0)), head.flags, seat});
          break;
        }
        case log_kind::recorder: charges.push_back({head.large, pair_at(rest, 0).first}); break;
        case log_kind::sample: {
          const log_pair took = pair_at(rest, 0);
          sampled.push_back({head.large, took.first, took.second, pair_at(rest, 1).first});
          break;
        }
        case log_kind::run: {
          const log_pair when = pair_at(rest, 0);
          births.push_back({.ref = head.large, .begun = when.first, .seat = seat, .root = true});
          births.back().first = static_cast<std::uint32_t>(accesses.size());
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
          out.jobs.push_back(
              {static_cast<std::int16_t>(seat), head.middle, head.large, ns(when.begun), ns(when.ended)});
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
        case log_kind::end: break;
      }
    });
  }

  /// Tasks in the order of creation, with their dependences.
  void order(const progress& tell) {
    for (std::size_t i = 0; i < births.size(); ++i) births[i].read_as = i;
    std::ranges::sort(births, {}, [](const birth& b) { return std::tuple(b.begun, !b.root, b.read_as); });
    std::ranges::sort(needs, {}, [](const need& n) { return std::pair(n.task, n.read_as); });
    std::unordered_map<std::uint64_t, std::int32_t>& index = index_of;
    index.reserve(births.size() * 2);
    std::unordered_map<std::uint64_t, siblings> scopes;
    out.first_access.push_back(0);
    out.first_dependence.push_back(0);
    for (std::size_t i = 0; i < births.size(); ++i) {
      const birth& b = births[i];
      if (tell && i % 65536 == 0) tell("tasks", static_cast<double>(i) / static_cast<double>(births.size()));
      const bool keyed = (b.flags & (log_keyed | log_generated)) != 0;
      std::vector<recorded_dependence> before;
      std::vector<recorded_access> touched;
      const auto first_need = std::ranges::lower_bound(needs, b.ref, {}, &need::task);
      if (!keyed) {
        for (auto n = first_need; n != needs.end() && n->task == b.ref; ++n) {
          if (const auto at = index.find(n->before); at != index.end()) before.push_back({at->second, 0});
        }
      }
      const auto [number, fresh] = scope_numbers.try_emplace(b.scope, static_cast<std::uint32_t>(scope_numbers.size()));
      const auto me = static_cast<std::int32_t>(out.tasks.size());
      std::vector<std::vector<std::int32_t>> fences;  // behind the task that asks for them
      if (b.accesses != 0) {
        siblings* rules = keyed ? nullptr : &scopes[b.scope];
        for (std::uint32_t a = b.first; a < b.first + b.accesses; ++a) {
          const raw_access& r = accesses[a];
          bool again = false;
          if (rules != nullptr) {
            again = rules->access(
                me, r.address, r.bytes, r.how,
                [&](std::int32_t t, std::uint64_t bytes) { before.push_back({t, bytes}); },
                [&](const std::vector<std::int32_t>& members) {
                  fences.push_back(members);
                  return me + static_cast<std::int32_t>(fences.size());
                });
          }
          touched.push_back(
              {region_of(r), static_cast<std::uint8_t>(r.how), again ? 0 : r.bytes, again ? 0 : r.touched});
        }
      }
      index[b.ref] = me;
      recorded_task t;
      t.scope = number->second;
      t.color = b.color;
      t.type = b.type;
      t.node = b.node == 255 ? std::int16_t{-1} : std::int16_t{b.node};
      t.priority = b.flags & 3;
      t.key = b.key;
      t.created = ns(b.begun);
      t.create_until = b.root ? t.created : ns(b.begun + b.took);
      t.create_ns = t.create_until - t.created;
      if (b.root) t.flags |= recorded_task::root;
      if ((b.flags & log_keyed) != 0) t.flags |= recorded_task::keyed;
      if ((b.flags & log_generated) != 0) t.flags |= recorded_task::generated;
      if ((b.flags & log_discovered) != 0) t.flags |= recorded_task::discovered;
      if ((b.flags & log_listed) != 0) t.flags |= recorded_task::listed;
      if (!b.root && b.parent == 0) t.flags |= recorded_task::outside;
      if (const auto parent = index.find(b.parent); !b.root && parent != index.end()) t.creator = parent->second;
      out.tasks.push_back(t);
      work_of.push_back(b.work);
      out.accesses.insert(out.accesses.end(), touched.begin(), touched.end());
      out.dependences.insert(out.dependences.end(), before.begin(), before.end());
      out.first_access.push_back(out.accesses.size());
      out.first_dependence.push_back(out.dependences.size());
      for (const std::vector<std::int32_t>& members : fences)
        add_fence(out.tasks[static_cast<std::size_t>(me)], members);
    }
    add_needs_of_nodes();
  }

  void add_times() {
    // Of two that begin in the same tick, the one around the other ends later.
    std::ranges::sort(runs, {}, [](const run_of_task& r) { return std::tuple(r.seat, r.when.begun, ~r.when.ended); });
    std::vector<std::uint64_t> lost(out.tasks.size());  // what a task did not compute meanwhile
    for (const gathered::wait& w : waits) {
      const auto at = index_of.find(w.task);
      if (at == index_of.end()) continue;
      const auto scope = scope_numbers.find(w.scope);
      if (w.scope != 0 && scope == scope_numbers.end()) continue;  // nothing was in it
      out.waits.push_back({at->second, w.scope == 0 ? no_scope : scope->second, static_cast<std::int16_t>(w.seat),
                           ns(w.when.begun), ns(w.when.ended)});
      lost[static_cast<std::size_t>(at->second)] += out.waits.back().ended - out.waits.back().begun;
    }
    for (const charge& c : charges) {
      if (const auto at = index_of.find(c.task); at != index_of.end())
        lost[static_cast<std::size_t>(at->second)] += ns(began + c.spent);
    }
    for (std::size_t i = 0; i < births.size(); ++i) {
      const birth& b = births[i];
      recorded_task& t = out.tasks[static_cast<std::size_t>(index_of[b.ref])];
      if (t.creator < 0) continue;
      if (!t.has(recorded_task::discovered)) lost[static_cast<std::size_t>(t.creator)] += t.create_ns;
      t.create_ns -= std::min(t.create_ns, run_inside(b.seat, {b.begun, b.begun + b.took}));
    }
    for (const run_of_task& r : runs) {
      const auto at = index_of.find(r.ref);
      if (at == index_of.end()) continue;
      recorded_task& t = out.tasks[static_cast<std::size_t>(at->second)];
      if ((r.flags & log_explores) != 0) {
        t.explorer = static_cast<std::int16_t>(r.seat);
        t.explore_started = ns(r.when.begun);
        t.explore_ended = ns(r.when.ended);
        if ((r.flags & log_cancelled) == 0) continue;
      }
      if ((r.flags & log_cancelled) != 0) t.flags |= recorded_task::skipped;
      t.worker = static_cast<std::int16_t>(r.seat);
      t.started = ns(r.when.begun);
      t.ended = ns(r.when.ended);
    }
    for (std::size_t i = 0; i < out.tasks.size(); ++i) {
      recorded_task& t = out.tasks[i];
      const std::uint64_t whole = t.ended - t.started;
      // What ran took time, whatever was taken off: in simulated runs, too, the order of tasks is that of their times.
      t.work_ns = std::max(whole - std::min(whole, lost[i]), std::min<std::uint64_t>(whole, 2));
      if (dry && work_of[i] >= 0) t.work_ns = static_cast<std::uint64_t>(work_of[i]);
    }
    set_ready_times(out);
  }

  bool dry = false;

  static constexpr std::uint32_t no_scope = 0xffffffff;

 private:
  std::uint32_t region_of(const raw_access& r) {
    const auto [at, fresh] = region_numbers_.try_emplace(r.address, static_cast<std::uint32_t>(out.regions.size()));
    if (fresh) out.regions.push_back({r.address, r.bytes, -1});
    recorded_region& region = out.regions[at->second];
    region.bytes = std::max(region.bytes, r.bytes);
    return at->second;
  }

  /// What is given back ends the last allocation of its address before it.
  void end_allocations() {
    std::ranges::sort(out.allocations, {}, &recorded_allocation::at);
    std::ranges::sort(returns, {}, &give_back::at);
    std::unordered_map<std::uint64_t, recorded_allocation*> given;
    auto next = out.allocations.begin();
    for (const give_back& r : returns) {
      for (; next != out.allocations.end() && next->at <= r.at; ++next) given[next->address] = &*next;
      if (const auto at = given.find(r.address); at != given.end() && at->second->released == 0)
        at->second->released = std::max<std::uint64_t>(1, r.at);
    }
  }

  void add_fence(const recorded_task& asks, const std::vector<std::int32_t>& members) {
    recorded_task f;
    f.flags = recorded_task::fence;
    f.scope = asks.scope;
    f.creator = asks.creator;
    f.created = f.create_until = asks.created;
    out.tasks.push_back(f);
    work_of.push_back(-1);
    for (std::int32_t m : members) out.dependences.push_back({m, 0});
    out.first_access.push_back(out.accesses.size());
    out.first_dependence.push_back(out.dependences.size());
  }

  /// A node may need one that was found before or after it: all are known now.
  void add_needs_of_nodes() {
    std::vector<recorded_dependence> all;
    std::vector<std::uint64_t> first{0};
    std::vector<std::uint64_t> ref_of(out.tasks.size());
    for (const auto& [ref, i] : index_of) ref_of[static_cast<std::size_t>(i)] = ref;
    for (std::size_t i = 0; i < out.tasks.size(); ++i) {
      if (out.tasks[i].has(recorded_task::keyed) || out.tasks[i].has(recorded_task::generated)) {
        const std::uint64_t ref = ref_of[i];
        for (auto n = std::ranges::lower_bound(needs, ref, {}, &need::task); n != needs.end() && n->task == ref; ++n) {
          if (const auto at = index_of.find(n->before); at != index_of.end())
            all.push_back({at->second, bytes_between(at->second, static_cast<std::int32_t>(i))});
        }
      } else {
        all.insert(all.end(), out.dependences.begin() + static_cast<std::ptrdiff_t>(out.first_dependence[i]),
                   out.dependences.begin() + static_cast<std::ptrdiff_t>(out.first_dependence[i + 1]));
      }
      first.push_back(all.size());
    }
    out.dependences = std::move(all);
    out.first_dependence = std::move(first);
  }

  /// What `to` reads of what `from` writes.
  std::uint64_t bytes_between(std::int32_t from, std::int32_t to) const {
    std::uint64_t bytes = 0;
    const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
    for (std::uint64_t a = out.first_access[t]; a < out.first_access[t + 1]; ++a) {
      if (out.accesses[a].mode == static_cast<std::uint8_t>(mode::out)) continue;
      for (std::uint64_t b = out.first_access[f]; b < out.first_access[f + 1]; ++b) {
        if (out.accesses[b].mode != static_cast<std::uint8_t>(mode::in) &&
            out.accesses[a].region == out.accesses[b].region)
          bytes += out.accesses[a].bytes;
      }
    }
    return bytes;
  }

  /// Nanoseconds that tasks ran on the seat within an interval.
  std::uint64_t run_inside(std::uint16_t seat, interval in) const {
    std::uint64_t sum = 0;
    auto r = std::ranges::lower_bound(runs, std::pair(seat, in.begun), {},
                                      [](const run_of_task& x) { return std::pair(x.seat, x.when.begun); });
    for (std::uint64_t until = in.begun; r != runs.end() && r->seat == seat && r->when.begun < in.ended; ++r) {
      if (r->when.begun < until) continue;  // inside the one before
      until = r->when.ended;
      sum += ns(until) - ns(r->when.begun);
    }
    return sum;
  }

  /// A home is noted right before the task that touches the region begins: when that is.
  std::uint64_t start_behind(const move& m) const {
    const auto next = std::ranges::lower_bound(runs, std::pair(m.seat, m.at), {},
                                               [](const run_of_task& r) { return std::pair(r.seat, r.when.begun); });
    return next != runs.end() && next->seat == m.seat ? next->when.begun : m.at;
  }

 public:
  std::unordered_map<std::uint64_t, std::int16_t> homes;
  std::unordered_map<std::uint64_t, std::uint32_t> scope_numbers;
  std::unordered_map<std::uint64_t, std::int32_t> index_of;
  void finish() {
    for (recorded_region& r : out.regions) {
      if (const auto at = homes.find(r.address); at != homes.end()) r.home = at->second;
    }
    for (const sample& s : sampled) {
      if (const auto at = index_of.find(s.task); at != index_of.end())
        out.samples.push_back({at->second, ns(began + s.cold), ns(began + s.warm), ns(began + s.hot)});
    }
    for (const move& m : moves) {
      if (const auto at = region_numbers_.find(m.address); at != region_numbers_.end())
        out.homes.push_back({at->second, m.node, m.bytes, ns(start_behind(m))});
    }
    std::ranges::sort(out.homes, {}, [](const recorded_home& h) { return std::tuple(h.region, h.at, h.node); });
    end_allocations();
    std::ranges::sort(out.steals, {}, &recorded_steal::at);
    std::ranges::sort(out.waits, {}, &recorded_wait::begun);
    std::ranges::sort(out.idles, {}, &recorded_idle::begun);
    std::ranges::sort(out.jobs, {}, &recorded_job::begun);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> region_numbers_;
  std::vector<double> work_of;
};

}  // namespace

recording read_parts(const std::string& folder, const progress& tell) {
  refuse_parts_in_use(folder);
  std::vector<fs::path> paths;
  std::error_code why;
  for (const auto& entry : fs::directory_iterator(folder, why)) {
    if (entry.path().extension() == ".log") paths.push_back(entry.path());
  }
  if (why || paths.empty()) throw error(folder + ": no logs of a run there; expected what a recorded run leaves");
  std::ranges::sort(paths);
  gathered g;
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
  if (logs.empty()) throw error(folder + ": no logs of a run there: nothing was written to them");
  g.out.meta = read_about(folder);
  g.dry = g.out.meta_or("dry", "0") == "1";
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (tell) tell("logs", static_cast<double>(i) / static_cast<double>(logs.size()));
    g.read(*logs[i]);
  }
  g.order(tell);
  g.add_times();
  g.finish();
  std::istringstream nodes(g.out.meta_or("worker_nodes", ""));
  for (int n; nodes >> n;) g.out.worker_node.push_back(static_cast<std::int16_t>(n));
  if (g.out.types.empty()) g.out.types.emplace_back();
  if (g.out.types.front().empty()) g.out.types.front() = "task";  // of those without one
  return std::move(g.out);
}

void assemble_parts(const std::string& file, const progress& tell) {
  const recording r = read_parts(parts_of(file), tell);
  check_recording(r, parts_of(file));  // what can be written can be read: the parts are the only other copy
  write_recording(r, file, tell);
  std::error_code ignored;
  fs::remove_all(parts_of(file), ignored);
}

}  // namespace kith
