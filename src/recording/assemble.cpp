#include "recording/assemble.hpp"

#include "recording/address_parts.hpp"
#include "recording/check.hpp"
#include "recording/completed_times.hpp"
#include "recording/counts.hpp"
#include "recording/file.hpp"
#include "recording/gather.hpp"
#include "recording/measured_times.hpp"
#include "recording/merge.hpp"
#include "recording/parts.hpp"
#include "recording/ready_times.hpp"
#include "recording/siblings.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <sstream>
#include <tuple>
#include <unordered_map>

namespace kith {

namespace {

/// Makes tasks, dependences and times from what was gathered.
class assembler : gathered_logs {
 public:
  explicit assembler(gathered_logs&& g) : gathered_logs(std::move(g)) {}

  place_part assemble(const std::string& folder, const progress& tell) {
    order(tell);
    set_measured_times(*this, numbers_);
    set_completed_times(out);
    set_ready_times(out);
    finish();
    add_address_parts(out, folder, numbers_.tasks);
    place_part all = part_of_place();
    if (place.present || !messages.empty())  // until the parts are merged
      out.meta["place"] = place.present ? std::to_string(place.number) : "not known";
    all.recorded = std::move(out);
    return all;
  }

 private:
  /// Puts tasks in the order of creation, with their dependences.
  void order(const progress& tell) {
    for (std::size_t i = 0; i < creations.size(); ++i) creations[i].read_as = i;
    std::ranges::sort(creations, {},
                      [](const task_created_record& b) { return std::tuple(b.begun, !b.root, b.read_as); });
    std::ranges::sort(needs, {}, [](const need& n) { return std::pair(n.task, n.read_as); });
    std::ranges::sort(deliveries, {}, [](const delivery& d) { return std::pair(d.task, d.number); });
    numbers_.tasks.reserve(creations.size() * 2);
    out.first_access.push_back(0);
    out.first_dependence.push_back(0);
    std::unordered_map<std::uint64_t, siblings> scopes;
    for (std::size_t i = 0; i < creations.size(); ++i) {
      if (tell && i % 65536 == 0) tell("tasks", static_cast<double>(i) / static_cast<double>(creations.size()));
      add_task(creations[i], scopes);
    }
    add_late_dependences();
  }

  /// The accesses of a task, and the tasks before it that they order.
  struct ordered_accesses {
    std::vector<recorded_dependence> before;
    std::vector<recorded_access> touched;
    std::vector<std::vector<std::int32_t>> fences;  // each to be added after its task
  };

  void add_task(const task_created_record& b, std::unordered_map<std::uint64_t, siblings>& scopes) {
    const bool keyed = (b.flags & (log_keyed | log_generated)) != 0;
    const auto me = static_cast<std::int32_t>(out.tasks.size());
    ordered_accesses found;
    if (!keyed) add_needs(b.ref, found.before);
    if (b.accesses != 0) add_accesses(b, me, keyed ? nullptr : &scopes[b.scope], found);
    add_delivered(b.ref, me, found.touched);
    numbers_.tasks[b.ref] = me;
    const recorded_task task = created_task(b);
    out.tasks.push_back(task);
    numbers_.work.push_back(b.work);
    out.accesses.insert(out.accesses.end(), found.touched.begin(), found.touched.end());
    out.dependences.insert(out.dependences.end(), found.before.begin(), found.before.end());
    out.first_access.push_back(out.accesses.size());
    out.first_dependence.push_back(out.dependences.size());
    for (const std::vector<std::int32_t>& members : found.fences) add_fence(task, members);
  }

  /// The tasks that the program named as predecessors of a task without a key.
  void add_needs(std::uint64_t ref, std::vector<recorded_dependence>& before) const {
    for (auto n = std::ranges::lower_bound(needs, ref, {}, &need::task); n != needs.end() && n->task == ref; ++n) {
      if (const std::int32_t t = numbers_.task(n->before); t >= 0) before.push_back({t, 0});
    }
  }

  /// The accesses that the task `me` has declared, and the dependences and fences that its siblings' rules derive;
  /// `rules` is null for nodes, whose accesses order nothing.
  void add_accesses(const task_created_record& b, std::int32_t me, siblings* rules, ordered_accesses& found) {
    for (std::uint32_t a = b.first; a < b.first + b.accesses; ++a) {
      const raw_access& r = accesses[a];
      if (r.bytes == 0) continue;  // not an access
      if (rules != nullptr) {
        const siblings::answer known = rules->access(
            me, r.address, r.bytes, r.how, r.by_handle,
            [&](std::int32_t t, std::uint64_t bytes) { found.before.push_back({t, bytes}); },
            [&](const std::vector<std::int32_t>& members) {
              found.fences.push_back(members);
              return me + static_cast<std::int32_t>(found.fences.size());
            });
        if (known == siblings::answer::refused) rules = nullptr;
      }
      add_access(found.touched, me, region_of(r), r.how, r.bytes, r.touched);
    }
  }

