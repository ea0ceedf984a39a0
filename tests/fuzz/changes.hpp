// Changes of a recording's file: cells, rows, tables, bytes. For fuzzers, and for tests of files of any origin.
#pragma once

#include "recording/table_text.hpp"

#include <sqlite3.h>

#include <unistd.h>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kith::test {

struct table_of_file {
  std::string name;
  std::vector<std::string> columns;  // including ids, and the task that a row belongs to
};

/// All tables of a recording, with their columns.
inline const std::vector<table_of_file>& tables_of_file() {
  static const std::vector<table_of_file> all = [] {
    std::vector<table_of_file> found{{"meta", {"key", "value"}}};
    recording none;
    columns::for_each_table(none, [&]<class Table>(Table, auto&) {
      table_of_file& t = found.emplace_back();
      t.name = Table::name;
      std::string words = columns::names<Table>() + ", ";
      for (std::size_t end; (end = words.find(", ")) != std::string::npos; words.erase(0, end + 2))
        t.columns.push_back(words.substr(0, end));
    });
    return found;
  }();
  return all;
}

/// A value that a cell can be set to.
struct cell_value {
  enum kind : std::uint8_t { whole, real, text, blob, null, kinds };
  kind what = whole;
  std::int64_t number = 0;
  std::string bytes = {};  // of a text or blob
};

/// A file in memory that SQL can change.
class changing_file {
 public:
  explicit changing_file(const std::string& image) {
    sqlite3_open_v2(":memory:", &db_, SQLITE_OPEN_READWRITE, nullptr);
    auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(image.size()));
    std::memcpy(copy, image.data(), image.size());
    sqlite3_deserialize(db_, "main", copy, static_cast<sqlite3_int64>(image.size()),
                        static_cast<sqlite3_int64>(image.size()),
                        SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
    run("PRAGMA journal_mode=OFF");
    // A change may make an endless view, which the next one asks for its rows.
    sqlite3_progress_handler(db_, 1'000'000, [](void*) { return 1; }, nullptr);
  }
  ~changing_file() { sqlite3_close(db_); }
  changing_file(const changing_file&) = delete;
  changing_file& operator=(const changing_file&) = delete;

  /// A statement that SQL refuses changes nothing.
  void run(const std::string& sql) { sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr); }
  std::int64_t rows(const std::string& table) {
    sqlite3_stmt* s = nullptr;
    std::int64_t found = 0;
    if (sqlite3_prepare_v2(db_, ("SELECT count(*) FROM " + table).c_str(), -1, &s, nullptr) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
      found = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return found;
  }
  void set(const std::string& table, const std::string& column, std::int64_t row, const cell_value& value) {
    const std::string name = table == "meta" ? "key" : "rowid";
    const std::string sql = "UPDATE " + table + " SET " + column + " = ?1 WHERE " + name + " = (SELECT " + name +
                            " FROM " + table + " LIMIT 1 OFFSET " + std::to_string(row) + ")";
    sqlite3_stmt* s = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &s, nullptr) == SQLITE_OK) {
      const auto bytes = static_cast<int>(value.bytes.size());
      switch (value.what) {
        case cell_value::whole: sqlite3_bind_int64(s, 1, value.number); break;
        case cell_value::real: sqlite3_bind_double(s, 1, static_cast<double>(value.number) / 3); break;
        case cell_value::text: sqlite3_bind_text(s, 1, value.bytes.data(), bytes, SQLITE_TRANSIENT); break;
        case cell_value::blob: sqlite3_bind_blob(s, 1, value.bytes.data(), bytes, SQLITE_TRANSIENT); break;
        case cell_value::null:
        case cell_value::kinds: break;
      }
      sqlite3_step(s);
    }
    sqlite3_finalize(s);
  }
  std::string image() {
    sqlite3_int64 size = 0;
    unsigned char* const bytes = sqlite3_serialize(db_, "main", &size, 0);
    std::string copy(reinterpret_cast<const char*>(bytes), bytes == nullptr ? 0 : static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    return copy;
  }

 private:
  sqlite3* db_ = nullptr;
};

/// A file of this process, in memory if the system has a folder for that.
class scratch_path {
 public:
  scratch_path() {
    static int number = 0;
    const std::filesystem::path folder =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
    path_ =
        (folder / ("kith-changed-" + std::to_string(::getpid()) + "-" + std::to_string(++number) + ".rec")).string();
  }
  ~scratch_path() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  scratch_path(const scratch_path&) = delete;
  scratch_path& operator=(const scratch_path&) = delete;
  const std::string& name() const noexcept { return path_; }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

}  // namespace kith::test
