#include "policy/list.hpp"

#include "base/made_once.hpp"
#include "base/nearest.hpp"
#include "policy/automatic.hpp"
#include "policy/central.hpp"
#include "policy/dep.hpp"
#include "policy/dfifo.hpp"
#include "policy/home_cache.hpp"
#include "policy/nabbit.hpp"
#include "policy/nabbitc.hpp"
#include "policy/numa.hpp"
#include "policy/policy_options.hpp"
#include "policy/replay.hpp"
#include "policy/rip_dep.hpp"
#include "policy/rip_mw.hpp"
#include "policy/socket.hpp"
#include "policy/source.hpp"
#include "policy/steal.hpp"
#include "queue/native/world.hpp"
#include "queue/plain/world.hpp"

#include <vector>

namespace kith {

namespace {

template <class World>
struct listed_policy {
  policy_entry about;
  std::unique_ptr<policy<World>> (*make)(const policy_context&, policy_options&);
};

template <class Policy, class World>
std::unique_ptr<policy<World>> build(const policy_context& s, policy_options& options) {
  return std::make_unique<Policy>(s, options);
}
/// Where there is one node, `auto` is `steal` itself.
template <class World>
std::unique_ptr<policy<World>> build_auto(const policy_context& s, policy_options& options) {
  auto found = std::make_unique<automatic<World>>(s, options);
  if (s.workers.inhabited().size() > 1) return found;
  policy_options none("steal");
  return std::make_unique<steal<World>>(s, none);
}
// A new policy is one line here.
template <class World>
constexpr listed_policy<World> policies[] = {
    {{"auto", "RIP", "4.1, with differences",
      "a task runs where its data is, evenly dealt; who has nothing steals where it pays",
      "caution=3, chains=bound|free, recent=auto|off, order=ready|created, window=off|auto", true},
     build_auto<World>},
    {{"fifo", "MIR", "ch. 3 (central)", "one queue, first in first out", "", true},
     build<central<World, queue_order::fifo>, World>},
    {{"lifo", "MIR", "ch. 3 (central-stack)", "one queue, last in first out", "", true},
     build<central<World, queue_order::lifo>, World>},
    {{"random", "HW", "4", "one queue, any ready task", "", true}, build<central<World, queue_order::random>, World>},
    {{"source", "HW", "4", "a core prefers tasks created on it", "", true}, build<source<World>, World>},
    {{"steal", "MIR", "ch. 3 (ws, ws-de)", "a deque for each worker, work stealing, help-first",
      "victim=nearest|cyclic|random|nodes, end=lifo|fifo, batch=32, patience=on|off", true},
     build<steal<World>, World>},
    {{"numa", "MIR", "3.3", "a task runs where its input is read at least cost; cheap ones anywhere",
      "footprint=auto|N, even=1, reads=in|all, ties=turn|first, alternative=on|off, backlog=cores|N, "
      "order=ready|created, keep=off|on",
      true},
     build<numa_policy<World>, World>},
    {{"home-cache", "MIR", "3.2", "as numa, for each core; stealing within a vicinity alone",
      "vicinity=2x2|1x1|1x2|4x4|8x8, columns=auto|N, intense=off|N, small=place|stay", true},
     build<home_cache<World>, World>},
    {{"dfifo", "RIP", "6", "a queue for each worker, tasks dealt round robin", "steal=on|off", true},
     build<dfifo<World>, World>},
    {{"socket", "RIP", "6 (SA)", "the programmer names each task's node",
      "order=ready|created, steal=off|nearest, backlog=0", true},
     build<socket<World>, World>},
    {{"dep", "RIP", "4.1", "a task runs where most of its data is", "order=ready|created, steal=off|nearest, backlog=0",
      true},
     build<dep<World>, World>},
    {{"rip-dep", "RIP", "4.3.1", "the first tasks are partitioned as a graph; later ones as dep",
      "window=auto|N, first=0, partitioner=scotch|greedy, order=ready|created, steal=off|nearest, backlog=0", true},
     build<rip_dep<World>, World>},
    {{"rip-mw", "RIP", "4.3.2", "all tasks are partitioned, in windows that overlap",
      "window=auto|N, first=0, intersection=half|N, partitioner=scotch|greedy, moving=greedy|scotch-fixed, "
      "order=ready|created, steal=off|nearest, backlog=0",
      true},
     build<rip_mw<World>, World>},
    {{"nabbit", "NabbitC", "II", "groups of tasks that became ready together, random stealing", "", true},
     build<nabbit<World>, World>},
    {{"nabbitc", "NabbitC", "III", "groups sorted by color; thieves prefer their own color",
      "attempts=4, first=on|off, budget=64, morph=on|off, colors=worker|node|data", true},
     build<nabbitc<World>, World>},
    {{"replay", "NabbitC", "V", "decides as a recorded run did", "file=RECORDING, order=auto|strict|ready", false,
      true},
     build<replay<World>, World>},
};

}  // namespace

std::span<const policy_entry> policy_list() {
  static constinit made_once<std::vector<policy_entry>> entries;
  return entries.get([] {
    std::vector<policy_entry> all;
    for (const auto& p : policies<native::world>) all.push_back(p.about);
    return all;
  });
}

template <class World>
std::unique_ptr<policy<World>> make_policy(const std::string& text, const policy_context& s) {
  policy_options options(text);
  std::vector<std::string> names;
  for (const listed_policy<World>& p : policies<World>) {
    names.emplace_back(p.about.name);
    if (options.policy() != p.about.name) continue;
    std::unique_ptr<policy<World>> made = p.make(s, options);
    options.all_taken();
    return made;
  }
  throw error(no_such("policy", options.policy(), names));
}

template std::unique_ptr<policy<native::world>> make_policy<native::world>(const std::string&, const policy_context&);
template std::unique_ptr<policy<plain::world>> make_policy<plain::world>(const std::string&, const policy_context&);

}  // namespace kith
