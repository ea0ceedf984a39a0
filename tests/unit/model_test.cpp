// Descriptions of machines: those in the tree are complete; a wrong one is refused with file, line, key,
// and what was expected.
#include "machine/model.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace kith;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

std::string text_of(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

/// The 8-socket bullion's description, with one piece of text replaced by another.
machine_model with(const std::string& from, const std::string& to) {
  std::string text = text_of(model_file("bullion-s16-8"));
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no such text: " + from);
  text.replace(at, from.size(), to);
  if (from == "remote = 36") {  // the key changes, and with it the key of its source in the table
    const std::string source = "\"distance.remote\"";
    text.replace(text.find(source), source.size(), "\"distance\"");
  }
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("kith-model-" + std::to_string(::getpid()) + ".toml");
  std::ofstream(file) << text;
  struct removal {
    std::filesystem::path file;
    ~removal() { std::filesystem::remove(file); }
  } at_end{file};
  return model_from_file(file.string());
}

TEST(models, that_are_kept_are_whole) {
  ASSERT_FALSE(model_names().empty());
  for (const std::string& name : model_names()) {
    SCOPED_TRACE(name);
    const machine_model m = model_by_name(name);
    EXPECT_EQ(m.hardware.name, name);
    EXPECT_FALSE(m.title.empty());
    EXPECT_FALSE(m.hardware.cores.empty());
    const std::size_t nodes = m.hardware.nodes.size();
    ASSERT_EQ(m.hardware.distances.size(), nodes);
    for (std::size_t a = 0; a < nodes; ++a) {
      EXPECT_EQ(m.hardware.distances[a][a], 10);
      for (std::size_t b = 0; b < nodes; ++b) EXPECT_EQ(m.hardware.distances[a][b], m.hardware.distances[b][a]);
    }
    EXPECT_FALSE(m.sources.empty());
  }
}

TEST(models, have_what_the_papers_print) {
  const machine_model heat = model_by_name("xeon-e7-8860");
  EXPECT_EQ(heat.hardware.nodes.size(), 8u);
  EXPECT_EQ(heat.hardware.cores.size(), 80u);
  const machine_model bullion = model_by_name("bullion-s16-8");
  EXPECT_EQ(bullion.hardware.cores.size(), 32u);
  EXPECT_EQ(bullion.hardware.distances[0][7], 36);
}

TEST(models, say_where_a_description_is_wrong) {
  EXPECT_THAT([] { with("nodes = 8", "nodes = 0"); },
              ThrowsMessage<error>(AllOf(HasSubstr(".toml:7: cores.nodes"), HasSubstr("from 1 to"))));
  EXPECT_THAT([] { with("nodes = 8", "nodes = \"eight\""); },
              ThrowsMessage<error>(HasSubstr("cores.nodes: expected a whole number")));
  EXPECT_THAT([] { with("per_node = 4", "per_node = [4, 4]"); },
              ThrowsMessage<error>(HasSubstr("cores.per_node: expected 8 numbers")));
  EXPECT_THAT([] { with("remote = 36", "remote = 36\nmesh = {width = 8, base = 1, hop = 1}"); },
              ThrowsMessage<error>(HasSubstr("one of remote, groups, matrix, mesh, torus")));
  EXPECT_THAT([] { with("pop = 500\n", ""); }, ThrowsMessage<error>(HasSubstr("scheduler.pop is missing")));
  EXPECT_THAT([] { with("pop = 500", "pop = 500\npopp = 1"); },
              ThrowsMessage<error>(HasSubstr("scheduler.popp: expected one of the keys")));
  EXPECT_THAT([] { with("noise = 0.03", "noise = 7"); },
              ThrowsMessage<error>(HasSubstr("tasks.noise: expected a number")));
  EXPECT_THAT([] { with("kind = \"links\"", "kind = \"string\""); },
              ThrowsMessage<error>(HasSubstr("links, hosts, full, mesh, torus or none")));
  EXPECT_THAT([] { with("\"scheduler\" = ", "\"schedule\" = "); },
              ThrowsMessage<error>(HasSubstr("the source of this value")));
  EXPECT_THAT([] { with("\"scheduler\" = \"assumed", "\"scheduler\" = \"who knows"); },
              ThrowsMessage<error>(HasSubstr("begins with printed:")));
  EXPECT_THAT([] { with("[tasks]", "[scheduling_unit]\ncycles = 20\n\n[tasks]"); },
              ThrowsMessage<error>(HasSubstr("missing are scheduling_unit.node, scheduling_unit.hop_cycles")));
  EXPECT_THAT([] { with("[tasks]", "[energy]\nflit_bytes = 16\nflit_hop = 1\n\n[tasks]"); },
              ThrowsMessage<error>(
                  HasSubstr("missing are sources.energy.flit_bytes, sources.energy.flit_hop: expected the source")));
  EXPECT_THAT([] { with("nodes = 8\nper_node = 4", "per_node = [4, 4]"); },  // of one node, [4, 4] would be wrong
              ThrowsMessage<error>(HasSubstr("cores.nodes is missing: expected a whole number")));
  EXPECT_THAT([] { (void)model_from_text("name = \"x\"\ntitle = \"x\"\n[cores]\n[distance]", "x.toml"); },
              ThrowsMessage<error>(HasSubstr("no table [cache], [memory], [interconnect], [scheduler], [tasks], ")));
  for (const char* file : {"no-such.toml", "no/such"}) {
    EXPECT_THAT([&] { model_by_name(file); }, ThrowsMessage<error>(HasSubstr(std::string(file) + ": no such file; ")));
  }
  EXPECT_THAT([] { with("[cores]", "[cores"); }, ThrowsMessage<error>(HasSubstr(".toml:6:")));
  EXPECT_THAT([] { model_by_name("no-such-machine"); },
              ThrowsMessage<error>(AllOf(HasSubstr("no-such-machine"), HasSubstr("bullion-s16-8"))));
}

TEST(models, say_what_a_chip_cannot_have) {
  std::ifstream in(model_file("cmp-32"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string t = text;
    t.replace(t.find(from), from.size(), to);
    (void)model_from_text(t, "chip.toml");
  };
  EXPECT_THAT([&] { changed("\nwidth = 8", "\nwidth = 5"); },
              ThrowsMessage<error>(HasSubstr("interconnect.width: expected a divisor of 32, the number of nodes")));
  EXPECT_THAT([&] { changed("{width = 8", "{width = 5"); },
              ThrowsMessage<error>(HasSubstr("distance.mesh.width: expected a divisor of 32")));
  EXPECT_THAT([&] { changed("mesh = {width = 8,", "torus = {x = 8, y = 2, z = 1,"); },
              ThrowsMessage<error>(HasSubstr("distance.torus.x: expected x * y * z to be 32")));
  EXPECT_THAT([&] { changed("first_bytes = 65536", "first_bytes = 66000"); },
              ThrowsMessage<error>(HasSubstr(
                  "line.first_bytes: expected first_ways (4) times a power of two from 64 to 1048576, as 65536")));
  EXPECT_THAT([&] { changed("second_ways = 8", "second_ways = 3"); },
              ThrowsMessage<error>(HasSubstr("line.second_bytes: expected second_ways (3) times a power of two")));
  EXPECT_THAT([&] { changed("first_bytes = 65536", "first_bytes = 4194304"); },
              ThrowsMessage<error>(HasSubstr("line.first_bytes: expected at most second_bytes (2097152)")));
}

TEST(models, with_private_caches_have_the_shared_ones_last) {
  std::string text = text_of(model_file("bullion-s16-8"));
  const auto insert = [&](const std::string& before, const std::string& more) { text.insert(text.find(before), more); };
  insert("\n\n[memory]", "\nprivate_bytes = 262144\nprivate_gbs = 100.0");
  insert("\"cache.bytes\"", "\"cache.private_bytes\" = \"assumed\"\n\"cache.private_gbs\" = \"assumed\"\n");
  const machine m = model_from_text(text, "private.toml").hardware;
  EXPECT_EQ(m.caches.size(), m.cores.size() + m.nodes.size());
  EXPECT_TRUE(std::ranges::is_sorted(m.caches, {}, &machine::cache::level));
  for (const machine::core& c : m.cores) {
    const machine::cache& last = m.caches.at(static_cast<std::size_t>(m.last_caches()[c.id.index()]));
    EXPECT_EQ(last.level, 3);
    EXPECT_EQ(last.cores.size(), m.nodes[c.node.index()].cores.size());
  }
}

TEST(models, have_home_caches_only_as_a_whole) {
  const std::string path = model_file("tilepro64");
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string t = text;
    t.replace(t.find(from), from.size(), to);
    (void)model_from_text(t, "tiles.toml");
  };
  EXPECT_THAT([&] { changed("first_line_bytes = 16", "first_line_bytes = 24"); },
              ThrowsMessage<error>(HasSubstr("line.first_line_bytes: expected 8, 16, 32 or 64")));
  EXPECT_THAT([&] { changed("home_copies = \"first-level\"", "home_copies = \"nowhere\""); },
              ThrowsMessage<error>(HasSubstr("line.home_copies: expected updated, dropped or first-level")));
  EXPECT_THAT([&] { changed("home_cycles = 38", ""); },
              ThrowsMessage<error>(HasSubstr("64, unless there are home caches (home_cycles)")));
}

/// Texts that violate assertions of toml++: they must be errors in builds with and without assertions.
TEST(models, no_text_ends_the_program) {
  for (const char* text : {"[[[[", "[[[", "name = \"x\"\n[[[a]]]", "[[\x01"}) {
    const int line = std::string(text).starts_with("name") ? 2 : 1;
    EXPECT_THAT([&] { model_from_text(text, "strange.toml"); },
                ThrowsMessage<error>(HasSubstr("strange.toml:" + std::to_string(line) + ": ")))
        << text;
  }
  EXPECT_THAT([] { model_from_text("\"\x1b[2J\" = 1", "strange.toml"); }, ThrowsMessage<error>(Not(HasSubstr("\x1b"))));
  EXPECT_THAT([] { model_from_text(std::string(17 << 20, '\n'), "long.toml"); },
              ThrowsMessage<error>(HasSubstr("expected up to")));
  EXPECT_THROW(model_from_text(std::string(100000, '['), "deep.toml"), error);
  EXPECT_THROW(model_from_text("a = " + std::string(100000, '['), "deep.toml"), error);
  EXPECT_THAT([] { model_from_file("/dev/zero"); }, ThrowsMessage<error>(HasSubstr("cannot be read")));
}

TEST(models, are_missed_if_their_folder_has_none) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("kith-no-models-" + std::to_string(::getpid()));
  ::setenv("KITH_MACHINES", folder.c_str(), 1);
  const std::string begin = "KITH_MACHINES=" + folder.string();
  EXPECT_THAT([] { model_names_or_throw(); },
              ThrowsMessage<error>(HasSubstr(begin + ": there is no such folder; name a")));
  std::filesystem::create_directory(folder);
  EXPECT_THAT([] { model_names_or_throw(); }, ThrowsMessage<error>(HasSubstr(begin + ": has no machine description")));
  EXPECT_THAT([] { model_by_name("epyc-2x4"); }, ThrowsMessage<error>(HasSubstr(begin + ": has no machine")));
  std::filesystem::remove(folder);
  ::unsetenv("KITH_MACHINES");
}

TEST(models, may_have_grids_and_groups_of_nodes) {
  const machine_model groups = with("remote = 36", "groups = [[2, 18], [8, 36]]");
  EXPECT_EQ(groups.hardware.distances[0][1], 18);
  EXPECT_EQ(groups.hardware.distances[1][2], 36);
  const machine_model mesh = with("remote = 36", "mesh = {width = 4, base = 20, hop = 2.5}");
  EXPECT_EQ(mesh.hardware.distances[0][5], 25);  // two hops
  const machine_model torus = with("remote = 36", "torus = {x = 4, y = 2, z = 1, base = 20, hop = 10}");
  EXPECT_EQ(torus.hardware.distances[0][3], 30);  // one hop, wrapping around
}

}  // namespace
