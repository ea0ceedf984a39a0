// A small recording with something of everything: every table has rows, and every flag is set on some task.
// For tests that change it.
#pragma once

#include "engine/sim/simulation.hpp"
#include "recording/address_stream.hpp"
#include "recording/recording.hpp"

#include <kith/access.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace kith::test {

class sample_recording {
 public:
  /// As left by a simulated run on a machine of two nodes; with `calibrated`, including what `kith calibrate` adds.
  static recording make(const machine_model& on, bool calibrated) {
    sim::run_options s;
    s.policy = "rip-dep:first=4,partitioner=greedy";
    s.keep_schedule = true;
    recording r = sim::simulate(sim::program_of(sample_recording().r_), on, s).schedule;
    r.meta["policy"] = "steal";
    if (r.jobs.empty()) r.jobs.push_back({0, 4, 3, 10, 20});
    if (r.steals.empty()) r.steals.push_back({1, 0, 30});
    r.idles = {{1, 0, 5}, {2, 5, 9}};
    add_addresses(r);
    r.counts = {{.task = 0, .enabled = 9, .running = 9}, {.task = 1, .enabled = 9, .running = 3}};
    r.counts[1].values = {300, 200, 4, 90, 2, 1, 0, 9};
    if (!calibrated) return r;
    r.meta["core_gbs"] = "5.0";
    r.meta["cache_gbs"] = "20.0";
    r.meta["near_gbs"] = "40.0";
    r.meta["cache_bytes"] = "4194304";
    r.meta["near_bytes"] = "262144";
    r.calibrations = {{1, 12, 2, 10000, 4000, 6000, 4000, 2000}, {2, 13, 1, 10000, 3000, 5000, 3500, 2500}};
    return r;
  }

 private:
  using task = recorded_task;

  /// Streams of some tasks: each touches its own regions, and some what they did not declare.
  static void add_addresses(recording& r) {
    r.meta["addresses_unseen"] = "libother.so";
    const auto site = [&r](std::uint8_t mode, std::uint64_t bytes, const char* at) -> recorded_site& {
      recorded_site s;
      s.mode = mode;
      s.bytes = bytes;
      s.at = at;
      return r.sites.emplace_back(s);
    };
    const auto in_source = [](auto& what, std::uint32_t line) {
      what.file = "p.cpp";
      what.line = line;
    };
    in_source(site(recorded_site::reads, 8, "/p+0x1"), 3);
    in_source(site(recorded_site::writes, 0, "/p+0x2"), 4);
    recorded_site& own = site(recorded_site::both, 4, "/p+0x3");
    own.own = true;
    own.caller = "/p+0x1";
    const auto block = [&r](std::uint8_t kind, std::uint64_t address, std::uint64_t bytes) -> recorded_block& {
      recorded_block b;
      b.kind = kind;
      b.address = address;
      b.bytes = bytes;
      return r.blocks.emplace_back(b);
    };
    block(recorded_block::own_stack, 0, 0);
    block(recorded_block::unknown, 0, 0);
    block(recorded_block::allocated, std::uint64_t{1} << 30, 0x40000).task = 0;
    block(recorded_block::variable, 4096, 64).name = "shared";
    recorded_block& heap = block(recorded_block::heap, 8192, 64);
    heap.task = 2;
    heap.ordinal = 1;
    heap.own = true;
    heap.at = "/p+0x9";
    in_source(heap, 9);
    r.first_stream = {0};
    for (std::size_t t = 0; t < r.tasks.size(); ++t) {
      if (t % 2 == 1) r.streams.push_back(stream_of(t));
      if (t == 3) r.streams.insert(r.streams.end() - 1, {0, {}});  // a stream may be in pieces
      r.first_stream.push_back(r.streams.size());
    }
  }
  static recorded_stream stream_of(std::size_t task) {
    struct output {
      void push(std::uint8_t b) { bytes.push_back(b); }
      std::vector<std::uint8_t> bytes;
    } out;
    stream_writer<output> writer(out);
    stream_site of[3];
    std::uint64_t touches = 0;
    const auto touch = [&](std::uint32_t site, std::uint32_t block, std::uint64_t offset, std::uint64_t bytes) {
      writer.touch(site, of[site], block, offset, bytes);
      ++touches;
    };
    for (std::uint64_t i = 0; i < 200; ++i) {
      touch(0, 2, 0x1000 * task + 8 * i, 0);
      if (i % 50 == 0) touch(1, 2, 0x20000, 40);
      touch(2, static_cast<std::uint32_t>(task % 5), 4 * (i % 16), 0);
    }
    writer.end();
    return {touches, out.bytes};
  }

