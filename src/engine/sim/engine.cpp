#include "engine/sim/engine.hpp"

#include "base/address.hpp"
#include "engine/life/remote_count.hpp"
#include "engine/sim/huge_pages.hpp"
#include "engine/sim/planned.hpp"
#include "machine/hosts.hpp"
#include "policy/contract/policy_options.hpp"
#include "replay/schedule.hpp"
#include "task/closure_room.hpp"

#include <kith/error.hpp>

#include <algorithm>

namespace kith::sim {

namespace {

/// The nodes that the memory of the cores comes from, as in the native engine.
std::vector<node_id> nodes_of(const machine_model& m, std::span<const core_id> cores) {
  std::vector<node_id> nodes;
  for (core_id c : cores) nodes.push_back(m.hardware.nearest_node_with_memory(m.hardware.cores[c.index()].node));
  return nodes;
}

int workers_of(const machine_model& m, const run_options& s) {
  const int cores = static_cast<int>(m.hardware.cores.size());
  if (s.workers < 0 || s.workers > cores)
    throw error(m.hardware.name + " has " + std::to_string(cores) + " cores; " + std::to_string(s.workers) +
                    " workers were asked for",
                error_kind::setting);
  return s.workers == 0 ? cores : s.workers;
}

/// Hosts in a grid are for programs with places, at fidelity abstract, because their nodes have no common numbering.
void check_hosts(const machine_model& m, const run_options& s) {
  const bool one_core = s.workers == 1;  // the run that speed-ups compare with
  const std::string hosts = m.hardware.name + " with " + std::to_string(m.places) + " hosts";
  if (s.places.count == 0 && !one_core)
    throw error(hosts + " runs programs with places alone: expected a recording of places, or up to " +
                    std::to_string(most_nodes) + " hosts",
                error_kind::setting);
  if (s.fidelity != fidelity::abstract || s.hardware.used)
    throw error(hosts + " has no model of memory: expected fidelity abstract", error_kind::setting);
  if (s.keep_schedule)
    throw error(
        hosts + ": a recording has up to " + std::to_string(most_nodes) + " nodes; expected fewer hosts, or no -o",
        error_kind::setting);
  if (s.places.count > m.places)
    throw error(hosts + ": " + std::to_string(s.places.count) + " places were asked for; `kith sim --hosts " +
                    std::to_string(s.places.count) + "` has them",
                error_kind::setting);
}

/// Equal shares of the machine's cores, or the machine's own places; each place's workers are spread over its share.
/// The cores of hosts in a grid have the same numbers at each.
std::vector<core_id> cores_of_places(const machine_model& m, const place_settings& s) {
  const int share = static_cast<int>(m.hardware.cores.size()) / (m.hosts ? 1 : std::max(s.count, m.places));
  const int each = s.workers == 0 ? share : s.workers;
  if (s.count < 0 || each < 1 || each > share)
    throw error(m.hardware.name + " has " +
                    (share < 1 ? std::to_string(m.hardware.cores.size()) + " cores for " + std::to_string(s.count) +
                                     " places; expected one for each at least"
                               : std::to_string(share) + " cores for each of " + std::to_string(s.count) + " places; " +
                                     std::to_string(each) + " workers were asked for") +
                    (s.count > m.places ? "; `kith sim --hosts " + std::to_string(s.count) +
                                              "` sizes a cluster of equal hosts, as xeon-5504-cluster"
                                        : ""),
                error_kind::setting);
  std::vector<core_id> cores;
  for (int p = 0; p < s.count; ++p) {
    for (int w = 0; w < each; ++w) cores.emplace_back((m.hosts ? 0 : p * share) + w * share / each);
  }
  return cores;
}

std::vector<core_id> cores_of(const machine_model& m, const run_options& s) {
  if (m.hosts) check_hosts(m, s);
  if (s.places.count != 0) return cores_of_places(m, s.places);
  std::vector<core_id> cores;
  for (int w = 0; w < workers_of(m, s); ++w) cores.emplace_back(w);
  return cores;
}

/// Whether places have workers and queues of their own.
bool has_places(const run_options& s) { return s.places.count != 0 && s.places.groups != worker_groups::all; }

/// Longer times would overflow the counters.
constexpr picoseconds longest = picoseconds{1} << 62;

}  // namespace

engine::engine(const program& p, const machine_model& m, const run_options& s)
    : program_(p),
      machine_(m),
      options_(s),
      cores_(cores_of(m, s)),
      team_(m.hardware, nodes_of(m, cores_), cores_),
      view_(regions_, team_.served_by()),
      data_(m),
      costs_{cost(m.costs.create),  cost(m.costs.push),  cost(m.costs.pop),
             cost(m.costs.attempt), cost(m.costs.steal), cost(m.costs.wake)},
      shared_costs_{far_cost(costs_.push, distance_of_shared()), far_cost(costs_.pop, distance_of_shared()),
                    far_cost(costs_.steal, distance_of_shared())},
      events_(static_cast<std::size_t>(team_.size()) * (s.hardware.used ? 2 : 1) +
              (p.members.size() > 1 ? p.members.size() : 0)) {
  number_regions();
  std::string policy = s.policy;
  migrates_ = take_migration(policy);
  if (!p.passed_by.empty()) ran_on_.assign(p.tasks(), -1);
  if (migrates_ && s.fidelity != fidelity::block)
    throw error(
        "policy '" + s.policy + "': moving pages is part of the fidelity block alone; expected --fidelity block",
        error_kind::setting);
  if (p.members.size() > 1 && s.places.count != 0)
    throw error("several programs are simulated together without places", error_kind::setting);
  make_members();
  make_groups(policy);
  if (p.members.size() > 1 && this->policy().has_gate())
    throw error("policy '" + policy + "' repeats the schedule of one program; expected another, or one recording",
                error_kind::setting);
  if (s.fidelity == fidelity::block) memory_.emplace(p, m, s.distribution, s.parts, s.chunk_bytes);
  if (s.fidelity == fidelity::line) make_lines();
  if (s.hardware.used) make_unit();
  make_workers();
  make_records();
  if (s.distribution == distribution::colors) place_by_colors();
  if (s.distribution == distribution::regions) place_by_regions();
  if (layout_) place_by_layout();
  if (!layout_ && s.distribution == distribution::block)
    throw error("distribution block: the recording has no allocations; there are first-touch, fine, coarse and colors",
                error_kind::setting);
  reserve_huge_pages(successors_, p.recorded.dependences.size());
  successors_.resize(p.recorded.dependences.size());
  scopes_.resize(p.scopes);
  left_scopes_.resize(p.tasks());
  if (has_places(s)) make_places();
  if (s.keep_schedule) notes_.emplace(p.recorded);
}

void engine::number_regions() {
  const run_options& s = options_;
  const bool by_allocation = s.distribution != distribution::first_touch && s.distribution != distribution::colors;
  if (by_allocation && !program_.recorded.allocations.empty())
    layout_.emplace(program_, machine_.hardware, nodes_of(machine_, cores_), s.distribution,
                    std::max<std::uint64_t>(machine_.page_bytes, s.chunk_bytes));
  // A region's index is its index in the program plus 1.
  for (std::uint32_t r = 0; r < program_.recorded.regions.size(); ++r) {
    const std::uintptr_t name = layout_ ? layout_->address(r) : program_.recorded.regions[r].address;
    regions_.append(at_address(name), program_.recorded.regions[r].bytes);
  }
}

void engine::make_members() {
  const std::size_t members = program_.members.size(), workers = cores_.size();
  for (std::size_t k = 0; k < members; ++k)
    members_.push_back({.next_root = program_.members[k].first_root,
                        .root_worker = static_cast<std::uint32_t>(k * workers / members)});
  unbegun_ = members;
}

void engine::make_groups(const std::string& policy) {
  const run_options& s = options_;
  const std::size_t groups = !has_places(s)                              ? 1
                             : s.places.groups == worker_groups::workers ? cores_.size()
                                                                         : static_cast<std::size_t>(s.places.count);
  const auto each = static_cast<std::uint32_t>(cores_.size() / groups);
  for (std::uint32_t g = 0; g < groups; ++g) {
    const std::span<const core_id> cores = std::span(cores_).subspan(std::size_t{g} * each, each);
    policy_group& made = groups_.emplace_back(machine_.hardware, cores, nodes_of(machine_, cores), g, g * each);
    const policy_context context{made.workers, regions_, s.seed + g, view_, &identities_};
    made.policy.set(s.plan ? chosen_policy<sequential::world>{std::make_unique<planned>(context, *s.plan)}
                           : choose_policy<sequential::world>(policy, context));
  }
}

void engine::make_unit() {
  unit_.emplace(machine_, options_.hardware, options_.parts);
  prefetchers_.resize(cores_.size());
  if (unit_->buffered() != 0 && (policy().has_gate() || policy().observes_idleness()))
    throw error("policy '" + options_.policy + "' must know when a worker asks for a task, so none can be fetched " +
                    "ahead: expected --prefetch 0, or another policy",
                error_kind::setting);
  if (unit_->has_bound() && policy().has_gate())
    throw error("policy '" + options_.policy +
                    "' must know all ready tasks, so none can wait in memory: expected no bound on the unit's entries, "
                    "or another policy",
                error_kind::setting);
}

void engine::make_workers() {
  const std::size_t each = cores_.size() / groups_.size();
  for (std::size_t w = 0; w < cores_.size(); ++w) {
    policy_group& group = groups_[w / each];
    const worker_id id(static_cast<int>(w % each));
    const core_id core = cores_[w];
    const node_id node = group.workers.node_of(id);
    worker& made = workers_.emplace_back(*this, group, id, node);
    const auto per_node = static_cast<std::uint32_t>(machine_.caches_per_node);
    made.position = {.node = node,
                     .cache = static_cast<std::uint32_t>(node.value) * per_node +
                              static_cast<std::uint32_t>(machine_.cache_of(core)) % per_node,
                     .core = static_cast<std::uint32_t>(core.value)};
    made.speed = static_cast<std::uint64_t>(1024 / machine_.speeds[core.index()]);
  }
}

void engine::make_records() {
  reserve_huge_pages(records_, program_.tasks());
  records_.assign(program_.records.begin(), program_.records.end());
  for (const program::member& member : program_.members) {
    for (std::size_t i = member.first_task; i < member.end_task; ++i) {
      task_record& r = records_[i];
      r.color = color_here(member, r.color);
      r.node = static_cast<std::int16_t>(node_here(member, r.node));
    }
  }
  if (groups_.size() == 1 || program_.recorded.places.empty()) return;
  for (std::size_t i = 0; i < program_.tasks(); ++i) {
    records_[i].color = color_at_place(i);
    records_[i].node = node_at_place(i);
  }
}

/// Frees the tasks of a run that was given up.
engine::~engine() {
  if (free_slots_.size() == slot_blocks_.size() * slots_at_once) return;
  for (task_record& t : records_) {
    if (t.slot != nullptr) free_room(*t.slot);
  }
}

std::uint64_t engine::program_identities::identity_of(const task& t) const {
  return identity_of(static_cast<const policy_task&>(t).number());
}

std::uint64_t engine::program_identities::identity_of(std::int32_t n) const {
  if (all_.empty()) all_ = identities_of(program_.recorded);
  return all_[static_cast<std::size_t>(n)];
}

/// Places data on the node of the color of the first task that writes it, as if the worker of each color had
/// initialised it.
void engine::place_by_colors() {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const task_record& t = records_[i];
    const node_id home = life::node_of_color(owners_of_colors(static_cast<std::int32_t>(i)), t.color);
    if (!home) continue;
    for (const program::access& a : accesses(t)) {
      if (a.kept.how == mode::in || !regions_[a.kept.region].set_home(home)) continue;
      put(a.kept.region - 1, home);
    }
  }
}

