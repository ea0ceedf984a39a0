// by-type: all tasks of one type go to one worker.
#include "policy/contract/register_policy.hpp"
#include "policy/worker_queues.hpp"

#include <array>

template <class World>
class by_type final : public kith::policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      kith::one_of("steal", "on|off", "whether a worker without tasks takes those of others"),
  };
  static constexpr kith::policy_entry about{
      .name = "by-type",
      .summary = "all tasks of a type go to one worker",
      .options = options,
  };

  by_type(const kith::policy_context& context, const kith::policy_options& given)
      : queues_(context, kith::queue_order::fifo, given.is("steal", "on")) {}

  typename kith::policy<World>::data_needs needs() const override { return {.accesses = false}; }

  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason) override {
    for (kith::task* t : tasks) queues_[t->type % queues_.size()].push(*t, self);
    return nullptr;
  }
  kith::poll_result next(worker& self) override { return queues_.next(self); }

 private:
  kith::worker_queues<World> queues_;
};

extern "C" int kith_register_policies() {
  kith::register_policy<by_type>();
  return kith::policy_interface;
}
