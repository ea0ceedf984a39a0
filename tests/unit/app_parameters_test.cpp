// The parameters of a program from its command line.
#include "apps/parameters.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

namespace {

using namespace kith::apps;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr parameter parameters[] = {
    {"size", "100", "10", "rows"},
    {"block", "32", "8", "rows in a block"},
    {"input", "", "", "a file"},
    {"real", flag, flag, "no pretending"},
};

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const kith::error& e) {
    return e.what();
  }
  ADD_FAILURE() << "was taken";
  return "";
}

arguments of(const arguments::given& values, preset otherwise = preset::standard) {
  return {"heat", parameters, values, otherwise};
}

TEST(arguments, are_those_given_else_the_presets) {
  EXPECT_EQ(of({}).number("size", 1, 1000), 100);
  EXPECT_EQ(of({}, preset::small).number("size", 1, 1000), 10);
  EXPECT_EQ(of({{"size", "7"}}, preset::small).number("size", 1, 1000), 7);
  EXPECT_EQ(of({{"input", "x"}}).text("input"), "x");
  EXPECT_TRUE(of({{"real", ""}}).on("real"));
  EXPECT_FALSE(of({}).on("real"));
  EXPECT_EQ(of({}).number("block", 1, 5), 5) << "a preset is brought into range";
}

TEST(arguments, that_are_wrong_are_named) {
  for (const char* value : {"", "x", "7x", "0", "1001", "-1", "1e2", "99999999999999999999"}) {
    const std::string what = refusal([&] { of({{"size", value}}).number("size", 1, 1000); });
    EXPECT_THAT(what, AllOf(HasSubstr("heat"), HasSubstr("--size"), HasSubstr(value), HasSubstr("1 to 1000")));
  }
  EXPECT_THAT(refusal([] { of({{"sise", "1"}}); }), AllOf(HasSubstr("--sise"), HasSubstr("--size")));
  EXPECT_THAT(refusal([] { of({{"size", "1"}, {"size", "2"}}); }), HasSubstr("twice"));
  EXPECT_THAT(refusal([] { of({{"size", "1"}, {"input", "f"}}).exclude("size", "input"); }), HasSubstr("exclude"));
}

TEST(arguments, are_read_from_words) {
  EXPECT_THAT(read_arguments("heat", parameters, {"--size", "5", "--real", "--input=a=b"}),
              ElementsAre(Pair("size", "5"), Pair("real", ""), Pair("input", "a=b")));
  EXPECT_THAT(refusal([] { read_arguments("heat", parameters, {"5"}); }), AllOf(HasSubstr("'5'"), HasSubstr("--size")));
  EXPECT_THAT(refusal([] { read_arguments("heat", parameters, {"--size"}); }), HasSubstr("needs a value"));
  EXPECT_THAT(refusal([] { read_arguments("heat", parameters, {"--real=1"}); }), HasSubstr("no value"));
  EXPECT_THAT(refusal([] { read_arguments("heat", parameters, {"--wrong", "1"}); }), HasSubstr("--wrong"));
  EXPECT_THAT(refusal([] { read_arguments("heat", parameters, {"--"}); }), HasSubstr("--size"));
}

}  // namespace
