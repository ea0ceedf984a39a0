// Why `auto` placed a task where it ran, for `kith why`: from the facts of a recording, by the rules of automatic.hpp.
#pragma once

#include "policy/auto/placed_data.hpp"
#include "policy/contract/explainer.hpp"
#include "policy/steal.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith {

template <class World>
[[gnu::cold]] void explain_automatic(explainer& e) {
  const placement_facts& f = e.facts;
  std::vector<std::uint64_t> bytes(f.nodes.size());
  std::uint64_t placed = 0, nowhere = 0;
  for (const placement_facts::access& a : f.data) {
    if (!has_home(a.bytes)) continue;
    placed += a.bytes;
    nowhere += a.nowhere;
    for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] += weight_of(a.how) * a.at_node[n];
  }
  if (e.inhabited_nodes() <= 1 || placed == 0) {
    e.say_of_policy(e.inhabited_nodes() <= 1 ? "one node has all workers, so it is `steal`"
                                             : "it uses no data of a page or more, so it is treated as under `steal`");
    steal<World>::explain(e);
    return;
  }
  const std::uint64_t most = *std::ranges::max_element(bytes);
  if (nowhere > most) {
    e.say_of_policy("most of its data (" + e.text(nowhere) + " of " + e.text(placed) +
                    " bytes) had no home yet: it was dealt to the node whose turn it was");
    e.say_origin();
    return;
  }
  std::vector<std::int32_t> heaviest;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (bytes[n] == most) heaviest.push_back(static_cast<std::int32_t>(n));
  }
  const bool several = heaviest.size() > 1;
  e.say_of_policy("a task runs where most of its data is, what it reads and writes counted " +
                  e.text(weight_of_changed) + " times: " + e.nodes_text(heaviest) + (several ? " have " : " has ") +
                  e.text(most) + " bytes" +
                  (!several          ? ""
                   : f.released_here ? " each; it stayed where its last predecessor ended"
                                     : " each; the shortest queue was taken"));
  if (bytes[static_cast<std::size_t>(f.node_ran_on)] == most) {
    if (f.released_here)
      e.say("its last predecessor (" + f.released_by + ") ended on " + e.worker_text(f.worker) +
            ", which has its data in its caches");
  } else if (f.released_here) {
    e.say("its last predecessor (" + f.released_by +
          ") ran there: what the task writes may have been in the caches, or several nodes use the data that is "
          "elsewhere, or so many tasks waited where it is that this one would have been stolen");
  } else if (!e.say_origin()) {
    e.say(
        "it ran on node " + e.text(f.node_ran_on) +
        ": a worker there had waited for longer than fetching the data was to take, or found so many tasks that it did "
        "not wait, or several nodes use the data that is elsewhere");
  }
}

}  // namespace kith