/// Places each region on one node, in turn, as if the program had allocated each of them separately.
void engine::place_by_regions() {
  std::vector<std::pair<std::uintptr_t, std::uint32_t>> order;
  for (std::uint32_t i = 0; i < program_.recorded.regions.size(); ++i)
    order.emplace_back(layout_ ? layout_->address(i) : std::uintptr_t{i}, i);
  std::ranges::sort(order);
  for (std::size_t turn = 0; turn < order.size(); ++turn) {
    const std::uint32_t i = order[turn].second;
    const node_id home = team_.inhabited()[turn % team_.inhabited().size()];
    regions_[i + 1].set_home(home);
    put(i, home);
  }
}

/// Tells the memory model that is in use where a region is.
void engine::put(std::uint32_t region, node_id home) {
  const recorded_region& r = program_.recorded.regions[region];
  if (memory_) memory_->put(region, r.bytes, home);
  if (lines_) lines_->put(r.address, r.bytes, home);
}

/// Sets the homes that the allocations decide before the run, for the policy and for the memory model.
void engine::place_by_layout() {
  for (std::uint32_t i = 0; i < program_.recorded.regions.size(); ++i) {
    const page_map* const block = layout_->block(i);
    if (block == nullptr) continue;
    region& r = regions_[i + 1];
    r.block.store(block, relaxed);
    r.to_bind.store(layout_->deferred(i), relaxed);
    if (block->nodes.empty()) continue;
    const node_id one = block->node_of(layout_->address(i), r.bytes.load(relaxed));
    r.home.store(one ? region::number_of(one) : region::several_homes, relaxed);
    const std::uint64_t bytes = r.bytes.load(relaxed);
    if (memory_) memory_->put(i, bytes, *layout_);
    for (std::uint64_t offset = 0; lines_ && offset < bytes; offset += line_streams::page_bytes) {
      const std::uint64_t here = std::min(line_streams::page_bytes, bytes - offset);
      if (const node_id n = layout_->node_at(i, offset))
        lines_->put(program_.recorded.regions[i].address + offset, here, n);
    }
  }
}

