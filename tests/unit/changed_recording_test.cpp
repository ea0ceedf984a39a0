// A recording of any origin: whatever is in a cell, a row or a table, there is a result or an error, and no fault.
#include "fuzz/machine_input.hpp"
#include "fuzz/recording_input.hpp"
#include "support/resident.hpp"
#include "support/sample_of_places.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <functional>

namespace {

using namespace kith;
using test::cell_value;
using test::changing_file;
using test::scratch_path;
using test::uses;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const bool everything = test::scaled(1) > 1;  // `make test-full`: no value is left out

const machine_model& two_nodes() {
  static const machine_model m = model_from_file(KITH_TEST_DATA "/machines/small-caches.toml");
  return m;
}

enum class sample : std::uint8_t { plain, calibrated, of_places };

/// A whole file, as bytes.
const std::string& whole(sample which = sample::plain) {
  static const auto made = [](const recording& r) {
    const scratch_path path;
    write_recording(r, path.name());
    return path.read();
  };
  static const std::string all[] = {made(test::sample_recording::make(two_nodes(), false)),
                                    made(test::sample_recording::make(two_nodes(), true)),
                                    made(test::sample_of_places())};
  return all[static_cast<std::size_t>(which)];
}
bool is_of_places(const std::string& table) { return table == "place" || table == "message"; }

/// The sample recording, changed by SQL.
class changed {
 public:
  explicit changed(const std::function<void(changing_file&)>& change, sample which = sample::plain) {
    changing_file file(whole(which));
    change(file);
    path_.write(file.image());
  }
  explicit changed(const std::string& sql, sample which = sample::plain)
      : changed([&](changing_file& f) { f.run(sql); }, which) {}
  recording read() const { return read_recording(path_.name()); }
  uses use(std::uint8_t choice) const { return test::use_recording(path_.name(), two_nodes(), choice); }

 private:
  scratch_path path_;
};

TEST(changed_recordings, as_it_was_made_the_sample_can_be_used) {
  for (const bool calibrated : {false, true}) {
    const changed same([](changing_file&) {}, calibrated ? sample::calibrated : sample::plain);
    const uses u = same.use(0);
    EXPECT_TRUE(u.read && u.explained && u.placed && u.replayed);
    recording r = same.read();
    columns::for_each_table(r, [&]<class Table>(Table, const auto& rows) {
      if (is_of_places(Table::name)) return;
      EXPECT_EQ(rows.empty(), !calibrated && std::string(Table::name) == "calibration") << Table::name;
    });
    unsigned flags = 0;
    for (const recorded_task& t : r.tasks) flags |= t.flags;
    EXPECT_EQ(flags, 255u);
  }
}

TEST(changed_recordings, as_it_was_made_the_sample_of_places_can_be_used) {
  const changed same([](changing_file&) {}, sample::of_places);
  const uses u = same.use(0);
  EXPECT_TRUE(u.read && u.explained && u.placed && u.replayed);
  const recording r = same.read();
  EXPECT_EQ(r.places.size(), 2u);
  EXPECT_EQ(r.messages.size(), 11u);
}

/// Every column of every table, in every row, with values at the limits of their ranges.
TEST(changed_recordings, with_one_changed_cell_give_a_result_or_an_error) {
  std::vector<cell_value> values{{cell_value::null}, {cell_value::text, 0, "x\x1b[2J"}, {cell_value::real, 1}};
  for (const std::int64_t n :
       {-2L, -1L, 0L, 1L, 2L, 3L, 5L, 8L, 34L, 127L, 255L, 32767L, 65536L, 2147483647L, 4294967295L})
    values.push_back({cell_value::whole, n});
  for (const int bit : {40, 50, 62}) values.push_back({cell_value::whole, std::int64_t{1} << bit});
  constexpr std::size_t of_these = 3, chosen = test::sanitized ? 1 : 0;  // with a sanitizer others than without
  std::size_t seen = 0, tried = 0, read = 0, replayed = 0;
  for (const test::table_of_file& t : test::tables_of_file()) {
    const sample of_table = is_of_places(t.name) ? sample::of_places : sample::calibrated;
    const std::int64_t rows = changing_file(whole(of_table)).rows(t.name);
    for (const std::string& column : t.columns) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (const cell_value& value : values) {
          if (++seen % 4 != 0 && !everything && t.name != "task" && row > 0) continue;
          if (of_table == sample::of_places && !everything && row > 2) continue;
          if (seen % of_these != chosen && !everything) continue;
          ++tried;
          SCOPED_TRACE(t.name + "." + column + " in row " + std::to_string(row) + ": " + std::to_string(value.number));
          const changed one([&](changing_file& f) { f.set(t.name, column, row, value); },
                            seen / of_these % 2 == 0 || of_table == sample::of_places ? of_table : sample::plain);
          const uses u = one.use(static_cast<std::uint8_t>(seen % 251));
          read += u.read;
          replayed += u.replayed;
        }
      }
    }
  }
  EXPECT_GT(tried, 5000u / of_these);
  EXPECT_GT(read, tried / 20);
  EXPECT_GT(replayed, tried / 50);
}

