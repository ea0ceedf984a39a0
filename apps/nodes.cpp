#include "nodes.hpp"

#include <algorithm>
#include <ostream>
#include <utility>
#include <vector>

namespace kith::apps {

std::ostream& operator<<(std::ostream& out, node_name n) { return out << "node " << n.index << " of step " << n.step; }

void node_program::last(keys<node_name>& all) const {
  const std::int32_t step = steps() - 1;
  for (std::int32_t i = 0; i < nodes(step); ++i) all.add({step, i});
}

void add_neighbours(node_name n, std::int32_t count, keys<node_name>& all) {
  if (n.step == 0) return;
  for (std::int32_t i = std::max(n.index - 1, 0); i <= std::min(n.index + 1, count - 1); ++i) all.add({n.step - 1, i});
}

namespace {

constexpr std::pair<std::string_view, variant> variants[] = {{"graph", variant::graph},
                                                             {"dataflow", variant::dataflow},
                                                             {"loop-static", variant::loop_static},
                                                             {"loop-guided", variant::loop_guided}};
constexpr std::pair<std::string_view, coloring> colorings[] = {
    {"good", coloring::good}, {"bad", coloring::bad}, {"invalid", coloring::invalid}};

/// The keyed graph of a program: its nodes, and a sink that needs the last nodes, so that all colors are
/// near the root.
class keyed_program {
 public:
  using key = node_name;

  keyed_program(node_program& program, const way& how, const target& where)
      : program_(program), how_(how), where_(where) {}

  node_name sink() const { return {program_.steps(), 0}; }

  void predecessors(node_name n, keys<node_name>& all) const {
    if (n == sink()) {
      program_.last(all);
    } else {
      program_.predecessors(n, all);
    }
  }
  void compute(node_name n) {
    if (n != sink()) program_.compute(n);
  }
  int color(node_name n) const { return n == sink() ? -1 : color_of(program_.share(n), how_.colors, where_); }
  int node(node_name n) const { return n == sink() ? 0 : node_of(program_.share(n), how_.nodes, where_).value; }
  void accesses(node_name n, access_list& all) const {
    if (n != sink()) program_.accesses(n, all);
  }
  double cost(node_name n) const { return n == sink() ? 0 : std::max(0.0, program_.work(n)); }
  const task_type& type(node_name n) const {
    static const task_type sink_type{"sink"};
    return n == sink() ? sink_type : program_.type(n.step);
  }

