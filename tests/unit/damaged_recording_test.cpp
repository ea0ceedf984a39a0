// Damaged recordings: reading refuses them and names the fault. Readers use their values as indices and sizes.
#include "support/recordings.hpp"
#include "support/sample_of_places.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using namespace kith;
using kith::test::scratch_file;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct damage {
  const char* name;
  std::function<void(recording&)> make;
  const char* says;
};

void PrintTo(const damage& d, std::ostream* out) { *out << d.name; }

constexpr std::uint64_t huge = std::uint64_t{1} << 62;

const std::vector<damage>& all_damages() {
  static const std::vector<damage> all{
      {"scope_without_end", [](recording& r) { r.tasks[1].scope = 0xffffffff; },
       "table task, row 1: scope is 4294967295"},
      {"far_scope", [](recording& r) { r.tasks[1].scope = 3'000'000'000; }, "table task, row 1: scope is 3000000000"},
      {"wait_for_no_scope", [](recording& r) { r.waits[0].scope = 77; }, "table wait, row 0: scope is 77"},
      {"wait_of_no_task", [](recording& r) { r.waits[0].task = 9; }, "table wait, row 0: task is 9"},
      {"touched_beyond_the_region", [](recording& r) { r.accesses[0].touched = 101; }, "101 bytes of region 0"},
      {"access_beyond_the_region", [](recording& r) { r.accesses[0].bytes = 200; }, "200 bytes of region 0"},
      {"access_of_no_region", [](recording& r) { r.accesses[0].region = 3; }, "table access, row 0: region is 3"},
      {"access_of_no_mode", [](recording& r) { r.accesses[0].mode = 5; }, "mode is 5, expected 0 to 4"},
      {"region_beyond_addresses", [](recording& r) { r.regions[0].bytes = huge; }, "table region, row 0: bytes is"},
      {"worker", [](recording& r) { r.tasks[1].worker = -7; }, "table task, row 1: worker is -7"},
      {"worker_too_many", [](recording& r) { r.tasks[1].worker = 1; }, "worker is 1, expected -1 to 0"},
      {"explorer", [](recording& r) { r.tasks[1].explorer = 12; }, "table task, row 1: explorer is 12"},
      {"thief", [](recording& r) { r.steals.push_back({5, 0, 1}); }, "table steal, row 0: worker is 5"},
      {"node_of_worker", [](recording& r) { r.worker_node[0] = -3; }, "table worker, row 0: node is -3"},
      {"type", [](recording& r) { r.tasks[2].type = 8; }, "table task, row 2: type is 8"},
      {"creator", [](recording& r) { r.tasks[1].creator = 2; }, "creator is 2, expected an earlier task"},
      {"end_before_start", [](recording& r) { r.tasks[1].started = 5, r.tasks[1].ended = 4; },
       "table task, row 1: it ends before"},
      {"completed_before_its_end",
       [](recording& r) { r.tasks[1].started = 5, r.tasks[1].ended = 9, r.tasks[1].completed = 8; },
       "table task, row 1: completed_ns is 8, expected its end, 9, or later"},
      {"completed_after_its_parent", [](recording& r) { r.tasks[0].completed = 50, r.tasks[1].completed = 51; },
       "table task, row 1: completed_ns is 51, expected at most 50, when task 0 was completed"},
      {"completed_much_later", [](recording& r) { r.tasks[1].completed = huge; },
       "completed_ns is 4611686018427387904"},
      {"dependence", [](recording& r) { r.dependences[0].before = 99; }, "table dependence, row 0: before is 99"},
      {"home", [](recording& r) { r.homes.push_back({7, 0, 1, 1}); }, "table home, row 0: region is 7"},
      {"waits_for_itself", [](recording& r) { r.dependences[0].before = 2; }, "task 2 waits for itself"},
      {"root", [](recording& r) { r.tasks[1].flags = recorded_task::root | recorded_task::keyed; }, "flags are 3"},
      {"fence", [](recording& r) { r.tasks[1].flags = recorded_task::fence; }, "flags are 64, expected a task without"},
      {"fence_that_is_more", [](recording& r) { r.tasks[2].flags = 65; }, "flags are 65"},
      {"discovered", [](recording& r) { r.tasks[1].flags = recorded_task::discovered; },
       "flags are 8, expected flag 8"},
      {"node_past_its_queue", [](recording& r) { r.tasks[1].flags = 2 | 32; }, "flags are 34, expected flag 32"},
      {"node_after_a_task", [](recording& r) { r.tasks[2].flags = 2; },
       "before is 1, expected a node of the same graph"},
      {"node_without_exploration", [](recording& r) { r.tasks[1].flags = 2, r.tasks[2].flags = 4; },
       "flags are 4, expected that a node with dependences explores"},
      {"commutative_node", [](recording& r) { r.tasks[1].flags = 4, r.accesses[0].mode = 4; }, "mode is commutative"},
      {"no_workers", [](recording& r) { r.worker_node.clear(); }, "table worker has no rows"},
      {"far_node", [](recording& r) { r.worker_node[0] = 1024; }, "node is 1024, expected 0 to 1023"},
      {"nodes", [](recording& r) { r.meta["nodes"] = "30000"; }, "meta 'nodes' is 30000, expected 1 to 1024"},
      {"priority", [](recording& r) { r.tasks[1].priority = 3; }, "priority is 3, expected 0 to 2"},
      {"hint", [](recording& r) { r.tasks[1].node = -2; }, "node is -2"},
      {"time", [](recording& r) { r.tasks[1].work_ns = huge; }, "work_ns is 4611686018427387904"},
      {"name", [](recording& r) { r.types[0] = std::string(70000, 'n'); }, "name has 70000 bytes"},
      {"idle", [](recording& r) { r.idles.push_back({0, 5, 4}); }, "table idle, row 0: it ends before it begins"},
      {"distribution", [](recording& r) { r.allocations.push_back({.distribution = 8}); }, "distribution is 8"},
      {"order", [](recording& r) { r.allocations = {{.at = 5}, {.at = 4}}; }, "row 1: at_ns is before"},
      {"calibration", [](recording& r) { r.calibrations = {{0, 9, 1, 100, 5, 5, 5, 5}}; }, "expected for each 2^9"},
      {"counts", [](recording& r) { r.counts = {{.task = 1}, {.task = 1}}; },
       "table counts, row 1: task is 1, expected the tasks in order, each once"},
      {"counted", [](recording& r) { r.counts = {{.task = 0}}, r.counts[0][counter::cycles] = -2; },
       "table counts, row 0: cycles is -2"},
      {"allocation", [](recording& r) { r.allocations.push_back({.bytes = huge}); },
       "table allocation, row 0: bytes is"},
  };
  return all;
}

class damaged : public testing::TestWithParam<damage> {};

TEST_P(damaged, is_refused_by_name) {
  test::script s;
  s.region(100);
  const auto a = s.task(10, {}, {{0, 1, 100, 100}});
  s.task(20, {a}, {{0, 0, 100, 50}});
  recording r = s.finish();
  const scratch_file file;
  write_recording(r, file.path());
  EXPECT_EQ(read_recording(file.path()).tasks.size(), 3u);
  GetParam().make(r);
  write_recording(r, file.path());
  EXPECT_THAT([&] { read_recording(file.path()); },
              ThrowsMessage<error>(AllOf(HasSubstr(file.path() + ": damaged: "), HasSubstr(GetParam().says))));
}

const std::vector<damage>& damages_of_places() {
  static const std::vector<damage> all{
      {"workers_of_nobody", [](recording& r) { r.places[1].workers = 0; },
       "table place has 2 workers, expected 3, the rows of table worker"},
      {"workers_of_two", [](recording& r) { r.places[1].first_worker = 1; },
       "table place, row 1: first_worker is 1, expected 2"},
      {"first_worker", [](recording& r) { r.places[0].first_worker = 9; }, "table place, row 0: first_worker is 9"},
      {"nodes_of_places", [](recording& r) { r.places[1].nodes = 2; },
       "table place, row 1: its nodes end at 3, and there are 2"},
      {"node_elsewhere", [](recording& r) { r.tasks[4].flags = recorded_task::generated; },
       "it is a node of a graph and ran at place 1, expected place 0 of its creator"},
      {"drift", [](recording& r) { r.places[1].drift_ppb = 2'000'000'000; }, "drift_ppb is 2000000000"},
      {"offset", [](recording& r) { r.places[1].offset_ns = std::int64_t{1} << 52; }, "offset_ns is 4503599627370496"},
      {"host", [](recording& r) { r.places[0].host = std::string(70000, 'h'); }, "host has 70000 bytes"},
      {"kind", [](recording& r) { r.messages[0].kind = 7; }, "table message, row 0: kind is 7, expected 1 to 6"},
      {"source", [](recording& r) { r.messages[0].source = 2; }, "table message, row 0: source is 2, expected 0 to 1"},
      {"to_itself", [](recording& r) { r.messages[0].source = 1; }, "place 1 has sent it to itself"},
      {"before_it_was_sent", [](recording& r) { r.messages[0].received = 5; },
       "row 0: it is received before it was sent"},
      {"spawner", [](recording& r) { r.messages[0].spawner = 6; }, "table message, row 0: spawner is 6"},
      {"spawner_elsewhere", [](recording& r) { r.messages[0].spawner = 2; },
       "row 0: spawner is task 2, which ran at place 1, expected place 0"},
      {"task_elsewhere", [](recording& r) { r.messages[2].task = 1; },
       "row 2: task is task 1, which ran at place 0, expected place 1"},
      {"task_of_another", [](recording& r) { r.messages[2].task = 3; }, "it has made task 3, whose creator is not its"},
      {"message_bytes", [](recording& r) { r.messages[0].bytes = huge; }, "table message, row 0: bytes is"},
  };
  return all;
}

class damaged_places : public testing::TestWithParam<damage> {};

TEST_P(damaged_places, are_refused_by_name) {
  recording r = test::sample_of_places();
  const scratch_file file;
  write_recording(r, file.path());
  EXPECT_EQ(read_recording(file.path()).places.size(), 2u);
  GetParam().make(r);
  write_recording(r, file.path());
  EXPECT_THAT([&] { read_recording(file.path()); },
              ThrowsMessage<error>(AllOf(HasSubstr(file.path() + ": damaged: "), HasSubstr(GetParam().says))));
}

INSTANTIATE_TEST_SUITE_P(all, damaged_places, testing::ValuesIn(damages_of_places()),
                         [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(all, damaged, testing::ValuesIn(all_damages()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
