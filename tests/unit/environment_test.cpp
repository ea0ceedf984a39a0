// Environment variables: one table, which the documents repeat; similar names are suggested.
#include "base/environment.hpp"

#include "support/with_variable.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace kith {

std::ostream& operator<<(std::ostream& to, const misspelt& m) { return to << m.name << " for " << m.meant->name; }

namespace {

using test::with_variable;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Variables, HaveDifferentNamesAndReadTheirOwnDefaults) {
  std::set<std::string> names;
  for (const variable* v : var::all) {
    EXPECT_TRUE(names.insert(v->name).second) << v->name;
    EXPECT_THAT(v->name, testing::StartsWith("KITH_"));
    EXPECT_STRNE(v->meaning, "") << v->name;
    if (!v->is_number() || *v->standard == '\0') continue;
    EXPECT_GE(standard_number(*v), v->least) << v->name;
    const with_variable set(v->name, v->standard);
    EXPECT_EQ(number_of(*v), standard_number(*v)) << v->name;
  }
  EXPECT_EQ(standard_number(var::throttle), 2048);
  EXPECT_EQ(standard_number(var::stack), 64 << 20);
}

TEST(Variables, WrongValuesNameTheVariable) {
  for (const char* wrong : {"x", "-1", "1.5", "5K", "99999999999999999999"}) {
    const with_variable set("KITH_SPIN", wrong);
    EXPECT_THAT(
        [] { number_of(var::spin); },
        testing::ThrowsMessage<error>(HasSubstr(std::string("KITH_SPIN=") + wrong + ": expected a number from 0")))
        << wrong;
  }
  const with_variable set("KITH_STACK", "4K");
  EXPECT_THAT([] { number_of(var::stack); }, testing::ThrowsMessage<error>(HasSubstr("(K, M, G allowed)")));
}

TEST(Variables, NearlyRightNamesAreFound) {
  const auto meant = [](const char* name) -> std::string {
    const with_variable set(name, "1");
    std::string found;
    for (const misspelt& m : misspelt_variables()) {
      if (m.name == name) found += m.meant->name;
    }
    return found;
  };
  EXPECT_EQ(meant("KITH_POLCY"), "KITH_POLICY");
  EXPECT_EQ(meant("KITH_WORKER"), "KITH_WORKERS");
  EXPECT_EQ(meant("KITH_THROTLE_BYTES"), "KITH_THROTTLE_BYTES");
  EXPECT_EQ(meant("kith_policy"), "KITH_POLICY");
  EXPECT_EQ(meant("KTIH_MEMORY"), "KITH_MEMORY");
  EXPECT_EQ(meant("KITH_BINDS"), "KITH_BIND");
  EXPECT_EQ(meant("KITH_TEST_SCALE"), "");  // names of others, which are not similar
  EXPECT_EQ(meant("KITH_DEPS"), "");
  EXPECT_EQ(meant("KITH_HOME"), "");
  EXPECT_EQ(meant("KITH_POLICY"), "");
  EXPECT_EQ(meant("POLICY"), "");
}

/// The documents show the table that `kith doctor --settings` prints.
TEST(Variables, AreThoseOfTheDocument) {
  const std::filesystem::path root = std::filesystem::path(__FILE__).parent_path() / "../..";
  std::ifstream file(root / "docs/settings.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(table_of_variables()));
}

}  // namespace
}  // namespace kith
