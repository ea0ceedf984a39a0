// Marks a graph that runs again (captured_graph, static_graph) while it runs or is captured: no other run may begin,
// and the graph must not be destroyed.
#pragma once

#include "base/atomic.hpp"

#include <kith/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace kith {

/// A part of the graph's content. `graph` is the name of its class, for errors.
class graph_in_use {
 public:
  explicit graph_in_use(const char* graph) noexcept : graph_(graph) {}
  graph_in_use(const graph_in_use&) = delete;
  graph_in_use& operator=(const graph_in_use&) = delete;
  ~graph_in_use() {
    if (!in_use_.load(relaxed)) return;
    std::fprintf(stderr,
                 "kith: a %s is destroyed, or assigned to, while it runs or is captured; do so when run() or capture() "
                 "has returned.\n",
                 graph_);
    std::abort();
  }

  /// The graph is in use while this lives. The constructor throws kith::error if it is in use already.
  class hold {
   public:
    hold(graph_in_use& g, const char* function) : g_(g) {
      if (g_.in_use_.exchange(true, acquire)) {  // pairs with the destructor
        throw error(std::string(g_.graph_) + "::" + function +
                    ": the graph is running; run it again when that run has ended, or make a second graph");
      }
    }
    ~hold() { g_.in_use_.store(false, release); }
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;

   private:
    graph_in_use& g_;
  };

 private:
  const char* const graph_;
  atomic<bool> in_use_{false};
};

}  // namespace kith
