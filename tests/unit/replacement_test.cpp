// Files that replace older ones: completely or not at all, and only regular files.
#include "base/replacement.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using namespace kith;
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class replacements : public testing::Test {
 protected:
  replacements() { fs::create_directories(folder_); }
  ~replacements() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string read(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})); }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("kith-replacement-" + std::to_string(::getpid()));
};

TEST_F(replacements, leave_the_older_file_until_they_are_put_in_place) {
  std::ofstream(path("a")) << "old";
  {
    const replacement given_up(path("a"));
    std::ofstream(given_up.path()) << "part of it";
    EXPECT_EQ(read(path("a")), "old");
  }
  EXPECT_EQ(read(path("a")), "old");
  EXPECT_EQ(files(), 1u);
  replacement done(path("a"));
  std::ofstream(done.path()) << "new";
  done.put_in_place();
  EXPECT_EQ(read(path("a")), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(replacements, take_no_name_that_somebody_has) {
  const replacement one(path("a")), other(path("a"));
  EXPECT_NE(one.path(), other.path());
}

TEST_F(replacements, are_of_files_in_folders_that_are_there) {
  EXPECT_THAT([&] { refuse_unwritable(path("no/such/file")); },
              ThrowsMessage<error>(HasSubstr("there is no folder " + path("no/such"))));
  EXPECT_THAT([&] { refuse_unwritable(path("")); }, ThrowsMessage<error>(HasSubstr("cannot be written")));
  fs::create_directory(path("folder"));
  EXPECT_THAT([&] { refuse_unwritable(path("folder")); }, ThrowsMessage<error>(HasSubstr("it is a folder")));
  EXPECT_THAT([] { refuse_unwritable("/dev/null"); }, ThrowsMessage<error>(HasSubstr("no regular file")));
  EXPECT_NO_THROW(refuse_unwritable(path("file")));
  EXPECT_FALSE(fs::exists(path("file")));
}

}  // namespace