  /// Adds a row. If the task names a region again, its first row for the region stands for all: it gets the most bytes,
  /// and a mode as strict as all. The later rows have no bytes.
  void add_access(std::vector<recorded_access>& touched, std::int32_t me, std::uint32_t region, mode how,
                  std::uint64_t bytes, std::uint64_t used) {
    if (named_.size() <= region) named_.resize(out.regions.size());
    named_row& last = named_[region];
    if (last.task == me) {
      recorded_access& first = touched[last.row];
      first.mode = static_cast<std::uint8_t>(combined(static_cast<mode>(first.mode), how));
      first.bytes = std::max(first.bytes, bytes);
      first.touched = std::max(first.touched, used);
      bytes = used = 0;
    } else {
      last = {me, touched.size()};
    }
    touched.push_back({region, static_cast<std::uint8_t>(how), bytes, used});
  }

  /// Adds the arguments that other tasks delivered and that the task used.
  void add_delivered(std::uint64_t ref, std::int32_t me, std::vector<recorded_access>& touched) {
    for (const delivery& d : deliveries_to(ref)) {
      if (!d.used || d.bytes == 0) continue;
      add_access(touched, me, region_of({d.address, d.bytes, d.how, false, d.touched}), d.how, d.bytes, d.touched);
    }
  }

  /// The task as its creation describes it.
  recorded_task created_task(const task_created_record& b) {
    recorded_task t;
    t.scope = numbers_.scopes.try_emplace(b.scope, static_cast<std::uint32_t>(numbers_.scopes.size())).first->second;
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
    if (!b.root) t.creator = numbers_.task(b.parent);
    return t;
  }

  std::span<const delivery> deliveries_to(std::uint64_t task) const {
    const auto these = std::ranges::equal_range(deliveries, task, {}, &delivery::task);
    return {these.begin(), these.end()};
  }

  std::uint32_t region_of(const raw_access& r) {
    const auto [at, fresh] = region_numbers_.try_emplace(r.address, static_cast<std::uint32_t>(out.regions.size()));
    if (fresh) out.regions.push_back({r.address, r.bytes, -1});
    recorded_region& region = out.regions[at->second];
    region.bytes = std::max(region.bytes, r.bytes);
    return at->second;
  }

  /// Each release ends the last allocation of its address that precedes it.
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
    numbers_.work.push_back(-1);
    for (std::int32_t m : members) out.dependences.push_back({m, 0});
    out.first_access.push_back(out.accesses.size());
    out.first_dependence.push_back(out.dependences.size());
  }

  /// Adds the dependences of nodes and of tasks with delivered arguments. Their predecessors may have been found, or
  /// created, after them; all are known here.
  void add_late_dependences() {
    std::vector<recorded_dependence> all;
    std::vector<std::uint64_t> first{0};
    std::vector<std::uint64_t> ref_of(out.tasks.size());
    for (const auto& [ref, i] : numbers_.tasks) ref_of[static_cast<std::size_t>(i)] = ref;
    for (std::size_t i = 0; i < out.tasks.size(); ++i) {
      if (out.tasks[i].has(recorded_task::keyed) || out.tasks[i].has(recorded_task::generated)) {
        const std::uint64_t ref = ref_of[i];
        for (auto n = std::ranges::lower_bound(needs, ref, {}, &need::task); n != needs.end() && n->task == ref; ++n) {
          if (const std::int32_t before = numbers_.task(n->before); before >= 0)
            all.push_back({before, bytes_between(before, static_cast<std::int32_t>(i))});
        }
      } else {
        all.insert(all.end(), out.dependences.begin() + static_cast<std::ptrdiff_t>(out.first_dependence[i]),
                   out.dependences.begin() + static_cast<std::ptrdiff_t>(out.first_dependence[i + 1]));
        add_deliveries(i, ref_of[i], all);
      }
      first.push_back(all.size());
    }
    out.dependences = std::move(all);
    out.first_dependence = std::move(first);
  }

  /// Adds the dependences on the tasks that delivered the task's arguments. The task's accesses are the arguments that
  /// it used, in the same order.
  void add_deliveries(std::size_t task, std::uint64_t ref, std::vector<recorded_dependence>& all) {
    const std::size_t first = all.size();
    std::uint64_t access = out.first_access[task];
    for (const delivery& d : deliveries_to(ref)) {
      const std::int32_t deliverer = numbers_.task(d.deliverer);
      const std::uint64_t bytes = d.used && d.how != mode::out ? d.bytes : 0;
      if (d.used && d.bytes != 0) out.accesses[access++].passed_by = deliverer;
      if (deliverer < 0 || d.by_owner || deliverer == static_cast<std::int32_t>(task)) continue;
      const auto same = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                                     [deliverer](const recorded_dependence& x) { return x.before == deliverer; });
      if (same != all.end()) {
        same->bytes += bytes;
      } else {
        all.push_back({deliverer, bytes});
      }
    }
  }

  /// The bytes that `from` writes and `to` reads.
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

