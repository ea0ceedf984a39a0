// SCOTCH 7 (Pellegrini): maps a graph onto an architecture with its default strategy, a multilevel scheme with
// dual recursive bipartitioning and Fiduccia-Mattheyses refinement.
//
// Deterministic: each call has its own context, with one thread and a fresh random state, and every graph must
// be bound to it. SCOTCH works on an unbound graph in its global context, with as many threads as there are
// cores, and their order then decides.
#include "partition/methods.hpp"

#if KITH_HAVE_SCOTCH

#include "base/fork.hpp"
#include "base/made_once.hpp"

#include <kith/error.hpp>

#include <cstdio>
// Comes after <cstdio>, because the header uses FILE.
#include <scotch.h>

#include <algorithm>
#include <mutex>
#include <string>

namespace kith::partition {

namespace {

using number = SCOTCH_Num;

void check(int failed, const char* what) {
  if (failed != 0) throw error(std::string("partition: SCOTCH refuses ") + what);
}

/// An object of SCOTCH, made by `Init` and released by `Exit`.
template <class Object, int (*Init)(Object*), void (*Exit)(Object*)>
class owned {
 public:
  owned() { check(Init(&object_), "memory"); }
  ~owned() { Exit(&object_); }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  Object* get() noexcept { return &object_; }

 private:
  Object object_;
};
using owned_graph = owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using owned_strategy = owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

/// Guards SCOTCH's global random state, which is made when it is first copied.
std::mutex global_state;
[[maybe_unused]] const bool global_state_is_kept = (keep_over_fork(global_state), true);

int start_context(SCOTCH_Context* c) {
  const std::lock_guard lock(global_state);
  if (SCOTCH_contextInit(c) != 0) return 1;
  if (SCOTCH_contextOptionSetNum(c, SCOTCH_OPTIONNUMDETERMINISTIC, 1) != 0 || SCOTCH_contextRandomClone(c) != 0 ||
      SCOTCH_contextThreadSpawn(c, 1, nullptr) != 0)
    return 1;
  SCOTCH_contextRandomSeed(c, 1);
  SCOTCH_contextRandomReset(c);
  return 0;
}
using owned_context = owned<SCOTCH_Context, start_context, SCOTCH_contextExit>;

/// A complete graph of the targets, with edges as long as the distances.
class architecture {
 public:
  explicit architecture(const targets& t) {
    const auto k = static_cast<std::size_t>(t.parts());
    std::vector<number> first, to, length, capacity(t.capacity.begin(), t.capacity.end());
    for (std::size_t a = 0; a < k; ++a) {
      first.push_back(static_cast<number>(to.size()));
      for (std::size_t b = 0; b < k; ++b) {
        if (a == b) continue;
        to.push_back(static_cast<number>(b));
        length.push_back(t.distance[a * k + b]);
      }
    }
    first.push_back(static_cast<number>(to.size()));
    owned_context context;
    owned_graph complete, in_context;
    owned_strategy standard;
    check(SCOTCH_graphBuild(complete.get(), 0, static_cast<number>(k), first.data(), nullptr, capacity.data(), nullptr,
                            static_cast<number>(to.size()), to.data(), length.data()),
          "the targets");
    check(SCOTCH_contextBindGraph(context.get(), complete.get(), in_context.get()), "the targets");
    check(SCOTCH_archInit(&arch_), "memory");
    if (SCOTCH_archBuild(&arch_, in_context.get(), 0, nullptr, standard.get()) != 0) {
      SCOTCH_archExit(&arch_);
      check(1, "the targets");
    }
  }
  ~architecture() { SCOTCH_archExit(&arch_); }
  architecture(const architecture&) = delete;
  architecture& operator=(const architecture&) = delete;
  const SCOTCH_Arch* get() const noexcept { return &arch_; }

 private:
  SCOTCH_Arch arch_;
};

}  // namespace

bool have_scotch() noexcept { return true; }

const char* scotch_version() noexcept {
  static constinit made_once<std::string> version;
  return version
      .get([] {
        int major = 0, minor = 0, patch = 0;
        SCOTCH_version(&major, &minor, &patch);
        return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
      })
      .c_str();
}

std::vector<std::int32_t> map_by_scotch(const request& r) {
  // SCOTCH's numbers may have 32 bits, and it multiplies weights by distances.
  const std::int64_t longest = *std::ranges::max_element(r.onto.distance);
  const graph g = scaled(r.graph, ((std::int64_t{1} << 30) - 1) / std::max<std::int64_t>(longest, 1));
  std::vector<number> first(g.first.begin(), g.first.end()), load(g.load.begin(), g.load.end()), to, weight;
  for (const graph::arc& a : g.arcs) {
    to.push_back(a.to);
    weight.push_back(static_cast<number>(a.weight));
  }
  const architecture onto(r.onto);
  owned_graph whole;
  check(SCOTCH_graphBuild(whole.get(), 0, g.vertices(), first.data(), nullptr, load.data(), nullptr,
                          static_cast<number>(to.size()), to.data(), weight.data()),
        "the graph");
  owned_context context;
  owned_graph in_context;
  check(SCOTCH_contextBindGraph(context.get(), whole.get(), in_context.get()), "the graph");
  owned_strategy strategy;
  check(SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATDEFAULT, r.onto.parts(), r.imbalance), "the imbalance");
  std::vector<number> parts(r.fixed.begin(), r.fixed.end());
  const bool any_fixed = std::ranges::any_of(parts, [](number p) { return p >= 0; });
  if (!any_fixed) parts.assign(static_cast<std::size_t>(g.vertices()), -1);
  check(any_fixed ? SCOTCH_graphMapFixed(in_context.get(), onto.get(), strategy.get(), parts.data())
                  : SCOTCH_graphMap(in_context.get(), onto.get(), strategy.get(), parts.data()),
        "to map the graph");
  return {parts.begin(), parts.end()};
}

}  // namespace kith::partition

#else

namespace kith::partition {

bool have_scotch() noexcept { return false; }
const char* scotch_version() noexcept { return ""; }
std::vector<std::int32_t> map_by_scotch(const request& r) { return grow(r, 0); }

}  // namespace kith::partition

#endif
