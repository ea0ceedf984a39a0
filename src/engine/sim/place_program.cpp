#include "engine/sim/place_program.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kith::sim {

place_program::place_program(int places) : places_(places) {
  made_.meta["dry"] = "1";  // work is only computing
  made_.types = {"main", "task"};
  made_.worker_node = {0};
  recorded_task root;
  root.flags = recorded_task::root;
  made_.tasks.push_back(root);
  made_.first_access = made_.first_dependence = {0, 0};
  place_of_.push_back(0);
  message_bytes_.push_back(0);
}

std::int32_t place_program::task(const given& g) {
  recorded_task t;
  t.creator = g.creator;
  t.scope = g.scope;
  t.type = 1;
  t.work_ns = static_cast<std::uint64_t>(std::llround(g.work_ns));
  t.created = now_++;
  t.started = now_;
  now_ += t.work_ns;
  t.create_until = now_;
  made_.tasks.push_back(t);
  made_.first_access.push_back(made_.accesses.size());
  made_.first_dependence.push_back(made_.dependences.size());
  place_of_.push_back(static_cast<std::uint16_t>(g.place));
  message_bytes_.push_back(g.message_bytes);
  return static_cast<std::int32_t>(made_.tasks.size() - 1);
}

void place_program::wait(std::int32_t task, std::uint32_t scope) {
  made_.waits.push_back({task, scope, 0, now_, now_});
  ++now_;
}

std::uint32_t place_program::region(std::uint64_t bytes) {
  constexpr std::uint64_t page = 4096;
  made_.regions.push_back({next_address_, bytes, -1});
  next_address_ += std::max<std::uint64_t>(1, (bytes + page - 1) / page) * page;
  return static_cast<std::uint32_t>(made_.regions.size() - 1);
}

void place_program::touches(std::uint32_t region, bool writes, std::uint64_t bytes) {
  made_.accesses.push_back({region, static_cast<std::uint8_t>(writes ? mode::inout : mode::in), bytes, bytes});
  made_.first_access.back() = made_.accesses.size();
}

void place_program::needs(std::int32_t before, std::uint64_t bytes) {
  made_.dependences.push_back({before, bytes});
  made_.first_dependence.back() = made_.dependences.size();
}

program place_program::finish() {
  made_.tasks.front().ended = ++now_;
  program p = program_of(std::move(made_));
  p.place = std::move(place_of_);
  p.message_bytes = std::move(message_bytes_);
  return p;
}

}  // namespace kith::sim
