// The lines that the driver (kith-bench) and its children (kith-bench-peer-<system>) exchange. Used by both
// sides; does not know any system.
//
//   hello                                                        ok 0 0 <version>
//   metg  <pattern> <width> <steps> <iterations> <prebuilt>      ok <nanoseconds> <tasks>
//   dag   <case> 0 <size> 0 <prebuilt>                           ok <nanoseconds> <tasks>
//   check <pattern|case> <width> <steps|size> 0 <prebuilt>       ok 0 <tasks>
//   bytes <case> 0 <size> 0 <prebuilt>                           ok <bytes> <tasks>
//   quit                                                         (the child ends)
//
// A child that cannot do what is asked answers `no <reason>`.
#pragma once

#include <cstdint>
#include <string>

namespace kith::bench {

enum class verb { hello, metg, dag, check, bytes, quit };

struct request {
  verb what = verb::hello;
  std::string subject = "-";    // a pattern, or a case of `dag`
  int width = 0;                // of a pattern
  std::int64_t size = 0;        // steps of a pattern; rows, tiles or tasks of a case
  std::int64_t iterations = 0;  // of the kernel, in each task of a pattern
  bool prebuilt = false;        // the graph is built before the clock starts
};

struct reply {
  bool ok = false;
  double nanoseconds = 0;  // for `bytes`: the bytes of all tasks together
  std::int64_t tasks = 0;
  std::string text;  // for `hello`, the version; for `no`, the reason
};

std::string to_line(const request&);
std::string to_line(const reply&);
/// Both throw std::runtime_error that quotes the line and says what was expected.
request request_of(const std::string& line);
reply reply_of(const std::string& line);

}  // namespace kith::bench
