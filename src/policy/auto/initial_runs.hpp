// Deals the data that tasks initialise in runs, so that blocks created one after the other, which often are neighbours,
// share a node.
//
// Not in the papers. A task that only writes, and whose data has no home yet, initialises it. Such tasks are held until
// their creator stops creating them, because only then is the length of the sequence known. They are dealt when their
// creator waits, when a task that uses data is created, or when idle workers see that no further ones arrive. Arrays of
// small blocks are an exception (below).
//
// Longer runs keep more neighbours together. But a program may use few neighbouring blocks at a time, such as a level
// of a triangular system. If no run has more blocks than its node has workers, a sequence of as many blocks as there
// are workers keeps nearly all of them busy. (Where nodes have unequally many workers, small ones get more than theirs:
// node_shares.hpp.) The more blocks an array has for each worker, the smaller a part can a program use at a time, and
// it is to have all memories. So beyond eight blocks for each worker, runs are half as long, if that leaves four
// blocks.
//
// Creating a task takes about as long as filling a page. So where blocks have fewer pages than there are workers,
// creating a task for each worker takes longer than running one, and workers would idle while tasks are held. Unless
// `runs` is given, a part of such an array is dealt as soon as it has a block for each worker: in two rounds, so that
// runs are half as long, if that leaves four blocks, else in one.
#pragma once

#include "policy/auto/dealing_order.hpp"
#include "policy/auto/filled_memory.hpp"
#include "policy/auto/held_arrays.hpp"
#include "policy/auto/initial_arrays.hpp"
#include "policy/auto/node_shares.hpp"
#include "policy/auto/placed_data.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/starvation_watch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// Any worker may call anything.
template <class World>
class initial_runs {
 public:
  using worker = typename World::worker;
  using held_task = typename held_arrays<World>::held_task;

  static constexpr std::array options{
      number_or("runs", "auto", 0, 1024,
                "how many runs of each array of new blocks a node gets; auto: as many as it takes so that no run has "
                "more blocks than its node has workers; twice as many if nodes have eight workers or more, and either "
                "the array has over eight blocks for each worker, or its blocks have fewer pages than there are "
                "workers; 0: blocks are dealt one by one"),
  };

  initial_runs(const policy_context& context, const policy_options& given)
      : team_(context.workers),
        memory_(context.memory),
        order_(context.workers),
        shares_(context.workers),
        runs_(given.number_or_word("runs")),
        watches_(static_cast<std::size_t>(team_.size())) {}

  bool deals() const noexcept { return runs_ != 0; }
  bool initialises(const task& t) const {
    if (!deals()) return false;
    bool writes = false;
    for (kept_access a : t.access_list()) {
      if (!has_home(a)) continue;
      if (a.how != mode::out || memory_.region_of(a).home.load(relaxed) != region::no_home) return false;
      writes = true;
    }
    return writes;
  }
  /// Holds a ready task. If that completes a part of an array of small blocks, deals this part, as deal() does; if
  /// there is no memory for that, the part stays held. REQUIRES: initialises(t).
  template <class Send>
  void hold(task& t, worker& self, const Send& send) {
    const bool small = !runs_ && placed_bytes(t) < least_placed * static_cast<std::uint64_t>(team_.size());
    auto [first, part] = held_.add(t, filled_memory::first_data(t, memory_), small, blocks_of_part());
    if (first) self.ring(team_.everybody());  // wakes workers, so that one calls starves()
    if (part.empty()) return;
    try {
      send_all(std::move(part), self, send,
               [this](std::span<const held_task> tasks) { return choose_for_part(tasks); });
    } catch (const std::bad_alloc&) {  // the new task, too, is held or sent, so its creation has not failed
    }
  }
  bool holds_any() const noexcept { return !held_.empty(); }
  /// Whether deal() has something to do: tasks are held, or an array of which parts were dealt may go on.
  bool open() const noexcept { return held_.open(); }
  /// Called by a worker that has nothing else to do. True if no further tasks seem to arrive: they should be dealt.
  bool starves(worker& self) { return watches_[self.id.index()].starves(held_.ever(), most_failed_searches); }
  /// Ends all arrays, and calls send(task, node) for each held task, in the order of creation. The node is none for
  /// some tasks: those of an array that has fewer than there are nodes, and what is left over when every node has its
  /// share, or comes after a block that is too large for any. If send() or an allocation throws, the tasks that were
  /// not sent are held again.
  template <class Send>
  void deal(worker& self, const Send& send) {
    send_all(held_.take_all(), self, send, [this](std::span<const held_task> tasks) { return choose(tasks); });
  }

 private:
  static constexpr std::uint32_t most_failed_searches = 32;  // of one worker, without a new task
  static constexpr std::int64_t most_for_each = 8;  // blocks of an array for each worker; beyond, runs are shorter
  static constexpr std::int64_t least_half = 4;     // blocks of such a run
  static constexpr std::int64_t least_run = 2;  // blocks of a run, unless nodes get fewer: one alone has no neighbour

  /// How many small blocks of an array are dealt at once: one for each worker, and at least the least run for each
  /// node.
  std::int64_t blocks_of_part() const { return std::max<std::int64_t>(team_.size(), least_run * nodes()); }
  std::int64_t rounds_of_part() const { return allows_halves() ? 2 : 1; }
  /// Whether half as many blocks as a node has workers are enough for a run.
  bool allows_halves() const { return team_.size() >= 2 * least_half * nodes(); }

