#include "recording/file.hpp"

#include "recording/check.hpp"

#include <kith/error.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kith {

namespace {

/// The tables; docs/recording-format.md describes them. A table that is added may be missing in a file (read_recording()
/// asks); any other change is a new recording_version.
constexpr const char* schema = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE worker(id INTEGER PRIMARY KEY, node INTEGER);
CREATE TABLE type(id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE region(id INTEGER PRIMARY KEY, address INTEGER, bytes INTEGER, home INTEGER);
CREATE TABLE home(region INTEGER, node INTEGER, bytes INTEGER, at_ns INTEGER);
CREATE TABLE task(id INTEGER PRIMARY KEY, type INTEGER, creator INTEGER, scope INTEGER, flags INTEGER, priority INTEGER,
  color INTEGER, node INTEGER, worker INTEGER, created_ns INTEGER, create_until_ns INTEGER, create_ns INTEGER,
  ready_ns INTEGER, started_ns INTEGER, ended_ns INTEGER, work_ns INTEGER,
  explorer INTEGER, explore_started_ns INTEGER, explore_ended_ns INTEGER, key INTEGER);
CREATE TABLE access(task INTEGER, region INTEGER, mode INTEGER, bytes INTEGER, touched INTEGER);
CREATE TABLE dependence(task INTEGER, before INTEGER, bytes INTEGER);
CREATE TABLE wait(task INTEGER, scope INTEGER, worker INTEGER, begun_ns INTEGER, ended_ns INTEGER);
CREATE TABLE steal(worker INTEGER, victim INTEGER, at_ns INTEGER);
CREATE TABLE idle(worker INTEGER, begun_ns INTEGER, ended_ns INTEGER);
CREATE TABLE job(worker INTEGER, tasks INTEGER, dependences INTEGER, begun_ns INTEGER, ended_ns INTEGER);
CREATE TABLE calibration(type INTEGER, size INTEGER, samples INTEGER, bytes INTEGER, plain_ns INTEGER, cold_ns INTEGER,
  warm_ns INTEGER, hot_ns INTEGER);
CREATE TABLE mark(name TEXT, at_ns INTEGER);
CREATE TABLE allocation(address INTEGER, bytes INTEGER, at_ns INTEGER, released_ns INTEGER, distribution INTEGER,
  node INTEGER, huge INTEGER);
)";
constexpr int application = 0x4b495448;  // "KITH", in the database's header

class database {
 public:
  database(const std::string& path, int flags) : path_(path) {
    if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) {
      const std::string why = sqlite3_errmsg(db_);
      sqlite3_close(db_);
      throw error(path + ": " + why);
    }
  }
  ~database() { sqlite3_close(db_); }
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  void check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    throw error(path_ + ": " + (code == SQLITE_NOTADB ? "no recording of Kith" : sqlite3_errmsg(db_)));
  }
  [[noreturn]] void refuse(const std::string& what) const { throw error(path_ + ": damaged: " + what); }
  void run(const std::string& sql) const { check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr)); }
  sqlite3* get() const { return db_; }

 private:
  std::string path_;
  sqlite3* db_ = nullptr;
};

/// A whole number of which every bit counts: kept as the signed one with the same bits.
struct bits_of {
  std::uint64_t& value;
};

/// A prepared statement, rows in or rows out.
class statement {
 public:
  statement(const database& db, const std::string& sql) : db_(db), sql_(sql) {
    db.check(sqlite3_prepare_v2(db.get(), sql.c_str(), -1, &s_, nullptr));
  }
  ~statement() { sqlite3_finalize(s_); }
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;

  template <class... Values>
  void insert(const Values&... values) {
    int at = 0;
    (bind(++at, values), ...);
    db_.check(sqlite3_step(s_));
    sqlite3_reset(s_);
  }
  bool next() {
    const int code = sqlite3_step(s_);
    db_.check(code);
    at_ = 0;
    return code == SQLITE_ROW;
  }
  /// The next columns of the row.
  template <class... Values>
  void take(Values&&... values) {
    (get(std::forward<Values>(values)), ...);
  }
  /// The next column is the row's number, which others refer to it by. Throws kith::error if it is not the next one.
  void take_number(std::size_t next) {
    std::int64_t number = -1;
    get(number);
    if (number != static_cast<std::int64_t>(next))
      db_.refuse("table " + table() + " has row " + std::to_string(number) + " where " + std::to_string(next) +
                 " was expected");
  }