 private:
  node_program& program_;
  const way& how_;
  const target& where_;
};

void run_as_tasks(node_program& p, const way& how, const target& where) {
  for (std::int32_t step = 0; step < p.steps(); ++step) {
    for (std::int32_t i = 0; i < p.nodes(step); ++i) {
      const node_name n{step, i};
      const auto share = p.share(n);
      access_list accesses;
      p.accesses(n, accesses);
      const auto body = [&p, n] { p.compute(n); };
      const color c{color_of(share, how.colors, where)};
      const node at = node_of(share, how.nodes, where);
      if (const double cost = p.work(n); cost >= 0) {
        spawn(body, p.type(step), accesses, c, at, kith::work{cost});
      } else {
        spawn(body, p.type(step), accesses, c, at);
      }
    }
  }
}

}  // namespace

way way_of(const arguments& a, std::initializer_list<std::pair<std::string_view, variant>> more) {
  const auto pick = [](const char* name, const std::string& given, const auto& choices, const auto& further) {
    using value = std::decay_t<decltype(std::begin(choices)->second)>;
    std::string names;
    for (const auto* list : {std::begin(choices), further.begin()}) {
      const auto* const end = list == further.begin() ? further.end() : std::end(choices);
      for (const auto* c = list; c != end; ++c) {
        if (given == c->first) return std::optional<value>(c->second);
        names += (names.empty() ? "" : ", ") + std::string(c->first);
      }
    }
    throw error(std::string("--") + name + " '" + given + "'; expected one of " + names);
  };
  way w;
  if (const std::string as = a.text("as"); !as.empty()) w.as = pick("as", as, variants, more);
  w.colors =
      *pick("colors", a.text("colors"), colorings, std::initializer_list<std::pair<std::string_view, coloring>>{});
  return w;
}

variant chosen(const way& w, const target& where) {
  if (w.as) return *w.as;
  return where.on.policy().starts_with("nabbit") ? variant::graph : variant::dataflow;
}

std::string_view name_of(variant v) {
  return std::ranges::find(variants, v, [](const auto& named) { return named.second; })->first;
}

int color_of(std::pair<std::int64_t, std::int64_t> share, coloring colors, const target& where) {
  const int workers = where.owners != 0 ? where.owners : where.on.workers();
  const int owner = static_cast<int>(share.first * workers / share.second);
  switch (colors) {
    case coloring::good: break;
    case coloring::bad: return (owner + std::max(1, workers / 2)) % workers;
    case coloring::invalid: return workers;
  }
  return owner;
}

node node_of(std::pair<std::int64_t, std::int64_t> share, node_choice nodes, const target& where) {
  return nodes == node_choice::round_robin ? where.turn(share.first) : where.of(share.first, share.second);
}

void run(node_program& p, const way& w, const target& where) {
  const variant as = chosen(w, where);
  if (where.on.dry() && (p.work({0, 0}) < 0 || as == variant::loop_static || as == variant::loop_guided))
    throw error("this program cannot run dry as it was asked for: it has no model of its work, or runs as loops");
  if (where.one_graph != nullptr && as != variant::dataflow)
    throw error("only data-flow tasks can be one graph with those that initialise: --as dataflow");
  where.run([&] {
    switch (as) {
      case variant::dataflow: run_as_tasks(p, w, where); return;
      case variant::graph: {
        keyed_program graph(p, w, where);
        explore(graph, graph.sink());
        return;
      }
      case variant::loop_static:
      case variant::loop_guided: {
        const schedule how{as == variant::loop_static ? schedule::static_ : schedule::guided};
        for (std::int32_t step = 0; step < p.steps(); ++step) {
          parallel_for(0, p.nodes(step), [&](std::int64_t i) { p.compute({step, static_cast<std::int32_t>(i)}); }, how);
        }
        return;
      }
    }
  });
}

std::vector<figure> with_shape(std::vector<figure> figures, const node_program& p) {
  std::int64_t nodes = 0, edges = 0, longest = 0, most = 0;
  std::vector<std::int64_t> before, path, successors;  // of the step before, and of this one
  std::vector<std::int64_t> successors_before;
  for (std::int32_t step = 0; step < p.steps(); ++step) {
    const auto count = static_cast<std::size_t>(p.nodes(step));
    path.assign(count, 1);
    successors.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      keys<node_name> needed;
      p.predecessors({step, static_cast<std::int32_t>(i)}, needed);
      ++nodes;
      edges += static_cast<std::int64_t>(needed.size());
      most = std::max(most, static_cast<std::int64_t>(needed.size()));
      for (node_name n : needed) {
        const auto at = static_cast<std::size_t>(n.index);
        path[i] = std::max(path[i], before[at] + 1);
        most = std::max(most, ++successors_before[at]);
      }
      longest = std::max(longest, path[i]);
    }
    std::swap(before, path);
    std::swap(successors_before, successors);
  }
  figures.insert(figures.end(), {{"graph_nodes", nodes},
                                 {"graph_edges", edges},
                                 {"graph_longest_path", longest},
                                 {"graph_most_neighbours", most}});
  return figures;
}

namespace {

/// The initial tasks as nodes of one step. They are found together, so that colors can separate them.
class initial_step final : public node_program {
 public:
  initial_step(const task_type& type, std::int64_t count, std::function<void(std::int64_t)> body,
               std::function<void(std::int64_t, access_list&)> touches)
      : type_(type), count_(static_cast<std::int32_t>(count)), body_(std::move(body)), touches_(std::move(touches)) {}

  std::int32_t steps() const override { return 1; }
  std::int32_t nodes(std::int32_t) const override { return count_; }
  void predecessors(node_name, keys<node_name>&) const override {}
  void accesses(node_name n, access_list& all) const override { touches_(n.index, all); }
  void compute(node_name n) override { body_(n.index); }
  const task_type& type(std::int32_t) const override { return type_; }
  double work(node_name) const override { return 0; }  // in a dry run nothing is filled

 private:
  const task_type& type_;
  std::int32_t count_;
  std::function<void(std::int64_t)> body_;
  std::function<void(std::int64_t, access_list&)> touches_;
};

}  // namespace

void initialise(const target& where, const way& w, const task_type& type, std::int64_t count,
                const std::function<void(std::int64_t)>& body,
                const std::function<void(std::int64_t, access_list&)>& touches) {
  const auto step = std::make_shared<initial_step>(type, count, body, touches);
  where.keep(step);
  way how{
      .as = {}, .colors = coloring::good, .nodes = w.nodes};  // data is placed correctly, whatever colors the nodes get
  how.as = chosen(w, where) == variant::graph ? variant::graph : variant::dataflow;
  run(*step, how, where);
}

}  // namespace kith::apps