result engine::run() {
  note_first_homes();
  std::vector<worker*> by_number;  // at each event: an index into a deque is a division
  for (worker& w : workers_) by_number.push_back(&w);
  for (std::uint32_t w = 0; w < by_number.size(); ++w) events_.set(w, 0);
  while (!done_) {
    const picoseconds now = events_.first();
    if (network_ && network_->first() <= now && network_->first() != event_queue::never) {
      now_ = network_->first();
      deliver_message();
      continue;
    }
    now_ = now;
    if (now == event_queue::never) {
      if (groups_.front().policy.stalled(*std::ranges::max_element(workers_, {}, &worker::clock)))
        continue;  // tasks were held back
      starved();
    }
    const std::uint32_t id = events_.first_worker();
    if (id >= by_number.size()) {
      const std::size_t other = id - by_number.size();
      if (other < prefetchers_.size()) {
        step_prefetcher(*by_number[other], now);
      } else {
        wake_for_root(other - prefetchers_.size(), now);
      }
      continue;
    }
    worker& w = *by_number[id];
    w.clock = std::max(w.clock, now);
    bool goes_on;  // no time has passed, and no other worker comes before it
    do {
      ++steps_;
      const picoseconds before = w.clock;
      step(w);
      if (w.clock != before) ++events_taken_;
      goes_on = w.clock == now && !w.parked && !w.awaits_acceptance && !done_ && now < events_.first_but(id);
    } while (goes_on);
    if (w.clock > longest)
      throw error("the simulated run lasts for more than 53 days: " + options_.policy + " is given up");
    events_.set(id, w.parked || w.awaits_acceptance ? event_queue::never : w.clock);
  }
  return results();
}

result simulate(const program& p, const machine_model& m, const run_options& s) { return engine(p, m, s).run(); }

run_options alone_of(run_options s) {
  s.policy = "auto";
  s.plan = nullptr;
  s.workers = 1;
  s.places = {};
  s.keep_schedule = false;
  return s;
}

}  // namespace kith::sim
