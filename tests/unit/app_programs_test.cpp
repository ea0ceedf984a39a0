// Every program of the list: verified under different policies, on few and many nodes; and its verifier
// detects damage.
#include "apps/list.hpp"
#include "apps/outer_products.hpp"
#include "support/scale.hpp"
#include "support/scratch_file.hpp"
#include "support/workers.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>

namespace {

using kith::test::make_options;

using namespace kith::apps;

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
  } places[] = {{make_options(1, "steal"), 1},
                {make_options(3, "steal"), 1},
                {make_options(2, "fifo"), 1},
                {make_options(8, "dep", "node:4 core:2"), 4},
                {make_options(8, "socket", "node:4 core:2"), 4}};
  for (const auto& p : places) {
    kith::runtime rt(p.options);
    const result r = run(*program, {rt, p.nodes});
    EXPECT_TRUE(r.check.verified) << *p.options.policy << " " << p.options.machine.value_or("") << ": " << r.check.what;
    EXPECT_FALSE(r.check.what.empty());
    EXPECT_GT(r.statistics.total.tasks, 0u);
    EXPECT_EQ(r.statistics.pretended, !p.options.machine.value_or("").empty());
    EXPECT_FALSE(r.figures.empty());
  }
}

TEST_P(programs, are_verified_in_every_way_they_run) {
  const std::span<const parameter> takes = GetParam()->parameters;
  if (std::ranges::none_of(takes, [](const parameter& p) { return p.name == std::string_view("as"); })) return;
  for (const char* as : {"graph", "dataflow", "loop-static", "loop-guided"}) {
    for (const char* colors : {"good", "bad", "invalid"}) {
      const arguments::given values = {{"as", as}, {"colors", colors}};
      const std::unique_ptr<app> program = GetParam()->make(arguments(GetParam()->name, takes, values, preset::small));
      for (const char* policy : {"nabbitc", "nabbit", "dep", "steal"}) {
        if (colors != std::string_view("good") && policy != std::string_view("nabbitc"))
          continue;  // the same run again
        if (kith::test::sanitized && policy != std::string_view("nabbitc") && policy != std::string_view("steal"))
          continue;
        kith::runtime rt(make_options(8, policy, "node:4 core:2"));
        const result r = run(*program, {rt, 4});
        EXPECT_TRUE(r.check.verified) << as << " " << colors << " " << policy << ": " << r.check.what;
      }
    }
  }
  for (const char* wrong : {"as", "colors"}) {
    const arguments::given values = {{wrong, "nonsense"}};
    EXPECT_THROW(GetParam()->make(arguments(GetParam()->name, takes, values, preset::small)), kith::error);
  }
}

TEST_P(programs, have_a_verifier_that_notices_damage) {
  const std::unique_ptr<app> program = small();
  kith::runtime rt(make_options(2, "steal"));
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
  kith::runtime rt(make_options(2, "steal"));
  ASSERT_TRUE(run(*program, {rt, 1}).check.verified);
  for (std::size_t b = 0; b < sizeof(double); ++b)
    program->output()[b] = std::byte{0xff};  // a NaN, or an
                                             // arbitrary number
  EXPECT_FALSE(program->verify().verified) << program->verify().what;
}

TEST_P(programs, refuse_what_they_do_not_take) {
  const arguments::given values = {{"nonsense", "1"}};
  EXPECT_THROW(arguments(GetParam()->name, GetParam()->parameters, values, preset::small), kith::error);
}

TEST_P(programs, are_verified_as_one_graph) {
  if (GetParam()->windows == nullptr) return;
  const std::unique_ptr<app> program = small();
  for (const char* policy : {"steal", "dfifo", "dep", "rip-dep", "rip-mw"}) {
    kith::runtime rt(make_options(8, policy, "node:4 core:2"));
    for (int again = 0; again < 2; ++again) {
      const result r = run(*program, {rt, 4}, true);
      EXPECT_TRUE(r.check.verified) << policy << ": " << r.check.what;
    }
  }
}

