// Folders of logs: who may have one, and what becomes of it. Logs are written by hand.
#include "support/recordings.hpp"

#include "recording/log.hpp"
#include "recording/parts.hpp"

#include <gmock/gmock.h>

#include <filesystem>
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
  /// A root with one task that has one access.
  static void write_run(const std::string& path, mode how, std::uint64_t began, std::uint64_t ended) {
    kith::log l(path, 0);
    const std::uint64_t root = 1, task = 2;
    l.append({.kind = log_kind::run, .large = root}, {began, 0});
    l.append({.kind = log_kind::task, .large = task}, {5, root}, {began + 1, 1});
    l.append({.kind = log_kind::access, .flags = static_cast<std::uint8_t>(how), .middle = 8, .large = 4096});
    l.append({.kind = log_kind::executed, .large = task}, {began + 3000, ended});
    l.append({.kind = log_kind::executed, .large = root}, {began, began + 100'000});
  }

  fs::path folder_;
};

TEST_F(parts, become_the_recording_and_are_gone) {
  {
    const parts_folder mine(file(), {{"policy", "fifo"}}, old_parts::replace);
    write_run(log_of(mine, 0), mode::in, 1'000'000, 1'004'000);
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
    const parts_folder mine(file(), {}, old_parts::replace);
    write_run(log_of(mine, 0), mode::in, 1'000'000, 1'002'000);
  }
  assemble_parts(file());
  const recording r = read_recording(file());
  EXPECT_GT(r.tasks[1].started, 0u);
  EXPECT_EQ(r.tasks[1].ended, r.tasks[1].started);
}

TEST_F(parts, that_cannot_be_a_recording_are_kept) {
  {
    const parts_folder mine(file(), {}, old_parts::replace);
    write_run(log_of(mine, 0), static_cast<mode>(9), 1'000'000, 1'004'000);
  }
  EXPECT_THAT([&] { assemble_parts(file()); }, ThrowsMessage<error>(HasSubstr("an access of mode 9")));
  EXPECT_TRUE(fs::exists(parts_of(file()) + "/0.log"));
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(parts, that_are_being_written_belong_to_the_writer) {
  auto mine = std::make_unique<parts_folder>(file(), std::map<std::string, std::string>{}, old_parts::replace);
  write_run(log_of(*mine, 0), mode::in, 1'000'000, 1'004'000);
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
  write_run(log_of(*first, 0), mode::in, 1'000'000, 1'004'000);
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

TEST_F(parts, say_why_they_cannot_be_made) {
  EXPECT_THAT([&] { parts_folder((folder_ / "no" / "b.rec").string(), {}, old_parts::replace); },
              ThrowsMessage<error>(AllOf(HasSubstr("b.rec.parts"), HasSubstr("No such file"))));
}

}  // namespace
