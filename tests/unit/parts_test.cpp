// Folders of logs: which process may have one, and what happens to it. Logs are written by hand.
#include "support/recordings.hpp"

#include "base/clock.hpp"
#include "events/log.hpp"
#include "recording/log_reader.hpp"
#include "recording/parts.hpp"

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>

namespace {

using namespace kith;
using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

class parts : public testing::Test {
 protected:
  parts() : folder_(fs::temp_directory_path() / ("kith-parts-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~parts() override { fs::remove_all(folder_); }

  std::string file() const { return (folder_ / "a.rec").string(); }
  static std::string log_of(const parts_folder& p, int seat) { return p.path() + "/" + std::to_string(seat) + ".log"; }
  /// Writes a root with one task that has one access, and ends the given number of ticks after its start.
  static void write_run(const std::string& path, mode how = mode::in, std::uint64_t lasts = 100'000) {
    kith::log l(path, 0);
    const std::uint64_t began = ticks();
    const std::uint64_t root = 1, task = 2;
    l.append({.kind = log_kind::run, .large = root}, {began, 0});
    l.append({.kind = log_kind::family, .large = 5}, {root, 0});
    l.append({.kind = log_kind::task, .large = task}, {began + 1, 1});
    l.append({.kind = log_kind::access, .flags = static_cast<std::uint8_t>(how), .middle = 8, .large = 4096});
    l.append({.kind = log_kind::executed, .large = task}, {began + 300'000, began + 300'000 + lasts});
    l.append({.kind = log_kind::executed, .large = root}, {began, began + 1'000'000});
  }

  fs::path folder_;
};

TEST_F(parts, become_the_recording_and_are_gone) {
  {
    const parts_folder mine(file(), {{"policy", "fifo"}, {"worker_nodes", "0"}}, old_parts::replace);
    write_run(log_of(mine, 0));
  }
  assemble_parts(file());
  EXPECT_FALSE(fs::exists(parts_of(file())));
  const recording r = read_recording(file());
  ASSERT_EQ(r.tasks.size(), 2u);
  EXPECT_EQ(r.meta.at("policy"), "fifo");
  EXPECT_GT(r.tasks[1].ended, r.tasks[1].started);
}

/// Clocks of two processors may differ a little.
TEST_F(parts, with_a_task_that_ends_before_it_starts_can_be_read) {
  {
    const parts_folder mine(file(), {{"worker_nodes", "0"}}, old_parts::replace);
    write_run(log_of(mine, 0), mode::in, -std::uint64_t{100'000});
  }
  assemble_parts(file());
  const recording r = read_recording(file());
  EXPECT_GT(r.tasks[1].started, 0u);
  EXPECT_EQ(r.tasks[1].ended, r.tasks[1].started);
}

TEST_F(parts, that_cannot_be_a_recording_are_kept) {
  {
    const parts_folder mine(file(), {{"worker_nodes", "0"}}, old_parts::replace);
    write_run(log_of(mine, 0), static_cast<mode>(9));
  }
  EXPECT_THAT([&] { assemble_parts(file()); }, ThrowsMessage<error>(HasSubstr("mode is 9, expected 0 to 4")));
  EXPECT_TRUE(fs::exists(parts_of(file()) + "/0.log"));
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(parts, that_are_being_written_belong_to_the_writer) {
  auto mine = std::make_unique<parts_folder>(file(), std::map<std::string, std::string>{}, old_parts::replace);
  write_run(log_of(*mine, 0));
  const auto refused = ThrowsMessage<error>(AllOf(HasSubstr("a.rec.parts"), HasSubstr("written by another process")));
  EXPECT_TRUE(parts_in_use(parts_of(file())));
  EXPECT_THAT([&] { read_parts(parts_of(file())); }, refused);
  EXPECT_THAT([&] { parts_folder(file(), {}, old_parts::replace); }, refused);
  EXPECT_TRUE(fs::exists(log_of(*mine, 0)));
  mine.reset();
  EXPECT_FALSE(parts_in_use(parts_of(file())));
  EXPECT_EQ(read_parts(parts_of(file())).tasks.size(), 2u);
  const parts_folder anew(file(), {}, old_parts::replace);
  EXPECT_FALSE(fs::exists(log_of(anew, 0))) << "what nobody writes is replaced";
}

TEST_F(parts, are_kept_where_that_is_asked_for) {
  const auto first = std::make_unique<parts_folder>(file(), std::map<std::string, std::string>{}, old_parts::keep);
  write_run(log_of(*first, 0));
  const parts_folder second(file(), {}, old_parts::keep);
  EXPECT_EQ(first->file(), file());
  EXPECT_EQ(second.file(), file() + "-2");
  first->release();
  const parts_folder third(file(), {}, old_parts::keep);
  EXPECT_EQ(third.file(), file() + "-3");
  EXPECT_TRUE(fs::exists(log_of(*first, 0)));
  std::size_t left = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) left += entry.path().extension() == ".parts" ? 1 : 10;
  EXPECT_EQ(left, 3u) << "and nothing else is left";
}

/// A run that was killed after it made a log and before it wrote the header.
TEST_F(parts, with_empty_logs_are_those_of_the_others) {
  {
    const parts_folder mine(file(), {{"worker_nodes", "0"}}, old_parts::replace);
    write_run(log_of(mine, 0));
    std::ofstream empty(log_of(mine, 1));
    std::ofstream(log_of(mine, 2)) << std::string(4096, '\0');
  }
  EXPECT_EQ(read_parts(parts_of(file())).tasks.size(), 2u);
  fs::remove(parts_of(file()) + "/0.log");
  EXPECT_THAT([&] { read_parts(parts_of(file())); }, ThrowsMessage<error>(HasSubstr("nothing was written")));
}

TEST_F(parts, with_a_clock_that_cannot_be_are_refused) {
  for (const double tick : {0.0, -1.0, 1e300, std::nan("")}) {
    const parts_folder mine(file(), {{"worker_nodes", "0"}}, old_parts::replace);
    write_run(log_of(mine, 0));
    std::fstream f(log_of(mine, 0), std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(offsetof(log_header, seconds_per_tick));
    f.write(reinterpret_cast<const char*>(&tick), sizeof tick);
    f.close();
    EXPECT_THAT([&] { mapped_log l(log_of(mine, 0)); }, ThrowsMessage<error>(HasSubstr("a tick of"))) << tick;
  }
}

/// Batch systems limit file sizes (ulimit -f). Beyond the limit the system sends a signal that ends the program.
TEST_F(parts, end_where_files_may_not_get_larger) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit now = before;
  now.rlim_cur = 150'000;
  const std::string path = (folder_ / "0.log").string();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &now), 0);
  std::uint64_t lost = 0;
  int why = 0;
  {
    kith::log l(path, 0);
    for (std::uint64_t i = 0; i < 10'000; ++i) l.append({.kind = log_kind::work, .large = i});
    lost = l.lost();
    why = l.why();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(why, EFBIG);
  std::uint64_t found = 0;
  mapped_log(path).for_each([&](const log_cell& head, const std::byte*) { EXPECT_EQ(head.large, found++); });
  EXPECT_GT(found, 5000u) << "what there was room for is there";
  EXPECT_EQ(found + lost, 10'000u);
}

/// As a killed process leaves it, without closing the log.
TEST_F(parts, can_be_read_at_any_moment) {
  const std::string path = (folder_ / "0.log").string();
  kith::log l(path, 0);
  const auto in_it = [&] {
    std::uint64_t found = 0;
    mapped_log(path).for_each([&](const log_cell& head, const std::byte*) { EXPECT_EQ(head.large, found++); });
    return found;
  };
  constexpr std::uint64_t front = (log_front_bytes - sizeof(log_header)) / sizeof(log_cell);
  for (std::uint64_t i = 0; i < 3 * front; ++i) {
    if (i % 997 == 0 || i % front <= 1) {
      EXPECT_EQ(in_it(), i);
    }
    l.append({.kind = log_kind::work, .large = i});
  }
  // While the front is emptied, its contents must not be read.
  std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
  f.seekp(offsetof(log_header, behind));
  f.write(reinterpret_cast<const char*>(&log_all_behind), sizeof log_all_behind);
  f.flush();
  EXPECT_EQ(in_it(), 2 * front);
  // A system that was cut off may leave zeros where it had not written yet.
  const std::uint64_t behind = 2 * front * sizeof(log_cell);
  f.seekp(offsetof(log_header, behind));
  f.write(reinterpret_cast<const char*>(&behind), sizeof behind);
  f.seekp(log_front_bytes + 160);
  f.write(std::string(32, '\0').data(), 32);
  f.flush();
  EXPECT_THAT([&] { in_it(); }, ThrowsMessage<error>(HasSubstr("0.log: damaged: no record at byte 65696")));
  const std::uint64_t wrong = 3 * log_front_bytes;
  f.seekp(offsetof(log_header, behind));
  f.write(reinterpret_cast<const char*>(&wrong), sizeof wrong);
  f.close();
  EXPECT_THAT([&] { in_it(); }, ThrowsMessage<error>(HasSubstr("0.log: damaged: 196608 bytes")));
}

/// Otherwise an access would be attributed to the task before.
TEST_F(parts, end_with_the_first_record_that_is_lost) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit now = before;
  now.rlim_cur = log_front_bytes;
  const std::string path = (folder_ / "0.log").string();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &now), 0);
  {
    kith::log l(path, 0);
    for (std::uint64_t i = 0; i < 2'000; ++i) {
      l.append({.kind = log_kind::task, .large = i}, {});
      l.append({.kind = log_kind::access, .large = i});
    }
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::uint64_t tasks = 0;
  mapped_log(path).for_each([&](const log_cell& head, const std::byte*) {
    if (head.kind == log_kind::task) {
      EXPECT_EQ(head.large, tasks++);
    } else {
      EXPECT_EQ(head.large, tasks - 1);
    }
  });
  EXPECT_GT(tasks, 1000u);
}

TEST_F(parts, leave_out_a_record_that_is_too_long_and_go_on) {
  const std::string path = (folder_ / "0.log").string();
  {
    kith::log l(path, 0);
    const std::string name(5 << 20, 'x');
    l.append_text({.kind = log_kind::mark, .middle = static_cast<std::uint32_t>(name.size())}, {1, 0}, name);
    l.append({.kind = log_kind::work, .large = 7});
    EXPECT_EQ(l.lost(), 1u);
    EXPECT_EQ(l.why(), EMSGSIZE);
  }
  int found = 0;
  mapped_log(path).for_each([&](const log_cell& head, const std::byte*) { found += head.large == 7 ? 1 : 100; });
  EXPECT_EQ(found, 1);
}

TEST_F(parts, say_why_they_cannot_be_made) {
  EXPECT_THAT([&] { parts_folder((folder_ / "no" / "b.rec").string(), {}, old_parts::replace); },
              ThrowsMessage<error>(AllOf(HasSubstr("b.rec.parts"), HasSubstr("No such file"))));
}

}  // namespace