TEST(one_graph, is_for_dataflow_tasks) {
  const entry& e = find_app("jacobi");
  const arguments::given values = {{"as", "graph"}};
  const std::unique_ptr<app> program = e.make(arguments(e.name, e.parameters, values, preset::small));
  kith::runtime rt(make_options(2, "nabbitc"));
  EXPECT_THROW(run(*program, {rt, 1}, true), kith::error);
}

TEST_P(programs, count_the_first_tasks_of_their_windows_right) {
  if (GetParam()->windows == nullptr) return;
  const arguments given(GetParam()->name, GetParam()->parameters, {}, preset::small);
  const window_hint w = GetParam()->windows(given);
  const std::unique_ptr<app> program = GetParam()->make(given);
  kith::runtime rt(make_options(2, "steal"));
  program->prepare({rt, 1});
  const auto prepared = static_cast<std::int64_t>(rt.statistics().total.tasks);
  program->solve({rt, 1});
  const auto all = static_cast<std::int64_t>(rt.statistics().total.tasks);
  EXPECT_EQ(w.initial ? w.window : w.first, prepared) << "a window of the initial tasks alone, or beside them";
  EXPECT_LE(w.first + w.window, all);
  EXPECT_GT(w.intersection, 0);
  EXPECT_LT(w.intersection, w.window);
}

TEST_P(programs, touch_nothing_when_they_run_dry) {
  const bool has_model = GetParam()->windows != nullptr || GetParam()->paper == std::string_view("MIR");
  if (!has_model || GetParam()->name == std::string_view("nqueens")) return;
  const std::unique_ptr<app> program = small();
  kith::runtime_options o = make_options(8, "dep", "node:4 core:2");
  o.dry = true;
  kith::runtime rt(o);
  EXPECT_FALSE(run(*program, {rt, 4}).check.checked);
  EXPECT_FALSE(program->verify().verified) << "no task ran, so nothing can be right";
  EXPECT_TRUE(std::ranges::all_of(program->output(), [](std::byte b) { return b == std::byte{0}; }));
}

