// `reference`: a task runs on the core that used its data most recently.
//
// Token and Reference scheduling, section 3.2. The scheduler keeps, for each core, a bounded history of the references
// that tasks sent there use (reference_history.hpp). A task's affinity to a core is the sum, over its references, of
// their weights in that history. The function that a task runs is a reference as well. The queues are those of section
// 4.1.1 (queue/affinity_queues.hpp).
//
// Not in the paper: references weigh by their bytes, because what all tasks share (centres, tables) would otherwise
// count as much as the data of a task alone; a function counts as one cache line. Of a task's references the eight
// largest count, and those of one task fill at most half a history, besides its function, so that a task with many
// arguments does not make the scheduler forget all others. The paper prints no size of the history: with 8 references,
// tasks that use nine make a core forget the task before, and `token` has fewer misses on 16 cores. ahead=on also
// counts what tasks use that wait in a core's queue already; grouped=on sorts the queues by the tasks' largest data.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/organisation.hpp"
#include "policy/reference_history.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace kith {

template <class World>
class reference_affinity {
 public:
  using worker = typename World::worker;

  static constexpr typename policy<World>::data_needs needs{.homes = true};
  static constexpr bool random_ties = false;
  struct task_affinity {
    std::array<std::uint64_t, 9> references{};  // the function, then regions, the largest first
    std::array<float, 9> bytes{};
    std::uint32_t count = 0;
  };

  reference_affinity(const policy_context& context, const policy_options& given)
      : at_once_(static_cast<std::size_t>(given.number("history") / 2 + 1)),
        ahead_(given.is("ahead", "on") && !given.is("organisation", "global")) {
    const auto capacity = static_cast<std::size_t>(given.number("history"));
    const history fresh = given.is("kept", "filters")
                              ? history(reference_filters(capacity))
                              : history(reference_list(capacity, static_cast<float>(given.number("decay")) / 100));
    histories_.assign(static_cast<std::size_t>(context.workers.size()), fresh);
    if (ahead_) waiting_ = histories_;
  }

  task_affinity affinity_of(const task& t, const worker& /*self*/) const {
    task_affinity h;
    h.references[0] = std::uint64_t{1} << 32 | t.type;  // regions are below
    h.bytes[0] = function_bytes;
    h.count = 1;
    for (kept_access a : t.access_list()) {
      if (a.region == 0) continue;
      const auto bytes = static_cast<float>(a.bytes());
      std::size_t at = h.count;
      while (at > 1 && h.bytes[at - 1] < bytes) --at;
      if (at == h.bytes.size()) continue;
      const std::size_t last = std::min<std::size_t>(h.count, h.bytes.size() - 1);
      std::move_backward(h.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         h.bytes.begin() + static_cast<std::ptrdiff_t>(last),
                         h.bytes.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      std::move_backward(h.references.begin() + static_cast<std::ptrdiff_t>(at),
                         h.references.begin() + static_cast<std::ptrdiff_t>(last),
                         h.references.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      h.bytes[at] = bytes;
      h.references[at] = a.region;
      h.count = static_cast<std::uint32_t>(last) + 1;
    }
    return h;
  }

  float at(const task_affinity& h, worker_id core) const { return affinity(h, histories_[core.index()]); }
  float planned(const task_affinity& h, worker_id core) const {
    return at(h, core) + (ahead_ ? affinity(h, waiting_[core.index()]) : 0);
  }
  /// The group of a task: its largest data.
  static grouped_by group_of(const task_affinity& h) {
    return h.count < 2 ? grouped_by{} : grouped_by{h.references[1], h.bytes[1]};
  }
  void queued(const task_affinity& h, worker_id core) {
    if (ahead_) use(h, waiting_[core.index()]);
  }
  void assigned(const task_affinity& h, worker_id core) { use(h, histories_[core.index()]); }

 private:
  using history = std::variant<reference_list, reference_filters>;
  static constexpr float function_bytes = 64;

  static float affinity(const task_affinity& h, const history& known) {
    return std::visit(
        [&](const auto& one) {
          float sum = 0;
          for (std::size_t i = 0; i < h.count; ++i) sum += h.bytes[i] * one.weight(h.references[i]);
          return sum;
        },
        known);
  }
  void use(const task_affinity& h, history& known) const {
    const std::span<const std::uint64_t> all(h.references.data(), std::min<std::size_t>(h.count, at_once_));
    std::visit([&](auto& one) { one.use(all); }, known);
  }

  std::size_t at_once_;  // how many references of one task a history takes, the function included
  bool ahead_;
  std::vector<history> histories_, waiting_;  // by core
};

template <class World>
class reference_policy final : public affinity_policy<World, reference_affinity<World>> {
 public:
  using affinity_policy<World, reference_affinity<World>>::affinity_policy;

  static constexpr std::array own_options{
      number("history", 16, 2, 4096, "references that the scheduler remembers of each core"),
      number("decay", 90, 1, 100,
             "(list) percent of its weight that a reference keeps when another task comes to the core"),
      one_of("kept", "list|filters", "how: a list of weights, or two Bloom filters of 256 bits that take turns"),
      one_of("ahead", "off|on",
             "(deques) on: tasks in a core's queue count as if they had come to it, when a queue is chosen"),
      one_of("grouped", "off|on", "(deques) on: a task is queued beside those with the same largest data"),
  };
  static constexpr auto options = joined(organisation_options, own_options);
  [[gnu::cold]] static void explain(explainer& e) {
    e.say_of_policy("a task is for the core that was sent tasks with the same data most recently; " +
                    e.worker_text(e.facts.worker) +
                    " asked, and of the ends of its queue (or, if that was empty, of all queues) this task shared most "
                    "with its last ones");
  }

  static constexpr policy_entry about{
      .name = "reference",
      .paper = "HW",
      .section = "3.2",
      .summary = "a task runs on the core that used its data most recently",
      .options = options,
      .explain = explain,
  };
};

}  // namespace kith