TEST(changed_recordings, with_rows_removed_or_repeated_give_a_result_or_an_error) {
  std::uint8_t choice = 0;
  for (const test::table_of_file& t : test::tables_of_file()) {
    const sample in = is_of_places(t.name) ? sample::of_places : sample::plain;
    const std::int64_t rows = changing_file(whole(in)).rows(t.name);
    const std::string id = t.name == "meta" ? "key" : "rowid";
    changed("DELETE FROM " + t.name, in).use(choice++);
    changed("DROP TABLE " + t.name, in).use(choice++);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::string at = " FROM " + t.name + " LIMIT 1 OFFSET " + std::to_string(row);
      changed("DELETE FROM " + t.name + " WHERE " + id + " = (SELECT " + id + at + ")", in).use(choice++);
      changed("INSERT INTO " + t.name + " SELECT *" + at, in).use(choice++);
    }
  }
}

/// Bytes of the file itself: damage that SQLite detects, or does not detect.
TEST(changed_recordings, with_damaged_pages_give_a_result_or_an_error) {
  const scratch_path path;
  for (std::size_t at = 0; at < whole().size(); at += !everything ? 397 : 41) {
    for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string image = whole();
      image[at] = byte;
      path.write(image);
      test::use_recording(path.name(), two_nodes(), 0);
    }
  }
}

TEST(changed_recordings, have_tables_in_the_place_of_tables) {
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT i, 0 FROM n";
  EXPECT_THAT([&] { changed("DROP TABLE worker; CREATE VIEW worker(id, node) AS " + endless).read(); },
              ThrowsMessage<error>(AllOf(HasSubstr("damaged: 'worker' is a view"), HasSubstr("expected a table"))));
  // Under a false name in the list of tables, and as a table with computed columns.
  EXPECT_THROW(changed("PRAGMA writable_schema = ON; DROP TABLE worker; CREATE VIEW worker(id, node) AS " + endless +
                       "; UPDATE sqlite_master SET type = 'table' WHERE name = 'worker'")
                   .read(),
               error);
  EXPECT_THAT([] { changed("DROP TABLE mark; CREATE VIRTUAL TABLE mark USING dbstat").read(); },
              ThrowsMessage<error>(HasSubstr("mark")));
  EXPECT_THAT(
      [] {
        changed("DROP TABLE mark; CREATE TABLE mark(name TEXT AS (hex(zeroblob(9000000))), at_ns INTEGER)").read();
      },
      ThrowsMessage<error>(HasSubstr("table mark is not defined as by Kith")));
  EXPECT_THAT([] { changed("ALTER TABLE idle ADD COLUMN more INTEGER").read(); },
              ThrowsMessage<error>(
                  HasSubstr("expected CREATE TABLE idle(worker INTEGER, begun_ns INTEGER, ended_ns INTEGER)")));
  EXPECT_THAT([] { changed("DROP TABLE access").read(); }, ThrowsMessage<error>(HasSubstr("there is no table access")));
  // Tables that Kith does not read may exist: from a later version, or the user's own.
  EXPECT_NO_THROW(
      changed("CREATE TABLE other(x); CREATE VIEW busy AS SELECT worker FROM task; CREATE INDEX i ON task(type)")
          .read());
}

TEST(changed_recordings, have_texts_of_a_bounded_size) {
  EXPECT_THAT([] { changed("UPDATE meta SET value = hex(zeroblob(9000000)) WHERE key = 'engine'").read(); },
              ThrowsMessage<error>(HasSubstr("more than 16 MiB")));
  EXPECT_THAT([] { changed("UPDATE type SET name = zeroblob(100) WHERE id = 0").read(); },
              ThrowsMessage<error>(HasSubstr("table type, column name: '")));
  EXPECT_THAT([] { changed("UPDATE type SET name = NULL WHERE id = 0").read(); },
              ThrowsMessage<error>(HasSubstr("'nothing', expected a text")));
  EXPECT_THAT([] { changed("UPDATE task SET worker = char(27) || '[2J' WHERE id = 1").read(); },
              ThrowsMessage<error>(HasSubstr("'\\x1b[2J', expected a whole number")));
}

/// A program whose simulation would not end, or that does not fit into memory.
TEST(changed_recordings, of_programs_without_end_are_refused) {
  const changed long_ones("UPDATE task SET work_ns = 4000000000000000 WHERE flags = 0");
  EXPECT_THAT([&] { sim::program_of(long_ones.read()); }, ThrowsMessage<error>(HasSubstr("52 days")));
  const changed large("UPDATE region SET bytes = 140737488355327 WHERE id = 0");
  const sim::program p = sim::program_of(large.read());
  sim::run_options small_chunks;
  small_chunks.chunk_bytes = 1 << 17;
  EXPECT_THAT([&] { sim::simulate(p, two_nodes(), small_chunks); }, ThrowsMessage<error>(HasSubstr("--chunk")));
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) names.push_back(file.path().string());
  std::ranges::sort(names);
  return names;
}

std::vector<std::uint8_t> bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(fuzz_corpus, of_recordings_gives_results_or_errors) {
  std::size_t read = 0, all = 0;
  for (const std::string& file : files_in(KITH_TEST_DATA "/../fuzz/corpus/recordings")) {
    SCOPED_TRACE(file);
    read += test::recording_input(bytes_of(file)).run().read;
    ++all;
  }
  EXPECT_GT(all, 10u);
  EXPECT_GT(read, 0u);
}

TEST(fuzz_corpus, of_machines_gives_machines_or_errors) {
  std::size_t understood = 0, all = 0;
  for (const std::string& file : files_in(KITH_TEST_DATA "/../fuzz/corpus/machines")) {
    SCOPED_TRACE(file);
    understood += test::use_machine(bytes_of(file));
    ++all;
  }
  EXPECT_GT(all, 10u);
  EXPECT_GT(understood, 0u);
}

}  // namespace
