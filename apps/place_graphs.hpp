// The tasks of places_heat, places_md and places_cg without their data, for simulations at sizes that fit no machine
// here.
//
// They create, send and wait as the programs do, in the same order; tests/unit/place_graphs_test.cpp compares them with
// runs of the programs. `Graph` makes tasks: sim::place_program. Work is that of places_work.hpp. Steps are alike, so a
// few of them are enough. The functions `..._by_hand` are the programs that an expert writes with MPI and threads: each
// place has as many equal shares as workers, and at the end of a step sends the neighbours the data that they need,
// without a wait for all places.
#pragma once

#include "heat_plate.hpp"
#include "md_box.hpp"
#include "npb_cg.hpp"
#include "places_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kith::apps {

/// Gives the halves of [from, to) to tasks until at most `leaf` items are left, and waits for them. leaf_task(creator,
/// scope, from, to) makes the leaves; a range that is a leaf from the start is one, too. With `waits`, each inner task
/// waits for its halves.
template <class Graph, class Leaf>
void halve(Graph& g, std::int32_t task, std::uint32_t scope, std::int64_t from, std::int64_t to, std::int64_t leaf,
           bool waits, const Leaf& leaf_task, bool outermost = true) {
  const std::int64_t middle = from + (to - from) / 2;
  using share = std::pair<std::int64_t, std::int64_t>;
  const bool is_leaf = to - from <= leaf;
  for (const auto& [first, last] :
       is_leaf ? std::vector<share>{{from, to}} : std::vector<share>{{from, middle}, {middle, to}}) {
    if (last - first <= leaf) {
      leaf_task(task, scope, first, last);
      continue;
    }
    const std::int32_t half = g.task({.creator = task, .scope = scope, .place = g.place_of(task)});
    halve(g, half, g.scope(), first, last, leaf, waits, leaf_task, false);
  }
  if (waits || outermost) g.wait(task, scope);
}

/// The plate in both forms of heat: each place's rows are cut into blocks of columns.
template <class Graph>
class heat_blocks {
 public:
  heat_blocks(Graph& g, const plate& p, int places) : graph_(g), plate_(p), places_(places) {
    for (int at = 0; at < places; ++at) {
      for (std::int64_t c = 0; c < p.columns; c += p.leaf) regions_.push_back(g.region(bytes(at, p.leaf)));
    }
  }
  std::int64_t rows(int place) const { return plate_.first_row(place + 1, places_) - plate_.first_row(place, places_); }
  double work(int place, std::int64_t columns) const { return heat_work(rows(place) * columns); }
  /// Declares that the task made last computes columns [from, to) of a step.
  void touch(int place, std::int64_t from, std::int64_t to) {
    const std::int64_t blocks = (plate_.columns + plate_.leaf - 1) / plate_.leaf;
    for (std::int64_t b = from / plate_.leaf; b * plate_.leaf < to; ++b) {
      const std::int64_t part = std::min(to, (b + 1) * plate_.leaf) - std::max(from, b * plate_.leaf);
      graph_.touches(regions_[static_cast<std::size_t>(place * blocks + b)], true, bytes(place, part));
    }
  }
  std::uint32_t row_bytes() const { return static_cast<std::uint32_t>(plate_.wide() * 8); }

 private:
  /// The bytes of these columns, of this step and of the next.
  std::uint64_t bytes(int place, std::int64_t columns) const {
    return static_cast<std::uint64_t>(rows(place) * columns) * 16;
  }

  Graph& graph_;
  const plate& plate_;
  int places_;
  std::vector<std::uint32_t> regions_;
};

/// How the activities of a step reach their places.
enum class sent : std::uint8_t {
  by_main,  // as in the programs: by one loop
  by_tree,  // each place sends on those of half of the places after it
};

/// Makes an activity at each place: activity(place, creator, send_on) must call send_on(task) when it has made it.
template <class Graph, class Activity>
void at_all_places(Graph& g, sent how, const Activity& activity) {
  if (how == sent::by_main) {
    for (int at = 0; at < g.places(); ++at) activity(at, Graph::main, [](std::int32_t) {});
    return;
  }
  const auto send = [&](const auto& self, int from, int to, std::int32_t creator) -> void {
    if (from == to) return;
    activity(from, creator, [&](std::int32_t made) {
      const int middle = from + 1 + (to - from - 1) / 2;
      self(self, middle, to, made);
      self(self, from + 1, middle, made);
    });
  };
  send(send, 0, g.places(), Graph::main);
}