  sample_recording() {
    r_.meta = {{"dry", "1"}, {"engine", "native"}, {"nodes", "2"}, {"throttle", "8"}, {"distances", "10,21/21,10"}};
    r_.worker_node = {0, 0, 1, 1};
    r_.types = {"task", "step", "node"};
    for (const std::uint64_t bytes : {70000, 8192, 4096, 100}) {
      r_.regions.push_back({(std::uint64_t{1} << 30) + 0x20000 * r_.regions.size(), bytes, -1});
    }
    r_.allocations = {
        {.address = std::uint64_t{1} << 30, .bytes = 0x40000, .at = 0, .distribution = 2},
        {.address = (std::uint64_t{1} << 30) + 0x40000, .bytes = 0x20000, .at = 1, .distribution = 6, .node = 1}};
    r_.first_access = r_.first_dependence = {0};
    const auto root = add(-1, 0, task::root, {});
    plain_tasks(root);
    keyed_graph(root);
    static_graph(root);
    wait(root, 1);
    wait(root, 2);
    wait(root, 3);
    wait(root, recorded_wait::for_future);
    const auto outside = add(-1, 5, task::outside, {});
    r_.tasks[index(outside)].type = 1;
    r_.marks = {{"begin", now_}};
    const auto second = add(-1, 0, task::root, {});
    add(second, 6, 0, {}, {{3, static_cast<std::uint8_t>(mode::inout), 100, 50}});
    wait(second, 6);
    r_.tasks[index(root)].ended = r_.tasks[index(second)].started;
    r_.tasks[index(second)].ended = ++now_;
  }

  static std::size_t index(std::int32_t t) { return static_cast<std::size_t>(t); }
  static recorded_access use(std::uint32_t region, mode how, std::uint64_t bytes) {
    return {region, static_cast<std::uint8_t>(how), bytes, bytes};
  }

  std::int32_t add(std::int32_t creator, std::uint32_t scope, unsigned flags,
                   std::initializer_list<std::int32_t> before, std::initializer_list<recorded_access> accesses = {}) {
    recorded_task t;
    t.creator = creator;
    t.scope = scope;
    t.flags = static_cast<std::uint8_t>(flags);
    t.created = t.create_until = t.started = ++now_;
    t.ended = t.started + 1;
    t.worker = 0;
    t.work_ns = (flags & (task::root | task::fence)) != 0 ? 0 : 2000;
    if (!r_.tasks.empty()) t.type = (flags & (task::keyed | task::generated)) != 0 ? 2 : 1;
    t.key = r_.tasks.size();
    r_.tasks.push_back(t);
    for (const std::int32_t b : before) r_.dependences.push_back({b, 64});
    r_.accesses.insert(r_.accesses.end(), accesses);
    r_.first_access.push_back(r_.accesses.size());
    r_.first_dependence.push_back(r_.dependences.size());
    return static_cast<std::int32_t>(r_.tasks.size() - 1);
  }
  void wait(std::int32_t who, std::uint32_t scope) {
    ++now_;
    r_.waits.push_back({who, scope, 0, now_, now_});
  }

  /// Readers, a group behind a fence, commutative tasks, and a task that waits for its own child.
  void plain_tasks(std::int32_t root) {
    const auto writes = add(root, 1, 0, {}, {use(0, mode::out, 70000)});
    const auto reads = add(root, 1, 0, {writes}, {use(0, mode::in, 70000)});
    const auto as_well = add(root, 1, task::skipped, {writes}, {use(0, mode::in, 100)});
    r_.tasks[index(reads)].color = 2;
    r_.tasks[index(reads)].node = 1;
    r_.tasks[index(reads)].priority = 1;
    const auto together =
        add(root, 1, 0, {static_cast<std::int32_t>(r_.tasks.size() + 1)}, {use(0, mode::concurrent, 4096)});
    add(root, 1, task::fence, {reads, as_well});
    const auto turn = add(root, 1, 0, {}, {use(1, mode::commutative, 8192)});
    const auto other_turn = add(root, 1, 0, {}, {use(1, mode::commutative, 8192)});
    add(root, 1, 0, {turn, other_turn, together}, {use(1, mode::inout, 8192), use(0, mode::in, 70000)});
    const auto parent = add(root, 1, task::listed, {}, {use(2, mode::out, 4096)});
    add(parent, 4, task::listed, {}, {use(2, mode::in, 4096)});
    wait(parent, 4);
  }
  void keyed_graph(std::int32_t root) {
    const auto wanted = static_cast<std::int32_t>(r_.tasks.size());
    add(root, 2, task::keyed, {wanted + 1, wanted + 2}, {use(2, mode::out, 4096)});
    add(wanted, 2, task::keyed | task::discovered, {wanted + 2});
    add(wanted, 2, task::generated | task::discovered, {});
    add(wanted, 2, task::keyed | task::generated, {});
    for (std::int32_t n = wanted; n < wanted + 4; ++n) r_.tasks[index(n)].color = n % 4;
  }
  void static_graph(std::int32_t root) {
    const auto source = add(root, 3, task::generated, {});
    const auto next = add(source, 3, task::generated, {source});
    add(next, 3, task::generated, {source, next});
  }

  recording r_;
  std::uint64_t now_ = 0;
};

}  // namespace kith::test
