#include "recording/file.hpp"

#include "base/replacement.hpp"
#include "recording/check.hpp"
#include "recording/columns.hpp"
#include "recording/completed_times.hpp"
#include "recording/database.hpp"
#include "recording/ready_times.hpp"
#include "recording/table_text.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace kith {

namespace {

constexpr int application = 0x4b495448;  // "KITH", in the database's header
constexpr const char* meta_definition = "meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID";

using columns::holds;
using columns::leads;

/// Tables that are there only if addresses were recorded.
template <class Table>
constexpr bool is_of_addresses =
    std::same_as<Table, columns::site> || std::same_as<Table, columns::block> || std::same_as<Table, columns::stream>;

/// Tables that are there only if the program had places.
template <class Table>
constexpr bool is_of_places = std::same_as<Table, columns::place> || std::same_as<Table, columns::message>;

/// A table that is there only if something was counted.
template <class Table>
constexpr bool is_of_counters = std::same_as<Table, columns::counts>;

/// Tables that were added without a new recording_version; files of earlier builds do not have them.
template <class Table>
constexpr bool may_be_missing =
    std::same_as<Table, columns::home> || std::same_as<Table, columns::job> ||
    std::same_as<Table, columns::calibration> || is_of_addresses<Table> || is_of_places<Table> || is_of_counters<Table>;

/// While it lives, a file that this thread makes larger than the process may (RLIMIT_FSIZE) is an error of the
/// call that writes it, and not a SIGXFSZ, which would end the program.
class limit_is_an_error {
 public:
  limit_is_an_error() {
    sigemptyset(&only_);
    sigaddset(&only_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~limit_is_an_error() {
    constexpr timespec no_time{};
    const int kept = errno;
    while (::sigtimedwait(&only_, nullptr, &no_time) < 0 && errno == EINTR) {
    }
    errno = kept;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  limit_is_an_error(const limit_is_an_error&) = delete;
  limit_is_an_error& operator=(const limit_is_an_error&) = delete;

 private:
  sigset_t only_, before_;
};

template <class Table>
std::string insertion() {
  std::string text = std::string("INSERT INTO ") + Table::name + " VALUES(";
  for (const char c : columns::names<Table>()) text += c == ',' ? "?," : "";
  return text + "?)";
}

/// The index of each task's first row, for tables whose rows belong to tasks.
template <class Table, class Recording>
auto* firsts_of(Recording& r) {
  if constexpr (std::same_as<Table, columns::access>) {
    return &r.first_access;
  } else if constexpr (std::same_as<Table, columns::stream>) {
    return &r.first_stream;
  } else {
    return &r.first_dependence;
  }
}

template <class Table>
void write_rows(const database& db, const recording& r, const std::vector<typename Table::row>& rows,
                const progress& tell) {
  statement s(db, insertion<Table>());
  const std::string what = std::string("writing ") + Table::name;
  std::size_t task = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (tell && i % 65536 == 0) tell(what.c_str(), static_cast<double>(i) / static_cast<double>(rows.size()));
    if constexpr (Table::begins == leads::own_number) s.put(i);
    if constexpr (Table::begins == leads::task) {
      while (i >= (*firsts_of<Table>(r))[task + 1]) ++task;
      s.put(task);
    }
    Table::list(rows[i], [&](const char*, const auto& value, holds, int = 1) { s.put(value); });
    s.insert();
  }
}

void write_all(const database& db, const recording& r, const progress& tell) {
  db.run(std::string("CREATE TABLE ") + meta_definition);
  statement meta(db, "INSERT INTO meta VALUES(?,?)");
  for (const auto& [key, value] : r.meta) {
    meta.put(key);
    meta.put(value);
    meta.insert();
  }
  columns::for_each_table(r, [&]<class Table>(Table, const auto& rows) {
    if (is_of_addresses<Table> && r.blocks.empty()) return;
    if (is_of_places<Table> && r.places.empty()) return;
    if (is_of_counters<Table> && r.counts.empty()) return;
    db.run("CREATE TABLE " + columns::definition<Table>());
    write_rows<Table>(db, r, rows, tell);
  });
}

/// Rows that belong to tasks, in the order of the tasks. next(): a row belongs to `task`; false if that is out
/// of order.
class owners {
 public:
  explicit owners(std::vector<std::uint64_t>& first) : first_(first) { first_.assign(1, 0); }
  bool next(std::int64_t task, std::size_t tasks, std::size_t row) {
    if (task < static_cast<std::int64_t>(first_.size()) - 1 || task >= static_cast<std::int64_t>(tasks)) return false;
    end(static_cast<std::size_t>(task), row);
    return true;
  }
  void end(std::size_t task, std::size_t row) { first_.resize(task + 1, row); }

 private:
  std::vector<std::uint64_t>& first_;
};

template <class Table>
void read_rows(const database& db, int version, recording& r, std::vector<typename Table::row>& rows) {
  const bool there = db.has_table(Table::name, columns::definition<Table>(version));
  if (!there && !may_be_missing<Table>) db.refuse(std::string("there is no table ") + Table::name);
  std::string order = Table::begins == leads::own_number ? "id" : "rowid";
  if (std::same_as<Table, columns::home>) order = "region, at_ns, node";
  const auto read = [&](auto&& lead) {
    for (statement s(db, "SELECT " + columns::names<Table>(version) + " FROM " + Table::name + " ORDER BY " + order);
         s.next();) {
      lead(s);
      Table::list(rows.emplace_back(), [&](const char*, auto& value, holds what, int since = 1) {
        if (since > version) return;
        if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, std::uint64_t>) {
          if (what == holds::bits) return s.take_bits(value);
        }
        s.take(value);
      });
    }
  };
  if constexpr (Table::begins == leads::task) {
    owners owner_rows(*firsts_of<Table>(r));
    if (there) {
      read([&](statement& s) {
        std::int64_t task = 0;
        s.take(task);
        if (!owner_rows.next(task, r.tasks.size(), rows.size()))
          db.refuse(std::string("table ") + Table::name + ", row " + std::to_string(rows.size()) + ": task is " +
                    std::to_string(task) + ", expected rows in the order of tasks, of which there are " +
                    std::to_string(r.tasks.size()));
      });
    }
    owner_rows.end(r.tasks.size(), rows.size());
  } else if (there) {
    read([&](statement& s) {
      if constexpr (Table::begins == leads::own_number) s.take_number(rows.size());
    });
  }
}

void read_meta(const database& db, recording& r) {
  if (!db.has_table("meta", meta_definition)) db.refuse("there is no table meta");
  for (statement s(db, "SELECT key, value FROM meta"); s.next();) {
    std::string key, value;
    s.take(key);
    s.take(value);
    r.meta[key] = value;
  }
}

int pragma(const database& db, const char* name) {
  statement s(db, std::string("PRAGMA ") + name);
  int value = 0;
  if (s.next()) s.take(value);
  return value;
}

}  // namespace

void write_recording(const recording& r, const std::string& file, const progress& tell) {
  replacement fresh(file);
  const limit_is_an_error no_signal;
  {
    const database db(fresh.path(), database::purpose::write);
    db.run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA application_id=" + std::to_string(application) +
           "; PRAGMA user_version=" + std::to_string(recording_version) + "; BEGIN");
    write_all(db, r, tell);
    db.run("COMMIT");
  }
  fresh.put_in_place();
}