template <class Graph>
void make_heat(Graph& g, const plate& p, std::int64_t iterations, sent how = sent::by_main) {
  heat_blocks<Graph> blocks(g, p, g.places());
  const auto leaf = [&](std::int32_t creator, std::uint32_t scope, std::int64_t from, std::int64_t to) {
    const int at = g.place_of(creator);
    g.task({.creator = creator, .scope = scope, .place = at, .work_ns = blocks.work(at, to - from)});
    blocks.touch(at, from, to);
  };
  for (std::int64_t t = 0; t < iterations; ++t) {
    const std::uint32_t all = g.scope();
    at_all_places(g, how, [&](int at, std::int32_t creator, const auto& send_on) {
      const std::int32_t step = g.task({.creator = creator, .scope = all, .place = at, .message_bytes = 8});
      send_on(step);
      halve(g, step, g.scope(), 0, p.columns, p.leaf, false, leaf);
      for (const int to : {at - 1, at + 1}) {
        if (to >= 0 && to < g.places())
          g.task({.creator = step, .scope = all, .place = to, .message_bytes = 16 + blocks.row_bytes()});
      }
    });
    g.wait(Graph::main, all);
  }
}

/// Makes `steps` steps by hand. Each worker of a place is a place of `g`; share(creator, scope, step, place, k) makes
/// the task of the place's worker k. A step needs the previous one of all workers of its place, and bytes(step, place)
/// from each neighbour.
template <class Graph, class Share, class Bytes>
void make_by_hand(Graph& g, int places, int workers, std::int64_t steps, const Share& share, const Bytes& bytes) {
  const std::uint32_t all = g.scope();
  std::vector<std::int32_t> threads;
  std::vector<std::uint32_t> scopes;
  for (int i = 0; i < places * workers; ++i) {
    threads.push_back(g.task({.creator = Graph::main, .scope = all, .place = i}));
    scopes.push_back(g.scope());
  }
  std::vector<std::int32_t> before, now;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (int i = 0; i < places * workers; ++i) {
      const int at = i / workers, k = i % workers;
      now.push_back(share(threads[static_cast<std::size_t>(i)], scopes[static_cast<std::size_t>(i)], t, at, k));
      if (t == 0) continue;
      for (int from = std::max(at - 1, 0); from <= std::min(at + 1, places - 1); ++from) {
        const bool carries = from != at && k == 0;
        for (int other = 0; other < workers; ++other)
          g.needs(before[static_cast<std::size_t>(from * workers + other)], carries && other == 0 ? bytes(t, from) : 0);
      }
    }
    before = std::exchange(now, {});
  }
  for (std::size_t i = 0; i < threads.size(); ++i) g.wait(threads[i], scopes[i]);
  g.wait(Graph::main, all);
}

template <class Graph>
void make_heat_by_hand(Graph& g, const plate& p, std::int64_t iterations, int workers) {
  const int places = g.places() / workers;
  heat_blocks<Graph> blocks(g, p, places);
  make_by_hand(
      g, places, workers, iterations,
      [&](std::int32_t creator, std::uint32_t scope, std::int64_t, int at, int k) {
        const std::int64_t from = p.columns * k / workers, to = p.columns * (k + 1) / workers;
        const std::int32_t t = g.task(
            {.creator = creator, .scope = scope, .place = at * workers + k, .work_ns = blocks.work(at, to - from)});
        blocks.touch(at, from, to);
        return t;
      },
      [&](std::int64_t, int) -> std::uint64_t { return blocks.row_bytes(); });
}

