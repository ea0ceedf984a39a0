// `token`: a task runs on the core that most of its references came from.
//
// Token and Reference scheduling, section 3.1. A task's affinity to a core is the share of its references that the core
// passed to it: those that a task on that core delivered (pending_task::deliver). Other tasks get no references: they
// declare accesses. Of these, the core that wrote a region last has passed it to its readers; data that no task wrote,
// or that is only written, is passed by the core that created the task. The queues are those of section 4.1.1
// (queue/affinity_queues.hpp).
//
// Not in the paper: of tasks with the same share, a core prefers the one with more references from it. Of a task with
// references from more than eight cores, the eight with the most count. A region that a task declares twice is one
// reference.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/organisation.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kith {

template <class World>
class token_affinity {
 public:
  using worker = typename World::worker;

  static constexpr typename policy<World>::data_needs needs{.homes = true, .writers = true};
  static constexpr bool random_ties = true;
  struct task_affinity {
    struct share {
      double affinity = 0;
      std::int16_t core = -1;
    };
    std::array<share, 8> shares;  // ends with the first share of no core
  };

  token_affinity(const policy_context& context, const policy_options& /*given*/)
      : memory_(context.memory), counts_(static_cast<std::size_t>(context.workers.size())) {
    for (counted_tokens& c : counts_) c.of_core.resize(counts_.size());
  }

  task_affinity affinity_of(const task& t, const worker& self) {
    std::vector<std::uint32_t>& from = counts_[self.id.index()].of_core;
    std::fill(from.begin(), from.end(), 0);
    std::uint32_t references = 0;
    for (kept_access a : t.access_list()) {
      if (a.region == 0 || is_declared_again(a)) continue;
      ++references;
      const int passer = passer_of(a);
      const std::size_t core = passer >= 0 ? static_cast<std::size_t>(passer) : t.owner;
      if (core < from.size()) ++from[core];  // else it came from outside
    }
    task_affinity h;
    for (typename task_affinity::share& s : h.shares) {
      const auto most = std::ranges::max_element(from);
      if (*most == 0) break;
      s = {share_then_count(*most, references), static_cast<std::int16_t>(most - from.begin())};
      *most = 0;
    }
    return h;
  }

  double at(const task_affinity& h, worker_id core) const {
    for (const typename task_affinity::share& s : h.shares) {
      if (s.core < 0) break;
      if (s.core == core.value) return s.affinity;
    }
    return 0;
  }
  double planned(const task_affinity& h, worker_id core) const { return at(h, core); }
  void queued(const task_affinity& /*h*/, worker_id /*core*/) {}
  void assigned(const task_affinity& /*h*/, worker_id /*core*/) {}

 private:
  /// Whether an earlier access stands for this one. Each delivered reference counts, because each was passed.
  static bool is_declared_again(const kept_access& a) { return a.bytes() == 0 && a.passed_by() < 0; }
  /// The core that passed the reference; -1: none.
  int passer_of(const kept_access& a) const {
    if (a.passed_by() >= 0) return a.passed_by();
    return a.how == mode::out ? -1 : memory_.region_of(a).writer.load(relaxed);
  }
  /// Larger for a larger share; for the same share, larger for more references. The share is in units of 2^-32 and the
  /// count below 2^16, so that a double has both exactly.
  static double share_then_count(std::uint32_t from_core, std::uint32_t references) {
    const std::uint64_t share = (std::uint64_t{from_core} << 32) / references;
    return static_cast<double>(share << 16 | std::min(from_core, 0xFFFFU));
  }

  struct alignas(false_sharing_range) counted_tokens {
    std::vector<std::uint32_t> of_core;
  };
  const memory_view memory_;
  std::vector<counted_tokens> counts_;  // by the worker that counts
};

template <class World>
class token final : public affinity_policy<World, token_affinity<World>> {
 public:
  using affinity_policy<World, token_affinity<World>>::affinity_policy;

  static constexpr auto options = organisation_options;
  [[gnu::cold]] static void explain(explainer& e) {
    e.say_of_policy(
        "a task is for the core that most of its references came from: the workers that wrote the data last, else "
        "its creator; " +
        e.worker_text(e.facts.worker) + (e.is_created_here() ? " created it" : " did not create it"));
  }

  static constexpr policy_entry about{
      .name = "token",
      .paper = "HW",
      .section = "3.1",
      .summary = "a task runs on the core that most of its references came from",
      .options = options,
      .explain = explain,
  };
};

}  // namespace kith
