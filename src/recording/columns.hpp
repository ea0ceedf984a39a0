// The tables of a recording's file: the columns of each table in order, and what each column may hold.
//
// All code that writes, reads or checks rows uses these lists. A new column is one member of its row and one
// line here. A list calls each(name, value, holds) for every column except the ids that number rows, and
// each(name, value, holds, since) for a column that files of versions before `since` do not have.
#pragma once

#include "recording/recording.hpp"

#include <concepts>
#include <cstdint>
#include <string>

namespace kith::columns {

/// What the numbers in a column mean, which determines the valid values. check.cpp has the bounds.
enum class holds : std::uint8_t {
  anything,  // any value of its type
  bits,      // all 64 bits, stored as the signed number with the same bits
  type,      // a task type
  task,
  task_or_none,  // -1: none
  creator,       // an earlier task, or -1
  scope,
  scope_or_future,
  region,
  worker,        // -1: none
  node,          // a memory node
  node_or_none,  // -1: none
  time,          // in nanoseconds
  bytes,         // the size of one thing
  total_bytes,   // the size of several together
  count,
  hint,   // a color; -1: none
  flags,  // of a task
  priority,
  mode,  // of an access
  distribution,
  power,  // a size, as an exponent of 2
  name,   // text
  site_mode,
  block_kind,
  touches,
  stream,  // bytes in the form of address_stream.hpp
  place,
  message_kind,
  first_worker,  // of a place
  workers,       // of a place
  first_node,
  nodes,
  difference,  // of two times
  drift,       // in 10^-9
  counted,     // by a counter; -1: not counted
};

/// The first column of a row: none, its own number, or the number of its task.
enum class leads : std::uint8_t { nothing, own_number, task };

struct worker {
  using row = std::int16_t;  // the worker's node
  static constexpr const char* name = "worker";
  static constexpr leads begins = leads::own_number;
  static void list(auto& node, auto&& each) { each("node", node, holds::node); }
};
struct type {
  using row = std::string;
  static constexpr const char* name = "type";
  static constexpr leads begins = leads::own_number;
  static void list(auto& text, auto&& each) { each("name", text, holds::name); }
};
struct region {
  using row = recorded_region;
  static constexpr const char* name = "region";
  static constexpr leads begins = leads::own_number;
  static void list(auto& r, auto&& each) {
    each("address", r.address, holds::bits);
    each("bytes", r.bytes, holds::bytes);
    each("home", r.home, holds::node_or_none);
  }
};
struct home {
  using row = recorded_home;
  static constexpr const char* name = "home";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("region", r.region, holds::region);
    each("node", r.node, holds::node);
    each("bytes", r.bytes, holds::bytes);
    each("at_ns", r.at, holds::time);
  }
};
struct task {
  using row = recorded_task;
  static constexpr const char* name = "task";
  static constexpr leads begins = leads::own_number;
  static void list(auto& r, auto&& each) {
    each("type", r.type, holds::type);
    each("creator", r.creator, holds::creator);
    each("scope", r.scope, holds::scope);
    each("flags", r.flags, holds::flags);
    each("priority", r.priority, holds::priority);
    each("color", r.color, holds::hint);
    each("node", r.node, holds::node_or_none);
    each("worker", r.worker, holds::worker);
    each("created_ns", r.created, holds::time);
    each("create_until_ns", r.create_until, holds::time);
    each("create_ns", r.create_ns, holds::time);
    each("ready_ns", r.ready, holds::time);
    each("started_ns", r.started, holds::time);
    each("ended_ns", r.ended, holds::time);
    each("completed_ns", r.completed, holds::time, 2);
    each("work_ns", r.work_ns, holds::time);
    each("explorer", r.explorer, holds::worker);
    each("explore_started_ns", r.explore_started, holds::time);
    each("explore_ended_ns", r.explore_ended, holds::time);
    each("key", r.key, holds::bits);
  }
};
struct access {
  using row = recorded_access;
  static constexpr const char* name = "access";
  static constexpr leads begins = leads::task;
  static void list(auto& r, auto&& each) {
    each("region", r.region, holds::region);
    each("mode", r.mode, holds::mode);
    each("bytes", r.bytes, holds::bytes);
    each("touched", r.touched, holds::bytes);
    each("passed_by", r.passed_by, holds::task_or_none, 3);
  }
};
struct dependence {
  using row = recorded_dependence;
  static constexpr const char* name = "dependence";
  static constexpr leads begins = leads::task;
  static void list(auto& r, auto&& each) {
    each("before", r.before, holds::task);
    each("bytes", r.bytes, holds::total_bytes);
  }
};
struct wait {
  using row = recorded_wait;
  static constexpr const char* name = "wait";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("task", r.task, holds::task);
    each("scope", r.scope, holds::scope_or_future);
    each("worker", r.worker, holds::worker);
    each("begun_ns", r.begun, holds::time);
    each("ended_ns", r.ended, holds::time);
  }
};
struct steal {
  using row = recorded_steal;
  static constexpr const char* name = "steal";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("worker", r.worker, holds::worker);
    each("victim", r.victim, holds::worker);
    each("at_ns", r.at, holds::time);
  }
};
struct idle {
  using row = recorded_idle;
  static constexpr const char* name = "idle";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("worker", r.worker, holds::worker);
    each("begun_ns", r.begun, holds::time);
    each("ended_ns", r.ended, holds::time);
  }
};
struct job {
  using row = recorded_job;
  static constexpr const char* name = "job";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("worker", r.worker, holds::worker);
    each("tasks", r.tasks, holds::count);
    each("dependences", r.dependences, holds::count);
    each("begun_ns", r.begun, holds::time);
    each("ended_ns", r.ended, holds::time);
  }
};
struct calibration {
  using row = recorded_calibration;
  static constexpr const char* name = "calibration";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("type", r.type, holds::type);
    each("size", r.size, holds::power);
    each("samples", r.samples, holds::count);
    each("bytes", r.bytes, holds::total_bytes);
    each("plain_ns", r.plain_ns, holds::time);
    each("cold_ns", r.cold_ns, holds::time);
    each("warm_ns", r.warm_ns, holds::time);
    each("hot_ns", r.hot_ns, holds::time);
  }
};
struct counts {
  using row = recorded_counts;
  static constexpr const char* name = "counts";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("task", r.task, holds::task);
    each("instructions", r[counter::instructions], holds::counted);
    each("cycles", r[counter::cycles], holds::counted);
    each("cache_misses", r[counter::cache_misses], holds::counted);
    each("stalled_cycles", r[counter::stalled_cycles], holds::counted);
    each("page_faults", r[counter::page_faults], holds::counted);
    each("context_switches", r[counter::context_switches], holds::counted);
    each("migrations", r[counter::migrations], holds::counted);
    each("task_clock_ns", r[counter::task_clock], holds::counted);
    each("enabled_ns", r.enabled, holds::time);
    each("running_ns", r.running, holds::time);
    each("load_instructions", r[counter::load_instructions], holds::counted, 4);
    each("store_instructions", r[counter::store_instructions], holds::counted, 4);
    each("branch_instructions", r[counter::branch_instructions], holds::counted, 4);
    each("fp_instructions", r[counter::fp_instructions], holds::counted, 4);
    each("vector_instructions", r[counter::vector_instructions], holds::counted, 4);
  }
};
struct mark {
  using row = recorded_mark;
  static constexpr const char* name = "mark";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("name", r.name, holds::name);
    each("at_ns", r.at, holds::time);
  }
};
struct allocation {
  using row = recorded_allocation;
  static constexpr const char* name = "allocation";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("address", r.address, holds::bits);
    each("bytes", r.bytes, holds::bytes);
    each("at_ns", r.at, holds::time);
    each("released_ns", r.released, holds::time);
    each("distribution", r.distribution, holds::distribution);
    each("node", r.node, holds::node_or_none);
    each("huge", r.huge, holds::anything);
  }
};