/// The number of molecules of each place in each step, and the number that it sends to the next places. The molecules
/// fly straight: forces between them change their speeds little.
class md_counts {
 public:
  md_counts(const box& b, int places);
  std::int64_t at(std::int64_t step, int place) const { return molecules_[index(step, place)]; }
  std::int64_t sent(std::int64_t step, int from, int to) const {
    const auto& all = sent_[index(step, from)];
    const auto found = std::ranges::find(all, to, &std::pair<int, std::int64_t>::first);
    return found == all.end() ? 0 : found->second;
  }
  /// Counts by receiver.
  const std::vector<std::pair<int, std::int64_t>>& sent(std::int64_t step, int from) const {
    return sent_[index(step, from)];
  }

 private:
  std::size_t index(std::int64_t step, int place) const { return static_cast<std::size_t>(step * places_ + place); }
  int places_;
  std::vector<std::int64_t> molecules_;
  std::vector<std::vector<std::pair<int, std::int64_t>>> sent_;
};

inline md_counts::md_counts(const box& b, int places) : places_(places) {
  std::vector<molecule> all;
  for (std::int64_t n = 0; n < b.molecules; ++n) all.push_back(b.initial(n));
  const auto rows = static_cast<std::size_t>((b.iterations + 1) * places);
  molecules_.resize(rows);
  sent_.resize(rows);
  for (std::int64_t t = 0; t <= b.iterations; ++t) {
    for (molecule& m : all) {
      const int here = box::region_of(m.position, places);
      ++molecules_[index(t, here)];
      if (t == b.iterations) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        m.position[k] += time_step * m.velocity[k];
        reflect(m.position[k], m.velocity[k]);
      }
      const int to = box::region_of(m.position, places);
      if (to == here) continue;
      auto& leaving = sent_[index(t, here)];
      const auto found = std::ranges::find(leaving, to, &std::pair<int, std::int64_t>::first);
      if (found == leaving.end()) {
        leaving.emplace_back(to, 1);
      } else {
        ++found->second;
      }
    }
  }
  for (auto& leaving : sent_) std::ranges::sort(leaving);
}

/// The first `steps` of b.iterations + 1 steps. With `regions`, each molecule has as many pairs as in that
/// many regions.
template <class Graph>
void make_md(Graph& g, const box& b, std::int64_t steps, const md_counts& counts, sent how = sent::by_main,
             int regions = 0) {
  for (std::int64_t t = 0; t < steps; ++t) {
    const std::uint32_t all = g.scope();
    const auto leaf = [&](std::int32_t creator, std::uint32_t scope, std::int64_t from, std::int64_t to) {
      const int at = g.place_of(creator);
      const std::int64_t others = regions == 0 ? counts.at(t, at) : b.molecules / regions;
      g.task({.creator = creator, .scope = scope, .place = at, .work_ns = md_work(to - from, others)});
    };
    at_all_places(g, how, [&](int at, std::int32_t creator, const auto& send_on) {
      const std::int32_t step = g.task({.creator = creator, .scope = all, .place = at, .message_bytes = 8});
      send_on(step);
      halve(g, step, g.scope(), 0, counts.at(t, at), b.leaf, false, leaf);
      for (const auto& [to, count] : counts.sent(t, at)) {
        const auto bytes = static_cast<std::uint32_t>(count * static_cast<std::int64_t>(sizeof(molecule)));
        g.task({.creator = step, .scope = all, .place = to, .message_bytes = 24 + bytes});
      }
    });
    g.wait(Graph::main, all);
  }
}

template <class Graph>
void make_md_by_hand(Graph& g, std::int64_t steps, const md_counts& counts, int workers) {
  make_by_hand(
      g, g.places() / workers, workers, steps,
      [&](std::int32_t creator, std::uint32_t scope, std::int64_t t, int at, int k) {
        const std::int64_t mine = counts.at(t, at);
        const std::int64_t share = mine * (k + 1) / workers - mine * k / workers;
        return g.task({.creator = creator, .scope = scope, .place = at * workers + k, .work_ns = md_work(share, mine)});
      },
      [&](std::int64_t t, int from) -> std::uint64_t {
        std::int64_t most = 0;
        for (const auto& [to, count] : counts.sent(t - 1, from)) most = std::max(most, count);
        return static_cast<std::uint64_t>(most) * sizeof(molecule);
      });
}