 private:
  void bind(int at, const std::string& text) {
    sqlite3_bind_text(s_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  template <class T>
    requires std::is_integral_v<T>
  void bind(int at, T value) {
    sqlite3_bind_int64(s_, at, static_cast<sqlite3_int64>(value));
  }
  void get(std::string& text) {
    const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(s_, at_));
    text.assign(p == nullptr ? "" : p, static_cast<std::size_t>(sqlite3_column_bytes(s_, at_++)));
  }
  template <class T>
    requires std::is_integral_v<T>
  void get(T& value) {
    const bool whole = sqlite3_column_type(s_, at_) == SQLITE_INTEGER;  // asked before any conversion
    const sqlite3_int64 found = sqlite3_column_int64(s_, at_);
    if (!whole || !std::in_range<limits_of<T>>(found) || (std::is_same_v<T, bool> && found != 0 && found != 1)) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(s_, at_));
      db_.refuse("table " + table() + ", column " + sqlite3_column_name(s_, at_) + ": '" +
                 (text == nullptr ? "nothing" : text) + "', expected " +
                 (std::is_same_v<T, bool> ? "0 or 1"
                                          : "a whole number from " + std::to_string(std::numeric_limits<T>::min()) +
                                                " to " + std::to_string(most_of<T>)));
    }
    value = static_cast<T>(found);
    ++at_;
  }
  void get(bits_of bits) { bits.value = static_cast<std::uint64_t>(sqlite3_column_int64(s_, at_++)); }

  /// bool is no type of whole numbers to std::in_range.
  template <class T>
  using limits_of = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  template <class T>
  static constexpr std::uint64_t most_of =  // a column holds 63 bits and a sign
      std::min<std::uint64_t>(std::numeric_limits<T>::max(), std::numeric_limits<std::int64_t>::max());
  /// That the rows come from: the word behind FROM.
  std::string table() const {
    constexpr std::string_view from = " FROM ";
    const std::size_t at = sql_.find(from);
    if (at == std::string::npos) return "?";
    return sql_.substr(at + from.size(), sql_.find(' ', at + from.size()) - at - from.size());
  }

  const database& db_;
  const std::string sql_;
  sqlite3_stmt* s_ = nullptr;
  int at_ = 0;
};

/// While it lives, a file of this thread that gets larger than the process may have (RLIMIT_FSIZE) is an error of the call
/// that writes it, and no SIGXFSZ, which would end the program.
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

/// Rows for each of `all`; `add(statement, index)`.
template <class Add>
void fill(const database& db, const char* sql, const char* what, std::size_t count, const progress& tell, Add&& add) {
  statement s(db, sql);
  for (std::size_t i = 0; i < count; ++i) {
    if (tell && i % 65536 == 0) tell(what, static_cast<double>(i) / static_cast<double>(count));
    add(s, i);
  }
}

void write_all(const database& db, const recording& r, const progress& tell) {
  fill(db, "INSERT INTO meta VALUES(?,?)", "meta", 1, {}, [&](statement& s, std::size_t) {
    for (const auto& [key, value] : r.meta) s.insert(key, value);
  });
  fill(db, "INSERT INTO worker VALUES(?,?)", "workers", r.worker_node.size(), {},
       [&](statement& s, std::size_t i) { s.insert(i, r.worker_node[i]); });
  fill(db, "INSERT INTO type VALUES(?,?)", "types", r.types.size(), {},
       [&](statement& s, std::size_t i) { s.insert(i, r.types[i]); });
  fill(db, "INSERT INTO region VALUES(?,?,?,?)", "regions", r.regions.size(), tell, [&](statement& s, std::size_t i) {
    const recorded_region& x = r.regions[i];
    s.insert(i, x.address, x.bytes, x.home);
  });
  fill(db, "INSERT INTO home VALUES(?,?,?,?)", "homes", r.homes.size(), tell, [&](statement& s, std::size_t i) {
    const recorded_home& x = r.homes[i];
    s.insert(x.region, x.node, x.bytes, x.at);
  });
  fill(db, "INSERT INTO task VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "writing tasks", r.tasks.size(), tell,
       [&](statement& s, std::size_t i) {
         const recorded_task& t = r.tasks[i];
         s.insert(i, t.type, t.creator, t.scope, t.flags, t.priority, t.color, t.node, t.worker, t.created,
                  t.create_until, t.create_ns, t.ready, t.started, t.ended, t.work_ns, t.explorer, t.explore_started,
                  t.explore_ended, t.key);
       });
  fill(db, "INSERT INTO access VALUES(?,?,?,?,?)", "writing accesses", r.tasks.size(), tell,
       [&](statement& s, std::size_t i) {
         for (std::uint64_t a = r.first_access[i]; a < r.first_access[i + 1]; ++a)
           s.insert(i, r.accesses[a].region, r.accesses[a].mode, r.accesses[a].bytes, r.accesses[a].touched);
       });
  fill(db, "INSERT INTO dependence VALUES(?,?,?)", "writing dependences", r.tasks.size(), tell,
       [&](statement& s, std::size_t i) {
         for (std::uint64_t d = r.first_dependence[i]; d < r.first_dependence[i + 1]; ++d)
           s.insert(i, r.dependences[d].before, r.dependences[d].bytes);
       });
  fill(db, "INSERT INTO wait VALUES(?,?,?,?,?)", "waits", r.waits.size(), tell, [&](statement& s, std::size_t i) {
    const recorded_wait& w = r.waits[i];
    s.insert(w.task, w.scope, w.worker, w.begun, w.ended);
  });
  fill(db, "INSERT INTO steal VALUES(?,?,?)", "steals", r.steals.size(), tell,
       [&](statement& s, std::size_t i) { s.insert(r.steals[i].worker, r.steals[i].victim, r.steals[i].at); });
  fill(db, "INSERT INTO idle VALUES(?,?,?)", "idle", r.idles.size(), tell,
       [&](statement& s, std::size_t i) { s.insert(r.idles[i].worker, r.idles[i].begun, r.idles[i].ended); });
  fill(db, "INSERT INTO job VALUES(?,?,?,?,?)", "jobs", r.jobs.size(), tell, [&](statement& s, std::size_t i) {
    s.insert(r.jobs[i].worker, r.jobs[i].tasks, r.jobs[i].dependences, r.jobs[i].begun, r.jobs[i].ended);
  });
  fill(db, "INSERT INTO calibration VALUES(?,?,?,?,?,?,?,?)", "calibration", r.calibrations.size(), {},
       [&](statement& s, std::size_t i) {
         const recorded_calibration& c = r.calibrations[i];
         s.insert(c.type, c.size, c.samples, c.bytes, c.plain_ns, c.cold_ns, c.warm_ns, c.hot_ns);
       });
  fill(db, "INSERT INTO mark VALUES(?,?)", "marks", r.marks.size(), {},
       [&](statement& s, std::size_t i) { s.insert(r.marks[i].name, r.marks[i].at); });
  fill(db, "INSERT INTO allocation VALUES(?,?,?,?,?,?,?)", "allocations", r.allocations.size(), {},
       [&](statement& s, std::size_t i) {
         const recorded_allocation& a = r.allocations[i];
         s.insert(a.address, a.bytes, a.at, a.released, a.distribution, a.node, a.huge);
       });
}