/// Throws if the file cannot be opened, or is shorter than its header says: SQLite reports that as damage.
void refuse_cut_off(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw error(file + ": cannot be read: " + std::system_category().message(errno), error_kind::input);
  std::array<unsigned char, 32> head{};
  if (!in.read(reinterpret_cast<char*>(head.data()), head.size())) return;  // too short for a database: SQLite says so
  const auto number = [&head](std::size_t at, int bytes) {                  // most significant byte first
    std::uintmax_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | head[at + static_cast<std::size_t>(i)];
    return value;
  };
  const std::uintmax_t page = number(16, 2), expected = number(28, 4) * (page == 1 ? 65536 : page);
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  if (std::memcmp(head.data(), "SQLite format 3", 16) == 0 && size < expected)
    throw error(file + ": cut off: " + std::to_string(size) + " bytes, expected " + std::to_string(expected) +
                    next_step_if_damaged,
                error_kind::input);
}

void refuse_to_replace(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored) || std::filesystem::file_size(file, ignored) == 0) return;
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw error(file + ": exists and cannot be read, so that it may be no recording; choose another name",
                error_kind::input);
  std::array<unsigned char, 72> head{};  // SQLite's, up to the number of the application
  const std::array<unsigned char, 4> ours{application >> 24 & 255, application >> 16 & 255, application >> 8 & 255,
                                          application & 255};
  if (in.read(reinterpret_cast<char*>(head.data()), head.size()) && std::equal(ours.begin(), ours.end(), &head[68]))
    return;
  throw error(file + ": exists and is not a recording; remove it, or choose another name", error_kind::input);
}

recording read_recording(const std::string& file, const progress& tell) {
  std::error_code ignored;  // such as a name that is too long
  if (std::filesystem::is_directory(file, ignored))
    throw error(file + ": is a folder; expected a recording", error_kind::input);
  if (!std::filesystem::is_regular_file(file, ignored)) {
    const bool parts = std::filesystem::is_directory(parts_of(file), ignored);
    throw error(file + (parts ? ": not put together yet; run: kith repair " + file
                              : ": there is no such file; `kith record -o " + file + " -- PROGRAM` makes one"),
                error_kind::input);
  }
  refuse_cut_off(file);
  const database db(file, database::purpose::read);
  if (pragma(db, "application_id") != application)
    throw error(file + ": no recording of Kith; `kith record -o FILE -- PROGRAM` makes one", error_kind::input);
  const int version = pragma(db, "user_version");
  if (version < 1 || version > recording_version)
    throw error(file + ": a recording of version " + std::to_string(version) + "; this Kith reads versions 1 to " +
                    std::to_string(recording_version) + (version > recording_version ? "; take a later Kith" : ""),
                error_kind::input);
  recording r;
  r.file = file;
  read_meta(db, r);
  double done = 0;
  columns::for_each_table(r, [&]<class Table>(Table, auto& rows) {
    if (tell) tell("reading", done);
    read_rows<Table>(db, version, r, rows);
    done += std::same_as<Table, columns::task> || std::same_as<Table, columns::access> ? 0.3 : 0.03;
  });
  check_recording(r, file);
  if (version < 2) {  // the file has only the ends of bodies
    set_completed_times(r);
    set_ready_times(r);
  }
  return r;
}

}  // namespace kith
