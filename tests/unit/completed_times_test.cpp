// When tasks were completed: with their bodies, or with the last of the children that they left behind.
#include "recording/completed_times.hpp"
#include "base/clock.hpp"
#include "events/log.hpp"
#include "recording/ready_times.hpp"
#include "support/recordings.hpp"

#include <gmock/gmock.h>

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace {

using namespace kith;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A recording written by hand: a root, and tasks below it.
class family {
 public:
  family() {
    r_.worker_node = {0};
    r_.types = {"task"};
    r_.first_access = r_.first_dependence = {0};
    add(-1, 0, 0, 1000, recorded_task::root);
  }
  std::int32_t add(std::int32_t creator, std::uint32_t scope, std::uint64_t started, std::uint64_t ended,
                   std::uint8_t flags = 0) {
    recorded_task t;
    t.creator = creator;
    t.scope = scope;
    t.flags = flags;
    t.worker = ended != 0 ? 0 : -1;
    t.created = t.create_until = started;
    t.started = started;
    t.ended = ended;
    r_.tasks.push_back(t);
    r_.first_access.push_back(0);
    r_.first_dependence.push_back(r_.dependences.size());
    return static_cast<std::int32_t>(r_.tasks.size() - 1);
  }
  void wait(std::int32_t task, std::uint32_t scope) { r_.waits.push_back({task, scope, 0, 1, 2}); }
  recorded_task& operator[](std::int32_t t) { return r_.tasks[static_cast<std::size_t>(t)]; }
  /// `completed` of every task but the root.
  std::vector<std::uint64_t> times() {
    set_completed_times(r_);
    std::vector<std::uint64_t> found;
    for (std::size_t t = 1; t < r_.tasks.size(); ++t) found.push_back(r_.tasks[t].completed);
    return found;
  }
  recording& all() { return r_; }

 private:
  recording r_;
};

TEST(completed_times, are_those_of_the_last_child) {
  family f;
  const auto parent = f.add(0, 1, 10, 20);
  f.add(parent, 2, 12, 15);
  f.add(parent, 2, 30, 50);
  f.add(parent, 2, 21, 25);
  f.add(0, 1, 60, 70);
  EXPECT_THAT(f.times(), ElementsAre(50, 15, 50, 25, 70));
  EXPECT_EQ(f[0].completed, 1000u);
}

TEST(completed_times, of_children_that_were_waited_for_change_nothing) {
  family f;
  const auto parent = f.add(0, 1, 10, 40);
  f.add(parent, 2, 12, 30);
  f.add(parent, 2, 0, 0);  // from a graph that failed: it never ran
  f.wait(parent, 2);
  EXPECT_THAT(f.times(), ElementsAre(40, 30, 0));
}

/// A wait that got no stack cancels tasks that have not started, and does not wait for them.
TEST(completed_times, of_cancelled_children_that_were_left_alone_are_their_own) {
  family f;
  const auto parent = f.add(0, 1, 10, 40);
  f.add(parent, 2, 12, 30);
  f.add(parent, 2, 60, 60, recorded_task::skipped);
  f.wait(parent, 2);
  const auto other = f.add(0, 1, 70, 80);
  f.add(other, 3, 90, 90, recorded_task::skipped);
  EXPECT_THAT(f.times(), ElementsAre(40, 30, 60, 90, 90));
}

/// Each link hands its end over to the task that it creates.
TEST(completed_times, of_a_chain_are_those_of_its_last_link) {
  family f;
  std::int32_t last = 0;
  for (std::uint32_t i = 1; i <= 200'000; ++i) last = f.add(last, i, i, i + std::uint64_t{5});
  for (const std::uint64_t t : f.times()) ASSERT_EQ(t, 200'005u);
}

TEST(completed_times, that_the_engine_has_seen_count_if_they_are_later) {
  family f;
  const auto parent = f.add(0, 1, 10, 20);
  const auto child = f.add(parent, 2, 30, 50);
  f.add(child, 3, 60, 80);
  f[parent].completed = 90;
  f[child].completed = 79;  // according to the clock of another processor
  EXPECT_THAT(f.times(), ElementsAre(90, 80, 80));
}

TEST(completed_times, are_not_known_while_a_child_has_not_ended) {
  family f;
  const auto first = f.add(0, 1, 10, 20);
  const auto second = f.add(first, 2, 21, 30);
  f.add(second, 3, 0, 0);
  const auto other = f.add(0, 1, 10, 20);
  f.add(other, 4, 0, 0);
  f[other].completed = 25;  // the log of its child was cut off
  EXPECT_THAT(f.times(), ElementsAre(0, 0, 0, 25, 0));
}

/// Tasks of a group are children of the task that made the group, whichever of them creates more.
TEST(completed_times, of_tasks_of_a_group_are_their_own) {
  family f;
  const auto owner = f.add(0, 1, 10, 90);
  const auto member = f.add(owner, 2, 20, 30);
  f.add(member, 2, 31, 50);
  f.wait(owner, 2);
  EXPECT_THAT(parents_of(f.all()), ElementsAre(-1, 0, owner, owner));
  EXPECT_THAT(f.times(), ElementsAre(90, 30, 50));
}

TEST(completed_times, are_when_successors_become_ready) {
  family f;
  const auto parent = f.add(0, 1, 10, 20);
  f.add(parent, 2, 30, 50);
  const auto fence = f.add(0, 1, 2, 2, recorded_task::fence);
  const auto after = f.add(0, 1, 60, 70);
  f[after].create_until = 5;
  recording& r = f.all();
  r.dependences = {{parent, 0}, {fence, 0}};
  r.first_dependence = {0, 0, 0, 0, 1, 2};
  set_completed_times(r);
  set_ready_times(r);
  EXPECT_EQ(f[fence].completed, 50u);
  EXPECT_EQ(f[after].ready, 50u);
}

/// The logs of a run on two workers. A task leaves a child behind, which leaves another one. Worker 1 runs
/// both; if `told`, it notes when the first task ended, else that end is its child's.
recording assembled(bool told) {
  const test::scratch_file file;
  {
    const parts_folder mine(file.path(), {{"worker_nodes", "0 0"}}, old_parts::replace);
    kith::log first(mine.path() + "/0.log", 0), second(mine.path() + "/1.log", 1);
    constexpr std::uint64_t root = 1, parent = 2, child = 3, grandchild = 4, after = 5;
    const std::uint64_t began = ticks();
    const auto ran = [began](kith::log& l, std::uint64_t task, std::uint64_t from, std::uint64_t to) {
      l.append({.kind = log_kind::executed, .large = task}, {began + from, began + to});
    };
    const auto created = [began](kith::log& l, std::uint64_t task, std::uint64_t scope, std::uint64_t by,
                                 std::uint64_t at) {
      l.append({.kind = log_kind::family, .large = scope}, {by, 0});
      l.append({.kind = log_kind::task, .large = task}, {began + at, 1});
    };
    first.append({.kind = log_kind::run, .large = root}, {began, 0});
    created(first, parent, 7, root, 1000);
    created(first, after, 7, root, 2000);
    first.append({.kind = log_kind::needs, .large = after}, {parent, 0});
    created(first, child, 8, parent, 11'000);
    ran(first, parent, 10'000, 20'000);
    created(second, grandchild, 9, child, 31'000);
    ran(second, child, 30'000, 40'000);
    ran(second, grandchild, 50'000, 60'000);
    if (told) second.append({.kind = log_kind::completed, .large = parent}, {began + 65'000, 0});
    ran(first, after, 70'000, 80'000);
    ran(first, root, 0, 90'000);
  }
  return read_parts(parts_of(file.path()));
}

TEST(completed_times, are_put_together_from_logs) {
  const recording told = assembled(true), handed_over = assembled(false);
  for (const recording* r : {&told, &handed_over}) {
    ASSERT_EQ(r->tasks.size(), 5u);  // the root, the parent, `after`, the child, the grandchild
    const auto& t = r->tasks;
    EXPECT_GT(t[4].ended, t[3].ended);
    EXPECT_EQ(t[4].completed, t[4].ended);
    EXPECT_EQ(t[3].completed, t[4].ended);
    EXPECT_EQ(t[2].ready, t[1].completed);
    EXPECT_LT(t[1].completed, t[2].started);
    EXPECT_EQ(t[0].completed, t[0].ended);
  }
  EXPECT_GT(told.tasks[1].completed, told.tasks[4].ended);
  EXPECT_EQ(handed_over.tasks[1].completed, handed_over.tasks[4].ended);
}

/// The clock was read again between the end of the child and that of the parent, so the end was noted, not derived.
TEST(completed_times, are_noted_by_the_engine) {
  const recording r = test::record(test::make_options(1, "fifo"), [](runtime& rt) {
    rt.run([] {
      int data = 0;
      spawn([](int&) { spawn([] {}); }, inout(data));
      spawn([](const int&) {}, in(data));
      wait();
    });
  });
  ASSERT_EQ(r.tasks.size(), 4u);
  const recorded_task &parent = r.tasks[1], &after = r.tasks[2], &child = r.tasks[3];
  EXPECT_EQ(child.creator, 1);
  EXPECT_GT(child.started, parent.ended);
  EXPECT_EQ(child.completed, child.ended);
  EXPECT_GT(parent.completed, child.ended);
  EXPECT_GE(after.started, parent.completed);
  EXPECT_GE(after.ready, parent.completed);
}

void run_sql(const std::string& file, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

TEST(completed_times, of_a_file_of_version_1_are_derived) {
  std::ifstream in(KITH_TEST_DATA "/recordings/version-1.sql");
  const test::scratch_file file, again;
  run_sql(file.path(), std::string(std::istreambuf_iterator<char>(in), {}));
  const recording r = read_recording(file.path());
  ASSERT_EQ(r.tasks.size(), 6u);
  EXPECT_EQ(r.tasks[1].ended, 232432u);
  EXPECT_EQ(r.tasks[1].completed, 252681u) << "with task 5";
  EXPECT_EQ(r.tasks[2].ready, 252681u) << "and what waits for it is ready then";
  EXPECT_EQ(r.tasks[3].completed, 252681u);
  EXPECT_EQ(r.tasks[4].completed, r.tasks[4].ended);
  EXPECT_EQ(r.tasks[0].completed, r.tasks[0].ended);
  write_recording(r, again.path());
  const recording back = read_recording(again.path());
  for (std::size_t t = 0; t < r.tasks.size(); ++t) EXPECT_EQ(back.tasks[t].completed, r.tasks[t].completed) << t;
}

TEST(completed_times, are_kept_in_files_and_versions_are_told_apart) {
  test::script s;
  const auto a = s.task(10);
  recording r = s.finish();
  r.tasks.front().completed = 50;
  r.tasks[static_cast<std::size_t>(a)].completed = 40;
  const test::scratch_file file;
  write_recording(r, file.path());
  EXPECT_EQ(read_recording(file.path()).tasks[1].completed, 40u);
  run_sql(file.path(), "PRAGMA user_version = 1");
  EXPECT_THAT([&] { read_recording(file.path()); },
              ThrowsMessage<error>(HasSubstr("table task is not defined as by Kith")));
  run_sql(file.path(), "PRAGMA user_version = 5");
  EXPECT_THAT([&] { read_recording(file.path()); },
              ThrowsMessage<error>(HasSubstr("a recording of version 5; this Kith reads versions 1 to 4")));
  run_sql(file.path(), "PRAGMA user_version = 3");  // which has no other definition of these tables
  EXPECT_EQ(read_recording(file.path()).tasks[1].completed, 40u);
  run_sql(file.path(), "ALTER TABLE access DROP COLUMN passed_by; PRAGMA user_version = 2");
  EXPECT_EQ(read_recording(file.path()).tasks[1].completed, 40u);
}

}  // namespace
