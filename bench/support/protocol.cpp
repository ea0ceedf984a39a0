#include "protocol.hpp"

#include <sstream>
#include <stdexcept>

namespace kith::bench {

namespace {

[[noreturn]] void wrong(const std::string& line, const char* expected) {
  throw std::runtime_error("benchmark protocol: got \"" + line + "\", expected " + expected);
}

const char* name_of(verb v) {
  switch (v) {
    case verb::hello: return "hello";
    case verb::metg: return "metg";
    case verb::dag: return "dag";
    case verb::check: return "check";
    case verb::bytes: return "bytes";
    case verb::quit: return "quit";
  }
  return "?";
}

}  // namespace

std::string to_line(const request& r) {
  std::ostringstream line;
  line << name_of(r.what);
  if (r.what != verb::hello && r.what != verb::quit) {
    line << ' ' << r.subject << ' ' << r.width << ' ' << r.size << ' ' << r.iterations << ' ' << r.prebuilt;
  }
  return line.str();
}

request request_of(const std::string& line) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  request r;
  for (verb v : {verb::hello, verb::metg, verb::dag, verb::check, verb::bytes, verb::quit}) {
    if (what != name_of(v)) continue;
    r.what = v;
    if (v == verb::hello || v == verb::quit) return r;
    if (!(words >> r.subject >> r.width >> r.size >> r.iterations >> r.prebuilt)) {
      wrong(line, "subject, width, size, iterations and 0 or 1 after the verb");
    }
    return r;
  }
  wrong(line, "hello, metg, dag, check, bytes or quit");
}

std::string to_line(const reply& r) {
  std::ostringstream line;
  line.precision(17);
  if (!r.ok) {
    line << "no " << r.text;
  } else {
    line << "ok " << r.nanoseconds << ' ' << r.tasks << ' ' << r.text;
  }
  return line.str();
}

reply reply_of(const std::string& line) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  reply r;
  r.ok = what == "ok";
  if (!r.ok && what != "no") wrong(line, "an answer that begins with ok or no");
  if (r.ok && !(words >> r.nanoseconds >> r.tasks)) wrong(line, "a time and a number of tasks after ok");
  std::getline(words >> std::ws, r.text);
  return r;
}

}  // namespace kith::bench