  place_part part_of_place() const {
    place_part p;
    p.began = began;
    p.ns_per_tick = ns_per_tick;
    if (!place.present) return p;
    p.job = place.job;
    p.clock = place.clock;
    p.number = place.number;
    p.places = place.places;
    p.host = place.host;
    for (const message& m : messages)
      p.messages.push_back({.received = (m.flags & log_received) != 0,
                            .kind = static_cast<std::uint8_t>(m.flags & ~log_received),
                            .peer = m.peer,
                            .bytes = m.bytes,
                            .at = ns(m.at),
                            .task = numbers_.task(m.task),
                            .sequence = m.sequence,
                            .result = m.result});
    for (const clock_reading& c : clocks) p.clocks.push_back({ns(c.sent), ns(c.received), c.there});
    for (const made_task& m : made) {
      const bool by_result = (m.flags & log_by_result) != 0;
      p.made.push_back({.task = numbers_.task(m.task),
                        .continues = (m.flags & log_continues) != 0,
                        .before = numbers_.task(m.before),
                        .suspended = m.suspended == 0 ? 0 : ns(m.suspended),
                        .awaited = by_result ? -1 : numbers_.task(m.awaited),
                        .result = by_result ? m.awaited : 0});
    }
    std::ranges::sort(p.made, {}, &place_part::made_task::task);
    for (const flow_record& f : flows) {
      if (f.numbers.size() < 4) continue;  // not a record of this version
      p.flows.push_back({.task = numbers_.task(f.task),
                         .flow = f.numbers[0],
                         .result = f.numbers[1],
                         .begun = ns(f.numbers[2]),
                         .ended = ns(f.numbers[3]),
                         .before = {f.numbers.begin() + 4, f.numbers.end()}});
    }
    return p;
  }

  /// The start of the task that follows a home in the log: the home is written right before the task that touches the
  /// region begins.
  std::uint64_t start_after(const move& m) const {
    const auto next = std::ranges::lower_bound(runs, std::pair(m.seat, m.at), {},
                                               [](const run_of_task& r) { return std::pair(r.seat, r.when.begun); });
    return next != runs.end() && next->seat == m.seat ? next->when.begun : m.at;
  }

  void finish() {
    for (recorded_region& r : out.regions) {
      if (const auto at = homes.find(r.address); at != homes.end()) r.home = at->second;
    }
    for (const sample& s : sampled) {
      if (const std::int32_t t = numbers_.task(s.task); t >= 0)
        out.samples.push_back({t, ns(began + s.cold), ns(began + s.warm), ns(began + s.hot)});
    }
    for (const counted& c : counts) {
      if (const std::int32_t t = numbers_.task(c.task); t >= 0) {
        out.counts.push_back(c.what);
        out.counts.back().task = t;
      }
    }
    sort_counts(out.counts);
    for (const move& m : moves) {
      if (const auto at = region_numbers_.find(m.address); at != region_numbers_.end())
        out.homes.push_back({at->second, m.node, m.bytes, ns(start_after(m))});
    }
    std::ranges::sort(out.homes, {}, [](const recorded_home& h) { return std::tuple(h.region, h.at, h.node); });
    end_allocations();
    std::ranges::sort(out.steals, {}, &recorded_steal::at);
    std::ranges::sort(out.waits, {}, &recorded_wait::begun);
    std::ranges::sort(out.idles, {}, &recorded_idle::begun);
    std::ranges::sort(out.jobs, {}, &recorded_job::begun);
  }

  task_numbers numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> region_numbers_;
  struct named_row {
    std::int32_t task = -1;
    std::size_t row = 0;  // of its accesses
  };
  std::vector<named_row> named_;  // by region: the task that named it last
};

}  // namespace

recording read_parts(const std::string& folder, const progress& tell) { return read_part(folder, tell).recorded; }

place_part read_part(const std::string& folder, const progress& tell) {
  place_part p = assembler(gather_logs(folder, tell)).assemble(folder, tell);
  recording& r = p.recorded;
  std::istringstream nodes(r.meta_or("worker_nodes", ""));
  for (int n; nodes >> n;) r.worker_node.push_back(static_cast<std::int16_t>(n));
  if (r.types.empty()) r.types.emplace_back();
  if (r.types.front().empty()) r.types.front() = "task";  // the type of tasks without one
  return p;
}

void assemble_parts(const std::string& file, const progress& tell, const std::function<void(recording&)>& complete) {
  assemble_places({file}, tell, complete);
}

void assemble_places(const std::vector<std::string>& files, const progress& tell,
                     const std::function<void(recording&)>& complete) {
  std::vector<place_part> parts;
  for (const std::string& f : files) parts.push_back(read_part(parts_of(f), tell));
  recording r = parts.front().job == 0 || !parts.front().recorded.blocks.empty() ? std::move(parts.front().recorded)
                                                                                 : merge_places(std::move(parts));
  if (complete) complete(r);
  check_recording(r, parts_of(files.front()));  // the parts are deleted once the file is written
  write_recording(r, files.front(), tell);
  for (const std::string& f : files) {
    std::error_code ignored;
    std::filesystem::remove_all(parts_of(f), ignored);
  }
}

}  // namespace kith
