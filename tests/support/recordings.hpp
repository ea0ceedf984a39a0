// Recordings for tests: made by a runtime, or written by hand.
#pragma once

#include "recording/assemble.hpp"
#include "recording/file.hpp"
#include "support/scratch_file.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace kith::test {

// In picoseconds, as the simulator counts time.
inline constexpr std::uint64_t ns = 1000;
inline constexpr std::uint64_t cycle = 500;  // at 2 GHz

/// Records what `f` does on a runtime with these options.
inline recording record(runtime_options o, const std::function<void(runtime&)>& f) {
  const scratch_file file;
  o.record = file.path();
  o.oversubscribe = true;
  std::string made;
  {
    runtime rt(o);
    f(rt);
    made = rt.recorded_in();
  }
  return read_recording(made);
}

/// A program written by hand: a root that creates tasks in order and waits for all of them.
class script {
 public:
  script() {
    out_.types = {"task"};
    out_.worker_node = {0};
    recorded_task root;
    root.flags = recorded_task::root;
    root.ended = 1;
    out_.tasks.push_back(root);
    out_.first_access = out_.first_dependence = {0, 0};
  }
  /// Adds region `r` with that many bytes.
  void region(std::uint64_t bytes) {
    out_.regions.push_back({next_address_, bytes, -1});
    next_address_ += std::max<std::uint64_t>(1, (bytes + 4095) / 4096) * 4096;
  }
  std::int32_t task(std::uint64_t work_ns, const std::vector<std::int32_t>& before = {},
                    const std::vector<recorded_access>& accesses = {}) {
    recorded_task t;
    t.creator = 0;
    t.work_ns = work_ns;
    t.created = t.create_until = out_.tasks.size();
    out_.tasks.push_back(t);
    for (std::int32_t b : before) out_.dependences.push_back({b, 0});
    out_.accesses.insert(out_.accesses.end(), accesses.begin(), accesses.end());
    out_.first_access.push_back(out_.accesses.size());
    out_.first_dependence.push_back(out_.dependences.size());
    return static_cast<std::int32_t>(out_.tasks.size() - 1);
  }
  recorded_task& operator[](std::int32_t t) { return out_.tasks[static_cast<std::size_t>(t)]; }
  recording finish() {
    out_.meta["dry"] = "1";  // work is only computing
    const std::uint64_t end = out_.tasks.size();
    out_.waits.push_back({0, 0, 0, end, end});
    out_.tasks.front().ended = end;
    return out_;
  }

 private:
  recording out_;
  std::uint64_t next_address_ = 4096;
};

}  // namespace kith::test
