// Every program of the list: verified under unlike policies, on few and many nodes; and its verifier notices damage.
#include "apps/list.hpp"

#include <gmock/gmock.h>

#include <cstdint>

namespace {

using namespace kith::apps;

kith::runtime_options with(const char* policy, const char* machine, int workers) {
  kith::runtime_options o;
  o.policy = policy;
  o.machine = machine;
  o.workers = workers;
  o.oversubscribe = 1;
  return o;
}

class programs : public testing::TestWithParam<const entry*> {
 protected:
  std::unique_ptr<app> small() const {
    return GetParam()->make(arguments(GetParam()->name, GetParam()->parameters, {}, preset::small));
  }
};

TEST_P(programs, are_verified_under_unlike_policies_again_and_again) {
  const std::unique_ptr<app> program = small();
  const struct {
    kith::runtime_options options;
    int nodes;
  } places[] = {{with("steal", "", 1), 1},
                {with("steal", "", 3), 1},
                {with("fifo", "", 2), 1},
                {with("dep", "node:4 core:2", 8), 4},
                {with("socket", "node:4 core:2", 8), 4}};
  for (const auto& p : places) {
    kith::runtime rt(p.options);
    const result r = run(*program, {rt, p.nodes});
    EXPECT_TRUE(r.check.verified) << p.options.policy << " " << p.options.machine << ": " << r.check.what;
    EXPECT_FALSE(r.check.what.empty());
    EXPECT_GT(r.statistics.total.tasks, 0u);
    EXPECT_EQ(r.statistics.pretended, !p.options.machine.empty());
    EXPECT_FALSE(r.figures.empty());
  }
}

TEST_P(programs, have_a_verifier_that_notices_damage) {
  const std::unique_ptr<app> program = small();
  kith::runtime rt(with("steal", "", 2));
  ASSERT_TRUE(run(*program, {rt, 1}).check.verified);
  const std::span<std::byte> output = program->output();
  ASSERT_GE(output.size(), sizeof(std::uint64_t));
  for (std::size_t b = 0; b < sizeof(std::uint64_t); ++b) output[b] ^= std::byte{0x15};
  EXPECT_FALSE(program->verify().verified) << program->verify().what;
  for (std::size_t b = 0; b < sizeof(std::uint64_t); ++b) output[b] ^= std::byte{0x15};
  EXPECT_TRUE(program->verify().verified) << "after the damage was undone";
}

TEST_P(programs, have_a_verifier_that_notices_a_value_that_is_no_number) {
  const std::unique_ptr<app> program = small();
  kith::runtime rt(with("steal", "", 2));
  ASSERT_TRUE(run(*program, {rt, 1}).check.verified);
  for (std::size_t b = 0; b < sizeof(double); ++b) program->output()[b] = std::byte{0xff};  // a NaN, or a wild number
  EXPECT_FALSE(program->verify().verified) << program->verify().what;
}

TEST_P(programs, refuse_what_they_do_not_take) {
  const arguments::given values = {{"nonsense", "1"}};
  EXPECT_THROW(arguments(GetParam()->name, GetParam()->parameters, values, preset::small), kith::error);
}

INSTANTIATE_TEST_SUITE_P(all, programs, testing::ValuesIn(app_list().begin(), app_list().end()),
                         [](const auto& p) { return std::string(p.param->name); });

TEST(program_list, finds_by_name_or_says_what_there_is) {
  EXPECT_STREQ(find_app("heat").name, "heat");
  try {
    find_app("haet");
    FAIL();
  } catch (const kith::error& e) {
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("'haet'"), testing::HasSubstr("heat"),
                                         testing::HasSubstr("pagerank")));
  }
}

// Sizes that do not divide, and the smallest ones.
struct odd_case {
  const char* name;
  arguments::given values;
};

class odd_sizes : public testing::TestWithParam<odd_case> {};

TEST_P(odd_sizes, are_verified) {
  const entry& e = find_app(GetParam().name);
  const std::unique_ptr<app> program = e.make(arguments(e.name, e.parameters, GetParam().values, preset::small));
  kith::runtime rt(with("steal", "", 2));
  const verdict v = run(*program, {rt, 3}).check;
  EXPECT_TRUE(v.verified) << v.what;
}

INSTANTIATE_TEST_SUITE_P(
    programs, odd_sizes,
    testing::Values(odd_case{"heat", {{"size", "1"}, {"iterations", "3"}}},
                    odd_case{"heat", {{"size", "37"}, {"block", "10"}, {"iterations", "7"}}},
                    odd_case{"heat", {{"size", "30"}, {"block", "1000"}, {"iterations", "1"}}},
                    odd_case{"life", {{"size", "1"}, {"iterations", "2"}}},
                    odd_case{"life", {{"size", "41"}, {"block", "6"}, {"iterations", "5"}}},
                    odd_case{"pagerank", {{"size", "2"}, {"degree", "1"}, {"block", "1"}}},
                    odd_case{"pagerank", {{"size", "1001"}, {"block", "100"}, {"iterations", "3"}}},
                    odd_case{"nqueens", {{"size", "1"}}}, odd_case{"nqueens", {{"size", "6"}, {"depth", "6"}}},
                    odd_case{"nqueens", {{"size", "8"}, {"depth", "0"}}}, odd_case{"random_dag", {{"size", "2"}}},
                    odd_case{"random_dag", {{"size", "500"}, {"degree", "50"}}}));

}  // namespace
