// A small recording of two places: one spawns tasks at the other, is refused once, and waits for a result.
#pragma once

#include "recording/recording.hpp"

#include <kith/access.hpp>

#include <cstdint>

namespace kith::test {

inline recording sample_of_places() {
  recording r;
  r.meta = {{"engine", "native"},           {"nodes", "2"},       {"policy", "ads"}, {"throttle", "8"},
            {"distances", "10,254/254,10"}, {"machine", "small"}, {"places", "2"}};
  r.worker_node = {0, 0, 1};
  r.types = {"task", "step"};
  r.regions = {{4096, 1000, 0}, {(std::uint64_t{1} << 48) + 4096, 2000, 1}};
  r.first_access = r.first_dependence = {0};
  const auto add = [&r](std::int32_t creator, std::uint32_t scope, std::int32_t worker, std::uint64_t started,
                        std::uint64_t ended, unsigned flags = 0) {
    recorded_task t;
    t.creator = creator;
    t.scope = scope;
    t.worker = worker;
    t.flags = static_cast<std::uint8_t>(flags);
    t.type = flags == 0 ? 1 : 0;
    t.created = t.create_until = t.ready = started - 100;
    t.started = started;
    t.ended = ended;
    t.completed = ended;
    t.work_ns = (ended - started) / 2;
    r.tasks.push_back(t);
    r.first_access.push_back(r.accesses.size());
    r.first_dependence.push_back(0);
    return static_cast<std::int32_t>(r.tasks.size() - 1);
  };
  const std::int32_t root = add(-1, 0, 0, 1000, 90'000, recorded_task::root);
  add(root, 1, 1, 3000, 9000);
  const std::int32_t there = add(root, 2, 2, 15'000, 25'000);
  r.accesses.push_back({1, static_cast<std::uint8_t>(mode::inout), 2000, 2000});
  r.first_access.back() = 1;
  const std::int32_t child = add(there, 3, 2, 20'000, 21'000);
  const std::int32_t asked = add(root, 4, 2, 40'000, 50'000);
  const std::int32_t back = add(asked, 5, 0, 60'000, 61'000);
  for (const std::int32_t t : {root, there, asked}) r.tasks[static_cast<std::size_t>(t)].completed = 90'000;
  r.tasks[static_cast<std::size_t>(asked)].create_until = 45'000;
  r.waits = {{root, recorded_wait::for_future, 0, 39'950, 46'000},  // for the acceptance of `asked`
             {root, 4, 0, 50'000, 58'000},
             {there, 3, 2, 20'500, 22'000}};
  r.idles = {{2, 0, 14'000}};
  r.places = {{0, 2, 0, 1, "one", 0, 0, 0}, {2, 1, 1, 1, "two", 1200, -30, 2500}};
  using m = recorded_message;
  r.messages = {{m::spawn, 0, 1, 200, 9000, 10'000, root, -1},
                {m::refused, 1, 0, 64, 10'500, 11'500, -1, -1},
                {m::spawn, 0, 1, 200, 12'000, 14'000, root, there},
                {m::accepted, 1, 0, 64, 14'100, 15'000, -1, -1},
                {m::done, 1, 0, 64, 26'000, 27'000, -1, -1},
                {m::spawn, 0, 1, 100, 39'900, 39'950, root, asked},
                {m::accepted, 1, 0, 64, 40'000, 45'000, -1, -1},
                {m::result, 1, 0, 1064, 50'000, 57'000, asked, root},
                {m::spawn, 1, 0, 80, 55'000, 59'000, asked, back},
                {m::accepted, 0, 1, 64, 59'100, 59'200, -1, -1},
                {m::done, 0, 1, 64, 62'000, 0, -1, -1}};
  static_cast<void>(child);
  return r;
}

}  // namespace kith::test