struct place {
  using row = recorded_place;
  static constexpr const char* name = "place";
  static constexpr leads begins = leads::own_number;
  static void list(auto& r, auto&& each) {
    each("first_worker", r.first_worker, holds::first_worker);
    each("workers", r.workers, holds::workers);
    each("first_node", r.first_node, holds::first_node);
    each("nodes", r.nodes, holds::nodes);
    each("host", r.host, holds::name);
    each("offset_ns", r.offset_ns, holds::difference);
    each("drift_ppb", r.drift_ppb, holds::drift);
    each("error_ns", r.error_ns, holds::time);
  }
};
struct message {
  using row = recorded_message;
  static constexpr const char* name = "message";
  static constexpr leads begins = leads::nothing;
  static void list(auto& r, auto&& each) {
    each("kind", r.kind, holds::message_kind);
    each("source", r.source, holds::place);
    each("destination", r.destination, holds::place);
    each("bytes", r.bytes, holds::bytes);
    each("sent_ns", r.sent, holds::time);
    each("received_ns", r.received, holds::time);
    each("spawner", r.spawner, holds::task_or_none);
    each("task", r.task, holds::task_or_none);
  }
};

struct site {
  using row = recorded_site;
  static constexpr const char* name = "site";
  static constexpr leads begins = leads::own_number;
  static void list(auto& r, auto&& each) {
    each("mode", r.mode, holds::site_mode);
    each("bytes", r.bytes, holds::bytes);
    each("own", r.own, holds::anything);
    each("file", r.file, holds::name);
    each("line", r.line, holds::anything);
    each("function", r.function, holds::name);
    each("at", r.at, holds::name);
    each("caller", r.caller, holds::name);
  }
};
struct block {
  using row = recorded_block;
  static constexpr const char* name = "block";
  static constexpr leads begins = leads::own_number;
  static void list(auto& r, auto&& each) {
    each("kind", r.kind, holds::block_kind);
    each("address", r.address, holds::bits);
    each("bytes", r.bytes, holds::bytes);
    each("task", r.task, holds::task_or_none);
    each("ordinal", r.ordinal, holds::bits);
    each("own", r.own, holds::anything);
    each("name", r.name, holds::name);
    each("file", r.file, holds::name);
    each("line", r.line, holds::anything);
    each("at", r.at, holds::name);
    each("caller", r.caller, holds::name);
  }
};
struct stream {
  using row = recorded_stream;
  static constexpr const char* name = "stream";
  static constexpr leads begins = leads::task;
  static void list(auto& r, auto&& each) {
    each("touches", r.touches, holds::touches);
    each("bytes", r.bytes, holds::stream);
  }
};

/// Calls each(Table(), rows) for every table but `meta`, in the order in which they are read: a table comes
/// before those that refer to it.
template <class Recording, class Each>
  requires std::same_as<std::remove_const_t<Recording>, recording>
void for_each_table(Recording& r, Each&& each) {
  each(worker(), r.worker_node);
  each(type(), r.types);
  each(region(), r.regions);
  each(home(), r.homes);
  each(task(), r.tasks);
  each(access(), r.accesses);
  each(dependence(), r.dependences);
  each(wait(), r.waits);
  each(steal(), r.steals);
  each(idle(), r.idles);
  each(job(), r.jobs);
  each(calibration(), r.calibrations);
  each(counts(), r.counts);
  each(mark(), r.marks);
  each(allocation(), r.allocations);
  each(place(), r.places);
  each(message(), r.messages);
  each(site(), r.sites);
  each(block(), r.blocks);
  each(stream(), r.streams);
}

}  // namespace kith::columns
