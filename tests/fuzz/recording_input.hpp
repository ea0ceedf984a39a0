// Reads a fuzzer's input as changes of a recording, so that mutated bytes remain changes of cells and rows.
//
// Two bytes select the recording and how it is replayed. Each change is 12 bytes: kind, table, column, row,
// and a number.
#pragma once

#include "fuzz/changes.hpp"
#include "fuzz/sample_recording.hpp"
#include "fuzz/use_recording.hpp"
#include "support/sample_of_places.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace kith::test {

class recording_input {
 public:
  explicit recording_input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  uses run() {
    static const machine_model machine = model_from_file(KITH_TEST_DATA "/machines/small-caches.toml");
    static const std::array<std::string, 3> samples{image_of(sample_recording::make(machine, false)),
                                                    image_of(sample_recording::make(machine, true)),
                                                    image_of(sample_of_places())};
    const std::uint8_t which = take(), choice = take();
    changing_file file(samples[which >= of_places ? 2 : which % 2]);
    std::vector<std::pair<std::size_t, char>> patches;  // of the file's bytes, made last
    while (bytes_.size() - at_ >= 12) change(file, patches);
    std::string image = file.image();
    for (const auto& [at, byte] : patches) {
      if (!image.empty()) image[at % image.size()] = byte;
    }
    static const scratch_path path;
    path.write(image);
    return use_recording(path.name(), machine, choice);
  }

 private:
  static std::string image_of(const recording& r) {
    const scratch_path path;
    write_recording(r, path.name());
    return path.read();
  }
  static constexpr std::uint8_t of_places = 0xc0;   // from here on, the first byte selects the sample of places
  static constexpr std::uint8_t new_stream = 0xfd;  // a kind of change that does not depend on the table

  std::uint8_t take() { return at_ < bytes_.size() ? bytes_[at_++] : std::uint8_t{0}; }

  /// A stream whose bytes are those of the number, with up to 15 touches.
  static void set_stream(changing_file& file, std::uint8_t row, unsigned touches, std::uint64_t number) {
    char bytes[17];
    std::snprintf(bytes, sizeof bytes, "%016llx", static_cast<unsigned long long>(number));
    const std::int64_t rows = std::max<std::int64_t>(1, file.rows("stream"));
    file.run("UPDATE stream SET touches = " + std::to_string(touches % 16) + ", bytes = x'" + std::string(bytes + 2) +
             "' WHERE rowid = (SELECT rowid FROM stream LIMIT 1 OFFSET " + std::to_string(row % rows) + ")");
  }

  void change(changing_file& file, std::vector<std::pair<std::size_t, char>>& patches) {
    const std::uint8_t what = take();
    const table_of_file& t = tables_of_file()[take() % tables_of_file().size()];
    const std::string& column = t.columns[take() % t.columns.size()];
    const std::uint8_t row = take();
    std::uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | take();
    const auto value = static_cast<std::int64_t>(number);
    const std::int64_t rows = std::max<std::int64_t>(1, file.rows(t.name));
    const std::string all = " FROM " + t.name + " LIMIT 1 OFFSET " + std::to_string(row % rows);
    const std::string where = t.name == "meta" ? "key = (SELECT key" : "rowid = (SELECT rowid";
    if (what == new_stream) return set_stream(file, row, static_cast<unsigned>(number >> 56), number);
    switch (what % 16) {
      case 0: file.run("DELETE FROM " + t.name + " WHERE " + where + all + ")"); break;
      case 1: file.run("DELETE FROM " + t.name); break;
      case 2: file.run("INSERT INTO " + t.name + " SELECT *" + all); break;
      case 3: file.run("DROP TABLE " + t.name); break;
      case 4:  // the value of another row
        file.run("UPDATE " + t.name + " SET " + column + " = (SELECT " + column + " FROM " + t.name +
                 " LIMIT 1 OFFSET " + std::to_string(number % static_cast<std::uint64_t>(rows)) + ") WHERE " + where +
                 all + ")");
        break;
      case 5: patches.emplace_back(number >> 8, static_cast<char>(number)); break;
      case 6: file.run(schema_change(t, column, number)); break;
      case 7: file.set(t.name, column, row % rows, {cell_value::text, value, text_of(number)}); break;
      case 8:
        file.set(t.name, column, row % rows, {static_cast<cell_value::kind>(number % cell_value::kinds), value, "x"});
        break;
      case 9: file.set(t.name, column, row % rows, {cell_value::whole, std::int64_t{1} << (number & 63)}); break;
      case 10: file.set(t.name, column, row % rows, {cell_value::whole, static_cast<std::int16_t>(number)}); break;
      case 11: file.set(t.name, column, row % rows, {cell_value::whole, value}); break;
      default: file.set(t.name, column, row % rows, {cell_value::whole, static_cast<std::int8_t>(number)}); break;
    }
  }

  static std::string text_of(std::uint64_t number) {
    static constexpr const char* texts[] = {
        "",         "0",     "-1",        "1e9", "99999999999999999999", "\x1b[2J", "a\nb",
        "\xff\xfe", "steal", "10,5/5,10", "nan", "rip-mw:first=2"};
    if (number % 16 < std::size(texts)) return texts[number % 16];
    return std::string(number / 16 % 100000, 'n');
  }
  /// Puts something other than a table under a table's name.
  static std::string schema_change(const table_of_file& t, const std::string& column, std::uint64_t number) {
    const std::string begin = "DROP TABLE " + t.name + "; ";
    switch (number % 5) {
      case 0:
        return begin + "CREATE VIEW " + t.name + "(" + t.columns.front() +
               ") AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL " + "SELECT i + 1 FROM n) SELECT i FROM n";
      case 1: return begin + "CREATE VIRTUAL TABLE " + t.name + " USING dbstat";
      case 2: return begin + "CREATE TABLE " + t.name + "(" + column + " AS (length(zeroblob(1000000))))";
      case 3: return "ALTER TABLE " + t.name + " ADD COLUMN more INTEGER DEFAULT 7";
      default: return "CREATE INDEX other ON " + t.name + "(" + column + ")";
    }
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace kith::test
