// Text from outside is shown so that nothing in it acts on a terminal.
#include "base/printable.hpp"
#include "base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace {

using namespace kith;

TEST(printable, keeps_what_can_be_read_and_names_the_rest) {
  const std::pair<const char*, const char*> cases[] = {
      {"gemm:12 (a+b)", "gemm:12 (a+b)"},
      {"Grüße, 任务, 🙂", "Grüße, 任务, 🙂"},
      {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
      {"one\nline\r\tmore\x7f", "one\\x0aline\\x0d\\x09more\\x7f"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"},  // an 8-bit control character
      {"a\xe2\x80\xae"
       "b",
       "a\\u202eb"},                                          // reverses the direction of writing
      {"\xff\xc0\xaf\xe2\x82", "\\xff\\xc0\\xaf\\xe2\\x82"},  // not UTF-8, overlong, truncated
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                    // half of a surrogate pair
      {"\xf3\xa0\x81\x81", "\\U000e0041"},                    // a tag, which is invisible
      {"", ""},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(printable(text), shown);
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(printable, shortens_between_characters) {
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("aü", 2), "a...");
  EXPECT_EQ(printable("\x80\x80\x80", 1), "...");
}

TEST(printable, leaves_lines_where_there_are_some) {
  EXPECT_EQ(printable_lines("two\nlines\x1b[H"), "two\nlines\\x1b[H");
}

TEST(utf8, knows_the_length_of_each_character) {
  EXPECT_EQ(first_character("a").bytes, 1u);
  EXPECT_EQ(first_character("ü").code, U'ü');
  EXPECT_EQ(first_character("任").bytes, 3u);
  EXPECT_EQ(first_character("🙂").code, U'🙂');
  EXPECT_FALSE(first_character("\xf5\x80\x80\x80").valid);
  EXPECT_FALSE(first_character("\xf4\x90\x80\x80").valid);
}

}  // namespace
