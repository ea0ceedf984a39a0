#include "recording/database.hpp"

#include "base/printable.hpp"
#include "recording/check.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <filesystem>

namespace kith {

namespace {

constexpr std::size_t shown = 80;  // bytes of a cell, in an error
constexpr int steps_at_once = 1000;

/// In thousands: many times the steps that checking and reading a file of that size take. A file for which SQLite needs
/// more is an error.
std::uint64_t thousands_of_steps(const std::string& path) {
  std::error_code why;
  const std::uintmax_t bytes = std::filesystem::file_size(path, why);
  return 10'000 + (why ? 0 : bytes / 10);
}

int count_down(void* left) {
  auto& steps = *static_cast<std::uint64_t*>(left);
  if (steps != 0) --steps;
  return steps == 0 ? 1 : 0;
}

/// Replaces each run of white space by one blank, and removes blanks around parentheses and commas.
std::string squeezed(std::string_view sql) {
  constexpr std::string_view space = " \t\r\n", tight = "(),";
  std::string text;
  for (const char c : sql) {
    if (space.find(c) != std::string_view::npos) {
      if (!text.empty() && text.back() != ' ' && tight.find(text.back()) == std::string_view::npos) text += ' ';
      continue;
    }
    if (tight.find(c) != std::string_view::npos && text.ends_with(' ')) text.pop_back();
    text += c;
  }
  return text;
}

/// What SQLite found in a file: it begins with a line that names the database, which is always "main".
std::string in_one_line(std::string said) {
  if (said.starts_with("***") && said.find('\n') != std::string::npos) said.erase(0, said.find('\n') + 1);
  std::ranges::replace(said, '\n', ' ');
  return said;
}

}  // namespace

database::database(std::string path, purpose what) : path_(std::move(path)) {
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE |
                    (what == purpose::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  if (sqlite3_open_v2(path_.c_str(), &db_, flags, nullptr) != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(db_);
    sqlite3_close(db_);
    throw error(path_ + ": " + why, error_kind::input);
  }
  if (what == purpose::write) return;
  try {
    harden();
  } catch (...) {
    sqlite3_close(db_);
    throw;
  }
}

/// Disables what a file's schema could use against the reader (SQLite's manual, "Defense against the dark arts").
void database::harden() {
  const std::pair<int, int> settings[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
  };
  for (const auto& [setting, value] : settings) check(sqlite3_db_config(db_, setting, value, nullptr));
  const std::pair<int, int> limits[] = {
      {SQLITE_LIMIT_LENGTH, most_text},   {SQLITE_LIMIT_SQL_LENGTH, 1 << 16}, {SQLITE_LIMIT_COLUMN, 100},
      {SQLITE_LIMIT_EXPR_DEPTH, 20},      {SQLITE_LIMIT_COMPOUND_SELECT, 3},  {SQLITE_LIMIT_VDBE_OP, 25000},
      {SQLITE_LIMIT_FUNCTION_ARG, 8},     {SQLITE_LIMIT_ATTACHED, 0},         {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
      {SQLITE_LIMIT_VARIABLE_NUMBER, 10}, {SQLITE_LIMIT_TRIGGER_DEPTH, 10},   {SQLITE_LIMIT_WORKER_THREADS, 0},
  };
  for (const auto& [limit, value] : limits) sqlite3_limit(db_, limit, value);
  steps_left_ = thousands_of_steps(path_);
  sqlite3_progress_handler(db_, steps_at_once, count_down, &steps_left_);
  // The file's header may ask for a cache of any size. If the file were mapped, truncating it would end the process.
  // One transaction for all statements: otherwise each takes and drops its locks, and looks for a journal.
  run("PRAGMA cell_size_check=ON; PRAGMA cache_size=-8000; PRAGMA mmap_size=0; BEGIN");
}

void database::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  if (code == SQLITE_NOTADB)
    throw error(path_ + ": no recording of Kith; `kith record -o FILE -- PROGRAM` makes one", error_kind::input);
  if (code == SQLITE_INTERRUPT) refuse("it takes more steps to read than a file of its size can need");
  if (code == SQLITE_TOOBIG) refuse("it has a text or a row of more than " + std::to_string(most_text >> 20) + " MiB");
  const std::string said = printable(sqlite3_errmsg(db_), 4 * shown);
  if (code == SQLITE_CORRUPT) refuse(said);
  throw error(path_ + ": " + said, error_kind::input);
}

void database::refuse(const std::string& what) const {
  throw error(path_ + ": damaged: " + what + next_step_if_damaged, error_kind::input);
}

bool database::has_table(std::string_view name, std::string_view definition) const {
  const std::string table(name);
  {
    statement found(*this, "SELECT type, sql FROM sqlite_master WHERE name = '" + table + "'");
    if (!found.next()) return false;
    std::string type, sql;
    found.take(type);
    if (type != "table") refuse("'" + table + "' is a " + printable(type, shown) + ", expected a table");
    found.take(sql);
    // It must be exactly the table that Kith makes: not a view or virtual table of that name, and without
    // computed columns.
    const std::string expected = "CREATE TABLE " + std::string(definition);
    if (sql != expected && squeezed(sql) != squeezed(expected))
      refuse("table " + table + " is not defined as by Kith: expected " + expected);
  }
  statement checked(*this, "PRAGMA quick_check('" + table + "')");
  std::string said = "ok";
  if (checked.next()) checked.take(said);
  if (said != "ok") refuse("table " + table + ": " + printable(in_one_line(said), 4 * shown));
  return true;
}

statement::statement(const database& db, const std::string& sql) : db_(db), sql_(sql) {
  db.check(sqlite3_prepare_v2(db.get(), sql.c_str(), -1, &s_, nullptr));
}

void statement::take(std::string& text) {
  if (sqlite3_column_type(s_, at_) != SQLITE_TEXT) db_.refuse(here() + "a text");
  const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(s_, at_));
  text.assign(p == nullptr ? "" : p, static_cast<std::size_t>(sqlite3_column_bytes(s_, at_)));
  ++at_;
}

void statement::take(std::vector<std::uint8_t>& bytes) {
  if (sqlite3_column_type(s_, at_) != SQLITE_BLOB) db_.refuse(here() + "a blob");
  const auto* p = static_cast<const std::uint8_t*>(sqlite3_column_blob(s_, at_));
  bytes.assign(p, p + sqlite3_column_bytes(s_, at_));
  ++at_;
}

void statement::take_number(std::size_t next) {
  std::int64_t number = -1;
  take(number);
  if (number == static_cast<std::int64_t>(next)) return;
  const std::string where = here();
  db_.refuse(where.substr(0, where.find(',')) + " has row " + std::to_string(number) + " where " +
             std::to_string(next) + " was expected");
}

void statement::refuse_number(std::int64_t least, std::uint64_t most) {
  db_.refuse(here() + (least == 0 && most == 1
                           ? "0 or 1"
                           : "a whole number from " + std::to_string(least) + " to " + std::to_string(most)));
}

std::string statement::here() {
  constexpr std::string_view from = " FROM ";  // the table's name is the word after it
  const std::size_t at = sql_.find(from);
  const std::string table = at == std::string::npos
                                ? "?"
                                : sql_.substr(at + from.size(), sql_.find(' ', at + from.size()) - at - from.size());
  const int column = std::min(at_, sqlite3_column_count(s_) - 1);
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s_, column));
  const std::string value = text == nullptr
                                ? "nothing"
                                : printable({text, static_cast<std::size_t>(sqlite3_column_bytes(s_, column))}, shown);
  const char* const name = sqlite3_column_name(s_, column);
  return "table " + table + ", column " + (name == nullptr ? "?" : name) + ": '" + value + "', expected ";
}

}  // namespace kith