  template <class Send, class Choose>
  void send_all(std::vector<held_task> all, worker& self, const Send& send, const Choose& choose_nodes) {
    std::erase_if(all, [&](const held_task& t) { return self.drop_if_dead(*t.it); });
    std::size_t sent = 0;
    try {
      const std::vector<node_id> nodes = choose_nodes(all);
      for (; sent < all.size(); ++sent) send(*all[sent].it, nodes[sent]);
    } catch (...) {
      all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(sent));
      held_.put_back(std::move(all));
      self.ring(team_.everybody());
      throw;
    }
  }

  /// The node of each task of a part of one array.
  std::vector<node_id> choose_for_part(std::span<const held_task> part) const {
    initial_array a;
    for (const held_task& t : part) {
      a.tasks.push_back(a.tasks.size());
      a.bytes.push_back(placed_bytes(*t.it));
    }
    std::vector<node_id> chosen(part.size());
    if (!part.empty()) choose(a, rounds_of_part(), rounds_of_part() * part.front().parts, chosen);
    return chosen;
  }
  /// The node of each task. All arrays have as many rounds as the shortest, so that tasks with the same index in them
  /// meet; those with less than an eighth of the longest, and what is left of those dealt in parts, have what they can.
  std::vector<node_id> choose(std::span<const held_task> held) const {
    std::vector<task*> all;
    for (const held_task& t : held) all.push_back(t.it);
    const std::vector<initial_array> arrays = initial_arrays(memory_, nodes())(all);
    const auto is_rest = [&](const initial_array& a) { return held[a.tasks.front()].parts != 0; };
    std::int64_t longest = 0, rounds = std::numeric_limits<std::int64_t>::max();
    for (const initial_array& a : arrays) {
      if (!is_rest(a)) longest = std::max(longest, a.size());
    }
    for (const initial_array& a : arrays) {
      if (!is_rest(a) && a.size() >= nodes() && 8 * a.size() >= longest) rounds = std::min(rounds, rounds_of(a.size()));
    }
    std::vector<node_id> chosen(all.size());
    for (const initial_array& a : arrays) {
      if (a.size() < nodes()) continue;
      const std::int64_t own = rounds_of(a.size());
      choose(a, is_rest(a) ? own : std::min(rounds, own), rounds_before(a, held), chosen);
    }
    return chosen;
  }
  /// The rounds of the parts of the array that were dealt; none if it was not told apart from others.
  std::int64_t rounds_before(const initial_array& a, std::span<const held_task> held) const {
    const held_task& first = held[a.tasks.front()];
    const bool is_one = std::ranges::all_of(a.tasks, [&](std::size_t i) { return held[i].array == first.array; });
    return is_one ? rounds_of_part() * first.parts : 0;
  }
  std::int64_t nodes() const { return static_cast<std::int64_t>(team_.inhabited().size()); }
  /// The rounds of an array of so many tasks. Their number is even, because it may be two arrays that could not be told
  /// apart: then each gets as many. The same for four arrays, if there are enough tasks.
  std::int64_t rounds_of(std::int64_t tasks) const {
    const std::int64_t most = std::max<std::int64_t>(tasks / (least_run * nodes()), 1);
    if (runs_) return std::min(*runs_, most);
    if (most < 4) return std::min<std::int64_t>(most, 2);
    const std::int64_t enough = (tasks + team_.size() - 1) / team_.size();
    const bool halves = tasks > most_for_each * team_.size() && allows_halves();
    const std::int64_t wanted = halves ? 2 * enough : enough;
    return std::min((wanted + 3) / 4 * 4, most / 4 * 4);
  }
  /// Chooses so that after each round, every node has its share of the bytes so far, as far as whole blocks allow.
  /// `before`: the rounds that the array had already.
  void choose(const initial_array& a, std::int64_t rounds, std::int64_t before, std::vector<node_id>& chosen) const {
    std::vector<std::uint64_t> given(static_cast<std::size_t>(team_.nodes()));
    const auto turns = static_cast<std::uint32_t>(nodes());
    const double share = static_cast<double>(std::accumulate(a.bytes.begin(), a.bytes.end(), std::uint64_t{0})) /
                         (static_cast<double>(rounds) * shares_.sum());  // of a node of weight 1 in each round
    std::size_t dealt = 0;
    for (std::uint32_t turn = 0; turn < turns * rounds; ++turn) {
      const node_id n = order_(static_cast<std::uint32_t>(before) * turns + turn);
      const std::uint32_t round = turn / turns + 1;
      const double until = share * round * shares_.weight(n);
      for (std::uint64_t& has = given[n.index()]; dealt < a.bytes.size(); ++dealt) {
        const std::uint64_t next = a.bytes[dealt];
        if (static_cast<double>(has) + static_cast<double>(next) / 2 >= until) break;
        has += next;
        chosen[a.tasks[dealt]] = n;
      }
    }
  }

  const team& team_;
  const memory_view memory_;
  const dealing_order order_;
  const node_shares shares_;
  std::optional<std::int64_t> runs_;
  held_arrays<World> held_;
  std::vector<starvation_watch> watches_;
};

}  // namespace kith