std::vector<const entry*> runnable() {
  std::vector<const entry*> all(app_list().begin(), app_list().end());
  std::erase_if(all, [](const entry* e) { return e->dry_only; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(all, programs, testing::ValuesIn(runnable()),
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

// Sizes that are not multiples of the block, and the smallest sizes.
struct odd_case {
  const char* name;
  arguments::given values;
};

class odd_sizes : public testing::TestWithParam<odd_case> {};

TEST_P(odd_sizes, are_verified) {
  const entry& e = find_app(GetParam().name);
  const std::unique_ptr<app> program = e.make(arguments(e.name, e.parameters, GetParam().values, preset::small));
  kith::runtime rt(make_options(2, "steal"));
  const verdict v = run(*program, {rt, 3}).check;
  EXPECT_TRUE(v.verified) << v.what;
}

INSTANTIATE_TEST_SUITE_P(
    programs, odd_sizes,
    testing::Values(
        odd_case{"heat", {{"size", "1"}, {"iterations", "3"}}},
        odd_case{"heat", {{"size", "37"}, {"block", "10"}, {"iterations", "7"}}},
        odd_case{"heat", {{"size", "30"}, {"block", "1000"}, {"iterations", "1"}}},
        odd_case{"life", {{"size", "1"}, {"iterations", "2"}}},
        odd_case{"life", {{"size", "41"}, {"block", "6"}, {"iterations", "5"}}},
        odd_case{"pagerank", {{"size", "2"}, {"degree", "1"}, {"block", "1"}}},
        odd_case{"pagerank", {{"size", "1001"}, {"block", "100"}, {"iterations", "3"}}},
        odd_case{"nqueens", {{"size", "1"}}}, odd_case{"nqueens", {{"size", "8"}, {"joins", "on"}}},
        odd_case{"fib", {{"size", "0"}}}, odd_case{"fib", {{"size", "10"}, {"alone", "2"}}},
        odd_case{"uts", {{"size", "1"}, {"q", "0"}}}, odd_case{"mergesort", {{"size", "1"}}},
        odd_case{"mergesort", {{"size", "1001"}, {"alone", "1"}}}, odd_case{"strassen", {{"size", "1"}}},
        odd_case{"strassen", {{"size", "16"}, {"alone", "1"}}}, odd_case{"nqueens", {{"size", "6"}, {"depth", "6"}}},
        odd_case{"nqueens", {{"size", "8"}, {"depth", "0"}}}, odd_case{"random_dag", {{"size", "2"}}},
        odd_case{"random_dag", {{"size", "500"}, {"degree", "50"}}},
        odd_case{"heat", {{"size", "5"}, {"rows", "64"}, {"block", "7"}, {"as", "graph"}}},
        odd_case{"life", {{"size", "64"}, {"rows", "3"}, {"block", "1"}, {"as", "graph"}}},
        odd_case{"fdtd", {{"size", "2"}, {"block", "1"}, {"as", "graph"}}},
        odd_case{"fdtd", {{"size", "33"}, {"rows", "50"}, {"block", "7"}, {"iterations", "3"}}},
        odd_case{"pagerank", {{"size", "1001"}, {"block", "100"}, {"as", "graph"}}}, odd_case{"cg", {{"size", "1"}}},
        odd_case{"cg", {{"size", "333"}, {"block", "100"}, {"as", "graph"}}},
        odd_case{"cg", {{"size", "50"}, {"nonzeros", "0"}, {"block", "1"}, {"as", "graph"}}},
        odd_case{"mg", {{"size", "4"}, {"as", "graph"}}}, odd_case{"mg", {{"size", "8"}, {"iterations", "5"}}},
        odd_case{"sw", {{"size", "1"}}}, odd_case{"sw", {{"size", "101"}, {"block", "10"}, {"as", "graph"}}},
        odd_case{"sw", {{"size", "60"}, {"block", "7"}, {"open", "0"}, {"extend", "0"}}},
        odd_case{"swn2", {{"size", "1"}}}, odd_case{"swn2", {{"size", "501"}, {"block", "50"}, {"as", "graph"}}},
        odd_case{"swn2", {{"size", "300"}, {"block", "1000"}, {"mismatch", "0"}}},
        odd_case{"gauss_seidel", {{"size", "1"}}}, odd_case{"gauss_seidel", {{"size", "35"}, {"block", "7"}}},
        odd_case{"gauss_seidel", {{"size", "6"}, {"block", "1"}, {"iterations", "3"}}},
        odd_case{"red_black", {{"size", "1"}}}, odd_case{"red_black", {{"size", "35"}, {"block", "7"}}},
        odd_case{"red_black", {{"size", "6"}, {"block", "1"}, {"iterations", "3"}}},
        odd_case{"jacobi", {{"size", "37"}, {"block", "10"}, {"iterations", "7"}}},
        odd_case{"jacobi", {{"size", "5"}, {"rows", "64"}, {"block", "7"}, {"as", "graph"}}},
        odd_case{"nstream", {{"sets", "1"}, {"size", "1"}}}, odd_case{"nstream", {{"sets", "3"}, {"size", "777"}}},
        odd_case{"integral_histogram", {{"size", "1"}, {"bins", "1"}}},
        odd_case{"integral_histogram", {{"size", "50"}, {"block", "17"}, {"ring", "3"}, {"images", "7"}}},
        odd_case{"integral_histogram", {{"size", "50"}, {"block", "17"}, {"ring", "0"}, {"images", "5"}}},
        odd_case{"inversion", {{"annotate", "columns"}}},
        odd_case{"integral_histogram", {{"size", "20"}, {"block", "64"}, {"bins", "256"}, {"images", "1"}}},
        odd_case{"cg_tasks", {{"size", "1"}}}, odd_case{"cg_tasks", {{"size", "5"}, {"block", "9"}}},
        odd_case{"map", {{"vectors", "1"}, {"size", "3"}, {"iterations", "1"}}},
        odd_case{"map", {{"vectors", "3"}, {"size", "7"}, {"iterations", "100"}}},
        odd_case{"map", {{"vectors", "2"}, {"size", "5"}, {"iterations", "2"}, {"sweeps", "3"}}},
        odd_case{"vecmul", {{"vectors", "3"}, {"size", "7"}, {"iterations", "2"}, {"sweeps", "5"}, {"in-place", "on"}}},
        odd_case{"reduction", {{"size", "100"}, {"depth", "2"}, {"sweeps", "3"}}},
        odd_case{"sparse_lu", {{"size", "60"}, {"block", "6"}, {"joined", "on"}, {"intense", "on"}}},
        odd_case{"vecmul", {{"vectors", "1"}, {"size", "1"}}}, odd_case{"reduction", {{"size", "1"}, {"depth", "0"}}},
        odd_case{"reduction", {{"size", "1000"}, {"depth", "6"}}}, odd_case{"sparse_lu", {{"size", "1"}}},
        odd_case{"sparse_lu", {{"size", "60"}, {"block", "6"}, {"density", "0"}}},
        odd_case{"sparse_lu", {{"size", "60"}, {"block", "6"}, {"density", "100"}}},
        odd_case{"sparse_lu", {{"size", "60"}, {"block", "6"}, {"joined", "on"}}},
        odd_case{"kmeans", {{"points", "1"}, {"chunks", "1"}, {"clusters", "1"}}},
        odd_case{"kmeans_list", {{"points", "1"}, {"chunks", "1"}, {"clusters", "1"}}},
        odd_case{"kmeans_list", {{"points", "9"}, {"chunks", "3"}, {"clusters", "20"}, {"iterations", "1"}}},
        odd_case{"sharded", {{"words", "1"}, {"searches", "1"}, {"shards", "1"}, {"batch", "1"}}},
        odd_case{"sharded", {{"words", "50"}, {"searches", "999"}, {"shards", "100"}, {"batch", "7"}}},
        odd_case{"routing", {{"regions", "1"}, {"edge", "2"}, {"pairs", "9"}}},
        odd_case{"routing", {{"regions", "3"}, {"edge", "33"}, {"pairs", "1"}}},
        odd_case{"refinement", {{"rows", "1"}, {"columns", "1"}, {"tile", "1"}}},
        odd_case{"refinement", {{"rows", "21"}, {"columns", "7"}, {"tile", "7"}, {"rounds", "3"}}},
        odd_case{"refinement", {{"rows", "40"}, {"columns", "40"}, {"tile", "20"}, {"iterations", "300"}}}));

#ifdef KITH_APPS_LAPACK
INSTANTIATE_TEST_SUITE_P(
    programs_with_kernels, odd_sizes,
    testing::Values(odd_case{"qr", {{"size", "1"}}}, odd_case{"qr", {{"size", "35"}, {"block", "7"}, {"inner", "3"}}},
                    odd_case{"inversion", {{"size", "1"}}}, odd_case{"inversion", {{"size", "33"}, {"block", "3"}}},
                    odd_case{"cholesky", {{"size", "33"}, {"block", "11"}}}, odd_case{"matmul", {{"size", "1"}}},
                    odd_case{"matmul", {{"size", "33"}, {"block", "11"}}}));

TEST(tiles, divide_the_size) {
  for (const char* name : {"gauss_seidel", "red_black", "cholesky", "qr", "inversion", "matmul", "sparse_lu"}) {
    const entry& e = find_app(name);
    const arguments::given values = {{"size", "10"}, {"block", "4"}};
    EXPECT_THROW(e.make(arguments(name, e.parameters, values, preset::small)), kith::error) << name;
  }
}
#endif

TEST(target, deals_tiles_evenly) {
  kith::runtime rt(make_options(1, "steal"));
  for (int nodes : {1, 2, 3, 4, 6, 8, 16}) {
    const target where{rt, nodes};
    std::vector<int> tiles(static_cast<std::size_t>(nodes));
    for (std::int64_t i = 0; i < 48; ++i) {
      for (std::int64_t j = 0; j < 48; ++j) ++tiles[static_cast<std::size_t>(where.cyclic(i, j).value)];
    }
    EXPECT_THAT(tiles, testing::Each(48 * 48 / nodes)) << nodes;
  }
}

// Files: sequences, matrices.
std::string refusal_of(const char* name, const std::string& text) {
  const kith::test::scratch_file input;
  std::ofstream(input.path()) << text;
  const entry& e = find_app(name);
  const arguments::given values = {{"input", input.path()}};
  try {
    kith::runtime rt(make_options(2, "steal"));
    const verdict v = run(*e.make(arguments(e.name, e.parameters, values, preset::small)), {rt, 1}).check;
    return v.verified ? "fine" : v.what;
  } catch (const kith::error& refused) {
    return refused.what();
  }
}

TEST(program_input, sequences_in_fasta) {
  EXPECT_EQ(refusal_of("swn2", "; comment\n>a first\nACGT\nacgt\n\n>b\nACGGT\n>c\nA\n"), "fine");
  EXPECT_EQ(refusal_of("sw", ">p1\nMKV*LLW\n>p2\nMK-VLW\r\n"), "fine");
  EXPECT_THAT(refusal_of("sw", "ACGT\n"), testing::HasSubstr(":1: "));
  EXPECT_THAT(refusal_of("sw", ">a\nAC9T\n>b\nA\n"), testing::HasSubstr(":2: '9'"));
  EXPECT_THAT(refusal_of("sw", ">a\nACGT\n"), testing::HasSubstr("takes two"));
  EXPECT_THAT(refusal_of("sw", ">a\nACGT\n>b\n"), testing::HasSubstr("'b' is empty"));
  EXPECT_THAT(refusal_of("swn2", ""), testing::HasSubstr("0 sequences"));
}

TEST(program_input, maps_of_the_dimacs_challenge) {
  const std::string head = "c a town\np sp 4 5\n";
  EXPECT_EQ(refusal_of("routing", head + "a 1 2 7\na 2 1 7\na 2 3 1\na 3 4 2\na 4 1 9\n"), "fine");
  std::string star = "p sp 30 29\n";
  for (int to = 2; to <= 30; ++to) star += "a 1 " + std::to_string(to) + " " + std::to_string(to) + "\n";
  EXPECT_EQ(refusal_of("routing", star), "fine") << "a place with more roads than its record has room for";
  EXPECT_THAT(refusal_of("routing", head + "a 1 5 7\n"), testing::HasSubstr(":3: "));
  EXPECT_THAT(refusal_of("routing", "a 1 2 7\n"), testing::HasSubstr("p sp PLACES ROADS"));
  EXPECT_THAT(refusal_of("routing", "c nothing\n"), testing::HasSubstr("no line 'p sp"));
  EXPECT_THAT(refusal_of("routing", head + "a 1 2 far\n"), testing::HasSubstr("'far'"));
}

TEST(program_input, texts_of_a_folder) {
  const kith::test::scratch_file scratch;
  const std::string& made = scratch.folder();
  const entry& e = find_app("sharded");
  const arguments::given values = {{"input", made}};
  const auto solved = [&] {
    kith::runtime rt(make_options(2, "steal"));
    return run(*e.make(arguments(e.name, e.parameters, values, preset::small)), {rt, 1});
  };
  EXPECT_THROW(solved(), kith::error) << "no file";
  std::ofstream(made + "/a") << "The tree, the TREE and the antidisestablishmentarianism.\n";
  std::ofstream(made + "/b") << "tree of\n";
  std::ofstream(made + "/c") << std::string("no\0text", 7);
  const result r = solved();
  EXPECT_TRUE(r.check.verified) << r.check.what;
  EXPECT_EQ(std::get<std::int64_t>(r.figures.at(1).value), 8) << "words of three letters and more";
}

TEST(program_input, options_that_do_not_exist_are_named) {
  const entry& e = find_app("inversion");
  const arguments::given wrong = {{"annotate", "rows"}};
  try {
    e.make(arguments(e.name, e.parameters, wrong, preset::small));
    FAIL();
  } catch (const kith::error& refused) {
    EXPECT_THAT(refused.what(), testing::AllOf(testing::HasSubstr("--annotate 'rows'"), testing::HasSubstr("columns")));
  }
}

/// A dry run of cg asks for the places alone.
TEST(program_input, a_generated_matrix_has_its_entries_where_it_says) {
  for (const std::int64_t nonzeros : {0, 3, 30}) {  // 30 in 20 rows: some rows are drawn twice for a vector
    const outer_products made(20, nonzeros, 7);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> said, has, mirrored;
    made.places([&](std::uint32_t row, std::uint32_t column) { said.emplace_back(row, column); });
    EXPECT_TRUE(std::ranges::is_sorted(said, {}, [](const auto& at) { return at.first; }));
    for (const matrix::entry& e : made.entries()) {
      has.emplace_back(e.row, e.column);
      mirrored.emplace_back(e.column, e.row);
    }
    EXPECT_THAT(said, testing::UnorderedElementsAreArray(has));
    EXPECT_THAT(mirrored, testing::UnorderedElementsAreArray(has));
  }
}

TEST(programs_run_dry, cg_has_a_model_of_its_work) {
  const entry& e = find_app("cg");
  kith::runtime_options o = make_options(2, "nabbitc", "node:2 core:1");
  o.dry = true;
  kith::runtime rt(o);
  const std::unique_ptr<app> program = e.make(arguments(e.name, e.parameters, {}, preset::small));
  EXPECT_FALSE(run(*program, {rt, 2}).check.checked);
}

TEST(program_input, images_of_one_size) {
  const entry& e = find_app("refinement");
  const arguments::given one = {{"first", "a.png"}}, uneven = {{"tile", "7"}, {"rows", "20"}, {"columns", "7"}};
  for (const arguments::given& values : {one, uneven})
    EXPECT_THROW(e.make(arguments(e.name, e.parameters, values, preset::small)), kith::error);
}

TEST(program_input, matrices_in_matrix_market) {
  const std::string head = "%%MatrixMarket matrix coordinate real symmetric\n";
  EXPECT_EQ(refusal_of("cg", head + "% comment\n2 2 3\n1 1 4\n2 2 5\n2 1 -1\n"), "fine");
  EXPECT_THAT(refusal_of("cg", head + "2 2 2\n1 1 4\n2 2 -5\n"), testing::HasSubstr("not positive definite"));
  EXPECT_THAT(refusal_of("cg", head + "2 2 2\n1 1 nan\n2 2 5\n"), testing::HasSubstr(":3: "));
  EXPECT_THAT(refusal_of("cg", head + "2 2 2\n1 1 xyz\n2 2 5\n"), testing::HasSubstr("'xyz' is no number"));
  EXPECT_THAT(refusal_of("cg", head + "2 3 1\n1 1 4\n"), testing::HasSubstr("not square"));
  EXPECT_THAT(refusal_of("cg", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n"),
              testing::HasSubstr("symmetric"));
  EXPECT_EQ(refusal_of("cg_tasks", head + "3 3 4\n1 1 4\n2 2 5\n3 1 -1\n3 3 2\n"), "fine");
  EXPECT_THAT(refusal_of("cg_tasks", head + "2 2 2\n1 1 4\n2 2 -5\n"), testing::HasSubstr("not positive definite"));
  EXPECT_THAT(refusal_of("cg", "1 2\n"), testing::HasSubstr(":1: "));
  EXPECT_THAT(refusal_of("pagerank", head + "2 2 2\n1 1 4\n2 1 x\n"), testing::HasSubstr(":4: "));
}

}  // namespace