/// Makes the CG benchmark: the first `steps` of the inner iterations of an outer one.
template <class Graph>
class cg_maker {
 public:
  cg_maker(Graph& g, const npb_cg_class& c, std::int64_t leaf) : graph_(g), class_(c), leaf_(leaf) {
    entries_ = cg_row_entries(c.nonzeros);
    for (int at = 0; at < g.places(); ++at) vectors_.push_back(g.region(static_cast<std::uint64_t>(c.rows) * 8));
  }
  void make(std::int64_t steps) {
    phase(Graph::main, 0, graph_.places(), &cg_maker::vectors_alone, 0);  // begin
    for (std::int64_t k = 0; k < steps; ++k) {
      phase(Graph::main, 0, graph_.places(), &cg_maker::multiply, static_cast<std::uint32_t>(class_.rows * 8));
      phase(Graph::main, 0, graph_.places(), &cg_maker::vectors_alone, 0);  // update
    }
  }

 private:
  static constexpr std::uint64_t entry_bytes = 12;  // a value and a column
  using local = void (cg_maker::*)(std::int32_t);

  std::int64_t rows(int place) const {
    return class_.rows * (place + 1) / graph_.places() - class_.rows * place / graph_.places();
  }
  /// As on_places() of places_cg.
  void phase(std::int32_t creator, int from, int to, local what, std::uint32_t bytes) {
    const int middle = from + 1 + (to - from - 1) / 2;
    const std::uint32_t others = graph_.scope();
    const auto send_on = [&](int first, int last) {
      if (first >= last) return;
      const std::int32_t t =
          graph_.task({.creator = creator, .scope = others, .place = first, .message_bytes = 24 + bytes});
      phase(t, first, last, what, bytes);
    };
    send_on(from + 1, middle);
    send_on(middle, to);
    (this->*what)(creator);
    graph_.wait(creator, others);
  }
  /// The region of `count` rows of the matrix.
  std::uint32_t block(int place, std::int64_t first, std::int64_t count) {
    const auto [at, is_new] = blocks_.try_emplace({place, first});
    if (is_new) at->second = graph_.region(static_cast<std::uint64_t>(count * entries_) * entry_bytes);
    return at->second;
  }
  /// As sum_of() of places_cg: region_of(from, count) is what a leaf touches.
  template <class Region>
  void sum(std::int32_t creator, std::int64_t count, double operations, const Region& region_of, std::uint64_t bytes,
           bool writes) {
    const int at = graph_.place_of(creator);
    const auto leaf_task = [&](std::int32_t parent, std::uint32_t scope, std::int64_t from, std::int64_t to) {
      graph_.task({.creator = parent,
                   .scope = scope,
                   .place = at,
                   .work_ns = nanoseconds_of(operations * static_cast<double>(to - from))});
      graph_.touches(region_of(from, to - from), writes, static_cast<std::uint64_t>(to - from) * bytes);
    };
    halve(graph_, creator, graph_.scope(), 0, count, leaf_, true, leaf_task);
  }
  void multiply(std::int32_t creator) {
    const int at = graph_.place_of(creator);
    const auto vector = [&](std::int64_t, std::int64_t) { return vectors_[static_cast<std::size_t>(at)]; };
    sum(creator, class_.rows, cg_add_operations, vector, 16, true);
    sum(
        creator, rows(at), cg_product_operations(class_.nonzeros),
        [&](std::int64_t first, std::int64_t count) { return block(at, first, count); },
        static_cast<std::uint64_t>(entries_) * entry_bytes, false);
  }
  void vectors_alone(std::int32_t creator) {
    const int at = graph_.place_of(creator);
    sum(
        creator, rows(at), cg_update_operations,
        [&](std::int64_t, std::int64_t) { return vectors_[static_cast<std::size_t>(at)]; }, 40, true);
  }

  Graph& graph_;
  const npb_cg_class& class_;
  std::int64_t leaf_, entries_ = 0;
  std::vector<std::uint32_t> vectors_;                            // by place
  std::map<std::pair<int, std::int64_t>, std::uint32_t> blocks_;  // by place and first row
};

}  // namespace kith::apps
