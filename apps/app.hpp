// A program of apps/: input that is made once, a parallel solution, and a serial verifier that shares no code with the
// solution. Programs use only the public headers, because they also serve as examples. For `kith app`, `kith demo` and
// the tests. list.hpp has all programs.
#pragma once

#include "parameters.hpp"

#include <kith/kith.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kith::apps {

/// Where a program runs. `nodes` is for programs that place their data as an expert would (the policy `socket`).
struct target {
  runtime& on;
  int nodes = 1;
  /// Null, or set if the tasks of prepare() and solve() belong to one task graph. Then neither waits for its tasks, and
  /// data that these tasks use beyond the program itself is kept here until they have ended.
  std::vector<std::shared_ptr<const void>>* one_graph = nullptr;
  /// The number of workers that own shares of the data, by their colors. 0: the workers of the run. Another number lets
  /// a run on few workers record for a replay on more.
  int owners = 0;

  /// Runs `f`, which creates tasks, and waits for them unless everything is one graph.
  template <class F>
  void run(F&& f) const {
    if (one_graph != nullptr) {
      f();
    } else {
      on.run(f);
    }
  }
  /// Keeps data that the created tasks need. Only for the task that creates them.
  void keep(std::shared_ptr<const void> needed) const {
    if (one_graph != nullptr) one_graph->push_back(std::move(needed));
  }

  /// The node of block `b` of `blocks`, if each node has an equal share of neighbouring blocks.
  node of(std::int64_t b, std::int64_t blocks) const noexcept { return {static_cast<int>(b * nodes / blocks)}; }
  /// The node of block `b`, if blocks are dealt round robin.
  node turn(std::int64_t b) const noexcept { return {static_cast<int>(b % nodes)}; }
  /// The node of tile (i, j), if tiles are block cyclic in both directions on a grid of nodes that is as
  /// square as possible.
  node cyclic(std::int64_t i, std::int64_t j) const noexcept {
    int rows = 1;  // of the grid: the largest divisor that is no larger than the number of columns
    for (int d = 1; d * d <= nodes; ++d) {
      if (nodes % d == 0) rows = d;
    }
    const int columns = nodes / rows;
    return {static_cast<int>(i % rows) * columns + static_cast<int>(j % columns)};
  }
};

/// The verifier's result. `what` is a text on what was compared, with the figures that decided. Not `checked`: there
/// was nothing to compare, and nothing is wrong.
struct verdict {
  bool verified = false;
  std::string what;
  bool checked = true;
};

/// The verdict of a dry run.
inline verdict nothing_to_verify() { return {true, "tasks were recorded, not run (dry)", false}; }

/// One of a program's own values: a number, a text, or a ranking (best first).
using ranking = std::vector<std::pair<std::string, double>>;
struct figure {
  std::string name;  // in snake_case, as in JSON
  std::variant<std::int64_t, double, std::string, ranking> value;
};

/// A program with its input. It can be solved any number of times, on different runtimes.
class app {
 public:
  virtual ~app() = default;
  /// Brings the data to its initial state, by tasks, because the first touch of a page decides its home.
  virtual void prepare(const target&) = 0;
  /// The work itself, on prepared data.
  virtual void solve(const target&) = 0;
  /// Compares the result with a serial computation, which is kept for further calls if it is costly.
  virtual verdict verify() = 0;
  /// The memory that verify() takes on top of the data, in bytes. 0: almost none.
  virtual std::uint64_t verifying_bytes() const { return 0; }
  /// Values from the result. Must be called after solve().
  virtual std::vector<figure> figures() const { return {}; }
  /// The memory that holds the result. Tests damage it to check the verifier.
  virtual std::span<std::byte> output() = 0;
};

struct result {
  double seconds = 0;           // of the part that is timed
  kith::statistics statistics;  // of the same part
  verdict check;
  std::vector<figure> figures;
};

/// Calls prepare, solve, verify; solve is timed. With `as_one_graph`, tasks of solve wait only for the data that
/// each of them needs, not for all of prepare, and both are timed. So the RIP paper's programs are one graph, whose
/// first window has the tasks that initialise and the first tasks that compute. REQUIRES for that: the program has
/// windows (entry).
result run(app&, const target&, bool as_one_graph = false);

/// The window sizes of a task graph for the policies that partition it. RIP paper, sections 4.3 and 5.2.
struct window_hint {
  std::int64_t first;         // tasks, in the order of creation, of the first window in addition to `window`
  std::int64_t window;        // tasks of a window
  std::int64_t intersection;  // tasks of a window that belong to the next window as well (RIP-MW)
  bool initial = false;       // the tasks of prepare() fill a window: a moving window counts them in addition
};

/// A program's description, and the function that makes it.
struct entry {
  const char* name;
  const char* paper;  // the paper whose evaluation uses it
  const char* summary;
  std::span<const parameter> parameters;
  /// Reads or generates the input. Throws kith::error for a wrong value.
  std::unique_ptr<app> (*make)(const arguments&);
  bool dry_only = false;  // it has no data to run on
  /// The windows that its paper chose, prepare() included; null if the paper has none. Throws as `make` does.
  window_hint (*windows)(const arguments&) = nullptr;
};

}  // namespace kith::apps
