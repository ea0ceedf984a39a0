// Reading graphs: files of links and packages, good ones and bad ones.
#include "apps/graph.hpp"
#include "apps/packages.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>

namespace {

using namespace kith::apps;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class graph_files : public testing::Test {
 protected:
  ~graph_files() override { std::filesystem::remove(path_); }

  link_list read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return read_links(path_);
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const kith::error& e) {
      EXPECT_THAT(e.what(), HasSubstr(path_));
      return e.what();
    }
    ADD_FAILURE() << "was read: " << text;
    return "";
  }
  std::string at_line(int line) const { return path_ + ":" + std::to_string(line) + ":"; }

  const std::string path_ = testing::TempDir() + "kith_graph_" + std::to_string(getpid());
};

TEST_F(graph_files, edge_lists) {
  const link_list g = read("# a comment\n% another\n\n10 20\n20\t10\r\n  10 , 7\n10 20\n");
  EXPECT_EQ(g.pages, 3u);
  EXPECT_THAT(g.names, ElementsAre("7", "10", "20"));
  EXPECT_THAT(g.links, ElementsAre(Pair(1, 0), Pair(1, 2), Pair(2, 1)));  // sorted, without duplicates
  EXPECT_THAT(g.source, HasSubstr(path_));
}

TEST_F(graph_files, edge_lists_without_a_last_newline_or_with_large_numbers) {
  const link_list g = read("0 18446744073709551615");
  EXPECT_THAT(g.names, ElementsAre("0", "18446744073709551615"));
}

TEST_F(graph_files, bad_edge_lists_name_file_and_line) {
  EXPECT_THAT(refusal("1 2\n3\n"), HasSubstr(at_line(2)));
  EXPECT_THAT(refusal("1 2\n3 4 5\n"), HasSubstr(at_line(2)));
  EXPECT_THAT(refusal("1 2\n\n# fine\nx 4\n"), testing::AllOf(HasSubstr(at_line(4)), HasSubstr("x")));
  EXPECT_THAT(refusal("1 -2\n"), HasSubstr(at_line(1)));
  EXPECT_THAT(refusal("1 2.5\n"), HasSubstr(at_line(1)));
  EXPECT_THAT(refusal("1 18446744073709551616\n"), HasSubstr(at_line(1)));
  EXPECT_THAT(refusal(""), HasSubstr("no link"));
  EXPECT_THAT(refusal("# nothing\n"), HasSubstr("no link"));
  EXPECT_THAT(refusal(std::string("1 2\n\x01\x02\x7f\n", 8)), testing::Not(HasSubstr("\x7f")));
  EXPECT_THROW(read_links("/no/such/file"), kith::error);
  EXPECT_THROW(read_links("/"), kith::error);
}

TEST_F(graph_files, matrix_market) {
  const link_list g = read("%%MatrixMarket matrix coordinate real general\n% comment\n3 3 2\n1 3 0.5\n2 1 -1e3\n");
  EXPECT_EQ(g.pages, 3u);
  EXPECT_THAT(g.links, ElementsAre(Pair(0, 2), Pair(1, 0)));
  EXPECT_EQ(g.name(2), "2");
}

TEST_F(graph_files, symmetric_matrices_link_both_ways) {
  const link_list g = read("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
  EXPECT_THAT(g.links, ElementsAre(Pair(0, 1), Pair(1, 0), Pair(2, 2)));
}

TEST_F(graph_files, bad_matrices_name_file_and_line) {
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n";
  EXPECT_THAT(refusal("%%MatrixMarket matrix array real general\n2 2\n"), HasSubstr(at_line(1)));
  EXPECT_THAT(refusal("%%MatrixMarket matrix coordinate quaternion general\n"), HasSubstr("quaternion"));
  EXPECT_THAT(refusal("%%MatrixMarket matrix coordinate pattern lopsided\n"), HasSubstr("lopsided"));
  EXPECT_THAT(refusal(head), HasSubstr("ends before"));
  EXPECT_THAT(refusal(head + "2 3 1\n1 1\n"), HasSubstr("not square"));
  EXPECT_THAT(refusal(head + "2 2 1\n3 1\n"), HasSubstr(at_line(3)));
  EXPECT_THAT(refusal(head + "2 2 1\n0 1\n"), HasSubstr(at_line(3)));
  EXPECT_THAT(refusal(head + "2 2 1\n1 1 7\n"), HasSubstr(at_line(3)));
  EXPECT_THAT(refusal(head + "2 2 1\n1 1\n2 2\n"), HasSubstr("announced"));
  EXPECT_THAT(refusal(head + "2 2 3\n1 1\n"), HasSubstr("1 entries of 3"));
  EXPECT_THAT(refusal(head + "99999999999 99999999999 1\n"), HasSubstr(at_line(2)));
}

link_list packages(const std::string& text, bool installed_only = false) {
  package_reader reader(installed_only);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    reader.line(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return reader.finish();
}

TEST(packages, link_to_what_they_depend_on) {
  const link_list g = packages(
      "Package: a\nVersion: 1\nDepends: b (>= 2), c:any | d,\n e [amd64]\nRecommends: f\nDescription: x\n Depends: f\n"
      "\nPackage: b\nPre-Depends: c\nDepends: a\n\n\nPackage: c\n\nPackage: d\n\nPackage: e\nDepends: e, "
      "gone\n\nPackage: f");
  EXPECT_THAT(g.names, ElementsAre("a", "b", "c", "d", "e", "f"));
  // The first alternative that exists counts; no page links to itself.
  EXPECT_THAT(g.links, ElementsAre(Pair(0, 1), Pair(0, 2), Pair(0, 4), Pair(1, 0), Pair(1, 2)));
}

TEST(packages, stand_behind_what_they_provide) {
  const link_list g =
      packages("Package: editor\nDepends: gone | spelling\n\nPackage: ispell\nProvides: spelling (= 1), other\n");
  EXPECT_THAT(g.links, ElementsAre(Pair(0, 1)));
}

TEST(packages, count_once_and_only_if_installed) {
  const std::string text =
      "Package: a\nStatus: install ok installed\nDepends: b\n\n"
      "Package: b\nStatus: deinstall ok config-files\n\n"
      "Package: a\nStatus: install ok installed\nArchitecture: i386\n";
  EXPECT_THAT(packages(text, true).names, ElementsAre("a"));
  EXPECT_THAT(packages(text, false).names, ElementsAre("a", "b"));
  EXPECT_TRUE(packages("").names.empty());
}

TEST(generated_links, are_the_same_for_the_same_seed_and_in_range) {
  const link_list a = generate_links(1000, 8, 1), b = generate_links(1000, 8, 1), c = generate_links(1000, 8, 2);
  EXPECT_EQ(a.links, b.links);
  EXPECT_NE(a.links, c.links);
  for (const auto& [from, to] : a.links) ASSERT_TRUE(from < 1000 && to < 1000);
  EXPECT_TRUE(std::is_sorted(a.links.begin(), a.links.end()));
}

TEST(incoming_links, are_the_links_by_target) {
  link_list g;
  g.pages = 3;
  g.links = {{0, 1}, {0, 2}, {2, 1}};
  const incoming_links in(g);
  EXPECT_THAT(in.first, ElementsAre(0, 0, 2, 3));
  EXPECT_THAT(in.sources, ElementsAre(0, 2, 0));
  EXPECT_THAT(in.out_degree, ElementsAre(2, 0, 1));
}

}  // namespace
