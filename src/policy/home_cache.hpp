// `home-cache`: a task goes to the core that reads its input at least cost; cores steal only within their
// vicinity.
//
// MIR thesis, section 3.2 (TILEPro64: each tile is the home cache of its own share of memory, here its node), and
// the intensity hint of its journal version, given once for all tasks. Data spread over several homes (hashed)
// has no home that counts: such tasks stay with their creator. Vicinities are blocks of tiles in the mesh. The
// artifact has no vicinities and steals nothing. Not in the paper: a node may have several cores, which take
// turns.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/home_queue.hpp"
#include "policy/input_cost.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace kith {

template <class World>
class home_cache final : public policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      one_of("vicinity", "2x2|1x1|1x2|4x4|8x8", "rows x columns of nodes whose cores steal from each other"),
      number_or("columns", "auto", 1, 1 << 15,
                "of the mesh, whose nodes are numbered by rows; auto: as nearly square as their number allows"),
      number_or("intense", "off", 0, 255, "only the access with this index (from 0) decides, for tasks that have it"),
      one_of("small", "place|stay",
             "stay: tasks whose input fits a core's share of the last-level cache stay with their creator"),
  };
  [[gnu::cold]] static void explain(explainer& e) {
    const std::optional<std::int64_t> intense = e.options.number_or_word("intense");
    if (e.facts.nodes.size() == 1) {
      e.say_of_policy("there is one node");
    } else if (intense && static_cast<std::size_t>(*intense) < e.facts.data.size()) {
      e.say_of_policy("access " + std::to_string(*intense) +
                      " is the only one that decides (intense): it runs where that data is");
    } else if (const auto bytes = input_by_node(e.facts, counted::inputs);
               std::ranges::any_of(bytes, [](std::uint64_t b) { return b != 0; })) {
      explain_cheapest(e, bytes);
    } else {
      e.say_of_policy("it has no input with a home: it stays with its creator");
    }
    e.say_origin();
  }

  static constexpr policy_entry about{
      .name = "home-cache",
      .paper = "MIR",
      .section = "3.2",
      .summary = "as numa, for each core; stealing only within a vicinity",
      .options = options,
      .explain = explain,
  };

  home_cache(const policy_context& context, const policy_options& given)
      : team_(context.workers),
        memory_(context.memory),
        input_(context, counted::inputs),
        intense_(given.number_or_word("intense").value_or(-1)),
        small_stay_(given.is("small", "stay")) {
    const shape block = given.word("vicinity", {shape{2, 2}, shape{1, 1}, shape{1, 2}, shape{4, 4}, shape{8, 8}});
    const auto columns = static_cast<int>(given.number_or_word("columns").value_or(columns_of(team_.nodes())));
    if (columns > team_.nodes())
      given.refuse("columns", "a number from 1 to " + std::to_string(team_.nodes()) + ", the nodes, or auto");
    const auto vicinity_of = [&](node_id n) {
      return std::pair(n.value / columns / block.rows, n.value % columns / block.columns);
    };
    for (int w = 0; w < team_.size(); ++w) {
      const worker_id me(w);
      worker_set near;
      states_.push_back({input_.room(), {}});
      for (worker_id v : team_.victims(me, victim_order::nearest)) {
        if (vicinity_of(team_.node_of(v)) != vicinity_of(team_.node_of(me))) continue;
        states_.back().victims.push_back(v);
        near.insert(v);
      }
      queues_.push_back(make_queue<World>(context, me, queue_order::fifo));
      if (!near.empty()) queues_.back()->add_thieves(std::move(near), 0);
    }
  }

  typename policy<World>::data_needs needs() const override { return {.homes = team_.nodes() > 1}; }
  bool leaves_short_tasks() const override { return team_.nodes() == 1; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) queues_[choose_worker(*t, self).index()]->push(*t, self);
    return nullptr;
  }

  poll_result next(worker& self) override {
    state& mine = states_[self.id.index()];
    task* t = queues_[self.id.index()]->pop(self);
    if (t == nullptr && !mine.victims.empty()) {
      shared_queue<World>& there = *queues_[mine.victims[mine.probe].index()];
      t = there.size() > 0 ? there.steal(self) : nullptr;
      if (t == nullptr && ++mine.probe < mine.victims.size()) return {poll_result::retry};
    }
    mine.probe = 0;
    return poll_result::at(t, poll_result::empty);
  }

 private:
  struct shape {
    int rows, columns;
  };
  struct alignas(false_sharing_range) state {
    input_cost::room_type bytes;
    std::vector<worker_id> victims;  // workers in the vicinity, nearest first
    std::size_t probe = 0;           // position in `victims`
    std::size_t turn = 0;            // for ties between nodes
    std::size_t core = 0;            // for turns among the cores of a node
  };

  /// The number of rows is the largest divisor up to the square root.
  static int columns_of(int nodes) {
    int rows = static_cast<int>(std::sqrt(nodes));
    while (nodes % rows != 0) --rows;
    return nodes / rows;
  }

  worker_id choose_worker(const task& t, worker& self) {
    state& mine = states_[self.id.index()];
    if (team_.nodes() == 1) return self.id;
    node_id there;
    std::int64_t number = 0;
    std::fill(mine.bytes.begin(), mine.bytes.end(), 0);
    std::uint64_t all = 0;
    for (kept_access a : t.access_list()) {
      const node_id home = memory_.region_of(a).home_node();
      if (number++ == intense_ && home) there = team_.served_by(home);
      if (a.how == mode::out || !home) continue;
      mine.bytes[home.index()] += a.bytes();
      all += a.bytes();
    }
    const bool stays = all == 0 || (small_stay_ && all <= team_.cache_share(self.node));
    if (!there && !stays) there = input_.cheapest(mine.bytes, mine.turn++);
    if (!there || there == self.node) return self.id;
    const std::vector<worker_id>& cores = team_.workers_at(there);
    return cores[cores.size() == 1 ? 0 : mine.core++ % cores.size()];
  }

  const team& team_;
  const memory_view memory_;
  input_cost input_;
  std::int64_t intense_;
  bool small_stay_;
  std::vector<home_queue<World>> queues_;  // by worker
  std::vector<state> states_;
};

}  // namespace kith
