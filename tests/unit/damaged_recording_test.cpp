// Recordings that are damaged: refused when they are read, by what is wrong. Readers index and size with what is in them.
#include "support/recordings.hpp"

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
      {"scope_without_end", [](recording& r) { r.tasks[1].scope = 0xffffffff; }, "task 1 has scope 4294967295"},
      {"far_scope", [](recording& r) { r.tasks[1].scope = 3'000'000'000; }, "task 1 has scope 3000000000"},
      {"wait_for_no_scope", [](recording& r) { r.waits[0].scope = 77; }, "a wait for scope 77"},
      {"wait_of_no_task", [](recording& r) { r.waits[0].task = 9; }, "a wait of task 9"},
      {"touched_beyond_the_region", [](recording& r) { r.accesses[0].touched = 101; }, "101 bytes of region 0"},
      {"access_beyond_the_region", [](recording& r) { r.accesses[0].bytes = 200; }, "200 bytes of region 0"},
      {"access_of_no_region", [](recording& r) { r.accesses[0].region = 3; }, "an access to region 3"},
      {"access_of_no_mode", [](recording& r) { r.accesses[0].mode = 5; }, "mode 5"},
      {"region_beyond_addresses", [](recording& r) { r.regions[0].bytes = huge; }, "region 0 has"},
      {"worker", [](recording& r) { r.tasks[1].worker = -7; }, "task 1 has worker -7"},
      {"worker_too_many", [](recording& r) { r.tasks[1].worker = 1; }, "task 1 has worker 1"},
      {"explorer", [](recording& r) { r.tasks[1].explorer = 12; }, "the exploration of task 1 has worker 12"},
      {"thief", [](recording& r) { r.steals.push_back({5, 0, 1}); }, "a steal has worker 5"},
      {"node_of_worker", [](recording& r) { r.worker_node[0] = -3; }, "worker 0 is on node -3"},
      {"type", [](recording& r) { r.tasks[2].type = 8; }, "task 2 has type 8"},
      {"creator", [](recording& r) { r.tasks[1].creator = 2; }, "task 1 is created by a later one"},
      {"end_before_start", [](recording& r) { r.tasks[1].started = 5, r.tasks[1].ended = 4; }, "task 1 ends before"},
      {"dependence", [](recording& r) { r.dependences[0].before = 99; }, "a dependence on task 99"},
      {"home", [](recording& r) { r.homes.push_back({7, 0, 1, 1}); }, "a home of region 7"},
      {"allocation", [](recording& r) { r.allocations.push_back({.bytes = huge}); }, "an allocation has"},
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

INSTANTIATE_TEST_SUITE_P(all, damaged, testing::ValuesIn(all_damages()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
