// A program as nodes in steps. It is declared once and run in several ways: as a keyed graph that is explored from
// its end, as data-flow tasks, or as parallel loops with a barrier after each step, as OpenMP would run them.
//
// NabbitC paper, section V: the programs of table I, and those that they are compared with.
#pragma once

#include "app.hpp"

#include <kith/graph.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace kith::apps {

/// Node `index` of step `step`.
struct node_name {
  std::int32_t step = 0;
  std::int32_t index = 0;
  bool operator==(const node_name&) const = default;
};
std::ostream& operator<<(std::ostream&, node_name);

/// The declaration of a program. The nodes of one step must not depend on each other; all their predecessors are in the
/// step before. All functions except compute() may be called at any time, by several threads.
class node_program {
 public:
  virtual ~node_program() = default;

  virtual std::int32_t steps() const = 0;
  virtual std::int32_t nodes(std::int32_t step) const = 0;
  /// The nodes whose results this one needs.
  virtual void predecessors(node_name, keys<node_name>&) const = 0;
  /// What a node reads and writes: the same ranges each time. When nodes are taken step by step, the
  /// accesses must imply at least the predecessors.
  virtual void accesses(node_name, access_list&) const = 0;
  virtual void compute(node_name) = 0;
  /// The share of the data to which the node belongs: share `first` of `second` equal shares of neighbours.
  /// With P colors, the owner of color c has the shares from c/P to (c+1)/P.
  virtual std::pair<std::int64_t, std::int64_t> share(node_name n) const { return {n.index, nodes(n.step)}; }
  /// Nanoseconds of computing, from a model, which a dry recording uses as the run. Negative: there is no model.
  virtual double work(node_name) const { return -1; }
  /// The nodes on which no other node depends; by default, all of the last step.
  virtual void last(keys<node_name>&) const;
  /// The task type of the nodes of a step.
  virtual const task_type& type(std::int32_t step) const = 0;
};

/// Adds those of the nodes index-1, index and index+1 of the step before that are below `count`.
void add_neighbours(node_name, std::int32_t count, keys<node_name>& all);

/// How a program is run.
enum class variant : std::uint8_t { dataflow, graph, loop_static, loop_guided };
/// The quality of its colors.
enum class coloring : std::uint8_t {
  good,     // the owner of the share
  bad,      // valid, but the color of the worker half of all workers further on
  invalid,  // the same for all, which no worker has
};

/// The parameters that such programs share.
inline constexpr parameter as_parameter = {
    "as", "", "", "graph, dataflow, loop-static or loop-guided (graph under nabbit and nabbitc, else dataflow)"};
inline constexpr parameter colors_parameter = {"colors", "good", "good", "colors of the nodes: good, bad or invalid"};

/// The nodes that tasks of shares are annotated with, for the policy `socket`.
enum class node_choice : std::uint8_t {
  shares,       // equal shares of neighbours
  round_robin,  // in turn
};

struct way {
  std::optional<variant> as;  // none: the variant that suits the policy
  coloring colors = coloring::good;
  node_choice nodes = node_choice::shares;
};
/// From --as and --colors. Throws kith::error for other words. `more`: further words that a program accepts
/// for --as, with their variants.
way way_of(const arguments&, std::initializer_list<std::pair<std::string_view, variant>> more = {});

/// The variant that is run on `where`.
variant chosen(const way&, const target& where);
std::string_view name_of(variant);
/// The color of share `first` of `second` on `where`.
int color_of(std::pair<std::int64_t, std::int64_t> share, coloring, const target& where);
/// The node of share `first` of `second` on `where`.
node node_of(std::pair<std::int64_t, std::int64_t> share, node_choice, const target& where);

/// Runs the program, and waits for it.
void run(node_program&, const way&, const target& where);

/// Appends to a program's own figures the quantities of the graph that are in the paper's bound on running
/// time: nodes, edges, the longest path (M) and the largest number of neighbours on one side of a node (d).
/// The work is `busy_seconds` of a report, the time to the first steal (C) is `first_steal_s`.
std::vector<figure> with_shape(std::vector<figure>, const node_program&);

/// Brings data to its initial state: calls body(b) for b in 0..count-1, each in a task with the color and
/// node of its share. touches(b, accesses) names what the task writes, in the ranges that the program's
/// nodes will name, so that these have their homes where they are first touched.
void initialise(const target& where, const way&, const task_type&, std::int64_t count,
                const std::function<void(std::int64_t)>& body,
                const std::function<void(std::int64_t, access_list&)>& touches);

}  // namespace kith::apps

template <>
struct std::hash<kith::apps::node_name> {
  std::size_t operator()(kith::apps::node_name n) const noexcept {
    return std::hash<std::uint64_t>()(static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.step)) << 32 |
                                      static_cast<std::uint32_t>(n.index));
  }
};
