// Explains, for a policy, where a task of a recorded run ran (`kith why`).
//
// A recording holds no decisions, only their results. An explanation says what follows from the policy's rule and
// from where data was, and also says what does not fit the rule.
#pragma once

#include "policy/contract/policy_options.hpp"

#include <kith/access.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kith {

/// What is known about the task. Nodes and workers are numbers, -1: none; bytes are as declared.
struct placement_facts {
  struct access {
    mode how = mode::in;
    std::uint64_t bytes = 0;
    std::vector<std::uint64_t> at_node;  // at the task's start
    std::uint64_t nowhere = 0;           // bytes that no task had touched before
  };
  struct node {
    int workers = 0;
    std::uint64_t bytes = 0;  // bytes of the task's data
  };
  struct steal {  // the last steal of its worker, after the worker's previous task
    std::int32_t victim = -1, victim_node = -1;
    std::uint64_t before_ns = 0;
    bool ran_next = false;  // the worker ran no other task in between
  };
  struct window {  // a window of tasks that were partitioned
    std::uint64_t tasks = 0, dependences = 0;
    std::int32_t worker = -1;
    bool ended_before = false;  // before the task began
  };

  std::int32_t worker = -1, node_ran_on = -1;
  std::int32_t creator_worker = -1, creator_node = -1;
  std::int32_t color = -1, color_node = -1;  // the color, and the node of the worker that it names
  std::int32_t named_node = -1;              // the node that the program names
  bool may_be_claimed = false;               // by a worker that waits for it
  std::string released_by;                   // the task whose end made it ready, as "task 3"; empty: none
  bool released_here = false;                // that task ran on the same worker
  std::vector<access> data;
  std::uint64_t bytes = 0, nowhere = 0;  // totals over all data
  std::vector<node> nodes;
  std::optional<steal> stolen;
  std::vector<window> windows;
  std::uint64_t created_before = 0;                         // how many tasks that windows count were created before it
  std::function<int(std::size_t, std::size_t)> distance{};  // between two nodes; 10: local
};

/// Collects sentences, the most important first.
class explainer {
 public:
  explainer(const placement_facts& known, const policy_options& given) : facts(known), options(given) {}

  const placement_facts& facts;
  const policy_options& options;

  void say(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  /// Says the sentence after the policy's name.
  void say_of_policy(const std::string& sentence) { say(options.policy() + ": " + sentence); }
  /// If the task was stolen just before it ran, says from where, and returns true.
  bool say_origin();
  /// As say_origin(); if it was not stolen, says that it was in this queue.
  void say_queue(const std::string& queue);
  /// Says why it ran on another node than the rule wants; says nothing if it did not.
  void compare_with(std::int32_t wanted_node);
  bool is_created_here() const { return facts.creator_worker == facts.worker; }
  std::int32_t inhabited_nodes() const;

  std::vector<std::string> take() { return std::move(sentences_); }

  static std::string text(std::uint64_t n) { return std::to_string(n); }
  static std::string text(std::int32_t n) { return std::to_string(n); }
  static std::string worker_text(std::int32_t w) { return "worker " + std::to_string(w); }
  /// "node 1", "nodes 1, 3".
  static std::string nodes_text(const std::vector<std::int32_t>& nodes);

 private:
  std::vector<std::string> sentences_;
};

}  // namespace kith
