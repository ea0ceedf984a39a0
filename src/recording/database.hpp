// SQLite as recordings use it: to write a new database, or to read one of any origin. For file.cpp.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

/// The largest size of a text, a blob or a whole row in a file.
inline constexpr int most_text = 16 << 20;

class database {
 public:
  enum class purpose : std::uint8_t { write, read };

  /// To write: the file exists and is empty. To read: nothing in the file is trusted. Views, triggers and functions
  /// that its schema defines have no effect. The size of texts and the steps of all statements together are bounded.
  /// Throws kith::error.
  database(std::string path, purpose);
  ~database() { sqlite3_close(db_); }
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  /// Throws kith::error if the result code of a call is a failure.
  void check(int code) const;
  /// Throws kith::error saying that the file is damaged.
  [[noreturn]] void refuse(const std::string& what) const;
  void run(const std::string& sql) const { check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr)); }
  /// False if there is no table of this name. Throws kith::error if the name is anything but a table with this
  /// definition (the text after CREATE TABLE), or if its pages are not in order.
  bool has_table(std::string_view name, std::string_view definition) const;
  sqlite3* get() const { return db_; }

 private:
  void harden();

  std::string path_;
  sqlite3* db_ = nullptr;
  std::uint64_t steps_left_ = 0;  // of SQLite's virtual machine, in thousands
};

/// A prepared statement that takes rows in or gives rows out.
class statement {
 public:
  statement(const database& db, const std::string& sql);
  ~statement() { sqlite3_finalize(s_); }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  /// The next value of a row to insert; call insert() after the last one.
  void put(const std::string& text) {
    sqlite3_bind_text(s_, ++at_, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  /// The bytes must stay until insert().
  void put(const std::vector<std::uint8_t>& bytes) {
    // An empty vector has no address, and that would be NULL.
    sqlite3_bind_blob64(s_, ++at_, bytes.empty() ? "" : static_cast<const void*>(bytes.data()), bytes.size(),
                        SQLITE_STATIC);
  }
  template <class T>
    requires std::is_integral_v<T>
  void put(T value) {
    sqlite3_bind_int64(s_, ++at_, static_cast<sqlite3_int64>(value));
  }
  void insert() {
    db_.check(sqlite3_step(s_));
    sqlite3_reset(s_);
    at_ = 0;
  }

  /// Steps to the next row; false if there is none.
  bool next() {
    const int code = sqlite3_step(s_);
    db_.check(code);
    at_ = 0;
    return code == SQLITE_ROW;
  }
  /// The next column of the row. Throws kith::error if the column is not a whole number that T can hold, not a
  /// text, or not a blob.
  template <class T>
    requires std::is_integral_v<T>
  void take(T& value) {
    const bool whole = sqlite3_column_type(s_, at_) == SQLITE_INTEGER;  // must be read before any conversion
    const sqlite3_int64 found = sqlite3_column_int64(s_, at_);
    if (!whole || !std::in_range<limits_of<T>>(found) || (std::is_same_v<T, bool> && found != 0 && found != 1))
      refuse_number(std::is_same_v<T, bool> ? 0 : std::numeric_limits<T>::min(),
                    std::is_same_v<T, bool> ? 1 : most_of<T>);
    value = static_cast<T>(found);
    ++at_;
  }
  void take(std::string& text);
  void take(std::vector<std::uint8_t>& bytes);
  /// A 64-bit value, stored as the signed number with the same bits.
  void take_bits(std::uint64_t& value) {
    std::int64_t found = 0;
    take(found);
    value = static_cast<std::uint64_t>(found);
  }
  /// The next column is the row's own number, by which other rows refer to it. Throws kith::error if it is not `next`.
  void take_number(std::size_t next);

 private:
  /// std::in_range does not accept bool.
  template <class T>
  using limits_of = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  template <class T>
  static constexpr std::uint64_t most_of =  // a column holds 63 bits and a sign
      std::min<std::uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<std::int64_t>::max());
  [[noreturn]] void refuse_number(std::int64_t least, std::uint64_t most);
  /// "table t, column c: '...', expected ".
  std::string here();

  const database& db_;
  const std::string sql_;
  sqlite3_stmt* s_ = nullptr;
  int at_ = 0;
};

}  // namespace kith