int pragma(const database& db, const char* name) {
  statement s(db, std::string("PRAGMA ") + name);
  int value = 0;
  if (s.next()) s.take(value);
  return value;
}

}  // namespace

void write_recording(const recording& r, const std::string& file, const progress& tell) {
  const std::string fresh = file + ".new";
  std::error_code why;
  std::filesystem::remove(fresh, why);
  const limit_is_an_error no_signal;
  try {
    const database db(fresh, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    db.run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA application_id=" + std::to_string(application) +
           "; PRAGMA user_version=" + std::to_string(recording_version) + "; BEGIN");
    db.run(schema);
    write_all(db, r, tell);
    db.run("COMMIT");
  } catch (...) {
    std::filesystem::remove(fresh, why);  // a part of a file is of use to nobody
    throw;
  }
  std::filesystem::rename(fresh, file, why);
  if (why) {
    std::error_code ignored;
    std::filesystem::remove(fresh, ignored);
    throw error(file + ": " + why.message());
  }
}

recording read_recording(const std::string& file, const progress& tell) {
  if (!std::filesystem::is_regular_file(file)) {
    const bool parts = std::filesystem::is_directory(parts_of(file));
    throw error(file + (parts ? ": not put together yet; run: kith repair " + file
                              : ": there is no such file; `kith record -o " + file + " -- PROGRAM` makes one"));
  }
  const database db(file, SQLITE_OPEN_READONLY);
  if (pragma(db, "application_id") != application) throw error(file + ": no recording of Kith");
  if (const int version = pragma(db, "user_version"); version != recording_version)
    throw error(file + ": a recording of version " + std::to_string(version) + "; this Kith reads version " +
                std::to_string(recording_version));
  recording r;
  if (tell) tell("reading", 0);
  for (statement s(db, "SELECT key, value FROM meta"); s.next();) {
    std::string key, value;
    s.take(key, value);
    r.meta[key] = value;
  }
  for (statement s(db, "SELECT id, node FROM worker ORDER BY id"); s.next();) {
    s.take_number(r.worker_node.size());
    s.take(r.worker_node.emplace_back());
  }
  for (statement s(db, "SELECT id, name FROM type ORDER BY id"); s.next();) {
    s.take_number(r.types.size());
    s.take(r.types.emplace_back());
  }
  for (statement s(db, "SELECT id, address, bytes, home FROM region ORDER BY id"); s.next();) {
    s.take_number(r.regions.size());
    recorded_region& x = r.regions.emplace_back();
    s.take(bits_of{x.address}, x.bytes, x.home);
  }
  if (statement there(db, "SELECT name FROM sqlite_master WHERE name = 'home'"); there.next()) {
    for (statement s(db, "SELECT region, node, bytes, at_ns FROM home ORDER BY region, at_ns, node"); s.next();) {
      recorded_home& x = r.homes.emplace_back();
      s.take(x.region, x.node, x.bytes, x.at);
    }
  }
  for (statement s(
           db,
           "SELECT id, type, creator, scope, flags, priority, color, node, worker, created_ns, create_until_ns, "
           "create_ns, ready_ns, started_ns, ended_ns, work_ns, explorer, explore_started_ns, "
           "explore_ended_ns, key FROM task ORDER BY id");
       s.next();) {
    s.take_number(r.tasks.size());
    recorded_task& t = r.tasks.emplace_back();
    s.take(t.type, t.creator, t.scope, t.flags, t.priority, t.color, t.node, t.worker, t.created, t.create_until,
           t.create_ns, t.ready, t.started, t.ended, t.work_ns, t.explorer, t.explore_started, t.explore_ended,
           bits_of{t.key});
  }
  if (tell) tell("reading", 0.4);
  const auto in_order = [&](const char* sql, std::vector<std::uint64_t>& first, const auto& add) {
    std::size_t task = 0, count = 0;
    first.assign(1, 0);
    for (statement s(db, sql); s.next(); ++count) {
      std::int64_t of = 0;
      s.take(of);
      if (of < 0 || of >= static_cast<std::int64_t>(r.tasks.size()) || static_cast<std::size_t>(of) < task)
        throw error(file + ": damaged: a row of task " + std::to_string(of) + " is out of order");
      for (; task < static_cast<std::size_t>(of); ++task) first.push_back(count);
      add(s);
    }
    for (; task < r.tasks.size(); ++task) first.push_back(count);
  };
  in_order("SELECT task, region, mode, bytes, touched FROM access ORDER BY rowid", r.first_access, [&](statement& s) {
    recorded_access& a = r.accesses.emplace_back();
    s.take(a.region, a.mode, a.bytes, a.touched);
  });
  if (tell) tell("reading", 0.7);
  in_order("SELECT task, before, bytes FROM dependence ORDER BY rowid", r.first_dependence, [&](statement& s) {
    recorded_dependence& d = r.dependences.emplace_back();
    s.take(d.before, d.bytes);
  });
  for (statement s(db, "SELECT task, scope, worker, begun_ns, ended_ns FROM wait ORDER BY rowid"); s.next();) {
    recorded_wait& w = r.waits.emplace_back();
    s.take(w.task, w.scope, w.worker, w.begun, w.ended);
  }
  for (statement s(db, "SELECT worker, victim, at_ns FROM steal ORDER BY rowid"); s.next();) {
    recorded_steal& x = r.steals.emplace_back();
    s.take(x.worker, x.victim, x.at);
  }
  for (statement s(db, "SELECT worker, begun_ns, ended_ns FROM idle ORDER BY rowid"); s.next();) {
    recorded_idle& x = r.idles.emplace_back();
    s.take(x.worker, x.begun, x.ended);
  }
  // Files of earlier builds have none.
  if (statement there(db, "SELECT name FROM sqlite_master WHERE name = 'job'"); there.next()) {
    for (statement s(db, "SELECT worker, tasks, dependences, begun_ns, ended_ns FROM job ORDER BY rowid"); s.next();) {
      recorded_job& x = r.jobs.emplace_back();
      s.take(x.worker, x.tasks, x.dependences, x.begun, x.ended);
    }
  }
  if (statement there(db, "SELECT name FROM sqlite_master WHERE name = 'calibration'"); there.next()) {
    for (statement s(
             db,
             "SELECT type, size, samples, bytes, plain_ns, cold_ns, warm_ns, hot_ns FROM calibration ORDER BY rowid");
         s.next();) {
      recorded_calibration& c = r.calibrations.emplace_back();
      s.take(c.type, c.size, c.samples, c.bytes, c.plain_ns, c.cold_ns, c.warm_ns, c.hot_ns);
    }
  }
  for (statement s(db, "SELECT name, at_ns FROM mark ORDER BY rowid"); s.next();) {
    recorded_mark& m = r.marks.emplace_back();
    s.take(m.name, m.at);
  }
  for (statement s(
           db, "SELECT address, bytes, at_ns, released_ns, distribution, node, huge FROM allocation ORDER BY rowid");
       s.next();) {
    recorded_allocation& a = r.allocations.emplace_back();
    s.take(bits_of{a.address}, a.bytes, a.at, a.released, a.distribution, a.node, a.huge);
  }
  check_recording(r, file);
  return r;
}

}  // namespace kith
