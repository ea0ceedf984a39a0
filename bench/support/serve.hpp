// The main loop of a child: reads commands, runs programs on the system, answers. Used by each peers/<system>.cpp.
//
// A system S has
//   std::string version() const;
//   bool can(bool prebuilt, bool pattern) const;         // which of the two ways it offers, for patterns and for dags
//   std::int64_t live_limit() const;                     // most tasks that can exist unstarted; 0: no limit
//   template <class Program, class Body>
//   double run(const Program&, Body, bool prebuilt);     // nanoseconds from the first creation to the last end
//   bool verify(const grid&);                            // instead of `check`, if its tasks do not write cells
//   static constexpr bool tracks_addresses;              // if there: it offers the wavefront by address
//   static constexpr bool nests;                         // if there: its tasks may create tasks
#pragma once

#include "bodies.hpp"
#include "dags.hpp"
#include "patterns.hpp"
#include "protocol.hpp"

#include <exception>
#include <stdexcept>
#include <string>

namespace kith::bench {

/// Options that every child is started with.
struct child_options {
  int workers = 1;
  bool realtime = false;
};
child_options child_options_of(int argc, char** argv);
/// Reads the next line of the driver; false at the end of input.
bool next_line(std::string&);
void answer(const std::string& line);

/// Answers requests with `handle(request)`, or with the exception that it throws, until the driver ends the child.
template <class Handle>
int answer_requests(const Handle& handle) {
  for (std::string line; next_line(line);) {
    reply r;
    try {
      const request q = request_of(line);
      if (q.what == verb::quit) return 0;
      r = handle(q);
    } catch (const std::exception& failure) {
      r = {false, 0, 0, failure.what()};
    }
    answer(to_line(r));
  }
  return 0;
}

template <class System>
class server {
 public:
  explicit server(System& s) : system_(s) {}

  int loop() {
    return answer_requests([this](const request& q) { return handle(q); });
  }

 private:
  static reply not_offered() { return {false, 0, 0, "not offered by this system"}; }

  reply handle(const request& q) {
    if (q.what == verb::hello) return {true, 0, 0, system_.version()};
    const bool dag = q.subject == "wavefront" || q.subject == "wavefront-address" || q.subject == "cholesky" ||
                     q.subject == "independent" || q.subject == "nested";
    if (!system_.can(q.prebuilt, !dag)) return not_offered();
    if (q.subject == "wavefront-address") {
      if constexpr (requires { System::tracks_addresses; }) {
        return on_dag(q, wavefront_by_address{fitting<wavefront_by_address>(q)});
      } else {
        return not_offered();
      }
    }
    if (q.subject == "nested") {
      if constexpr (requires { System::nests; }) {
        if (q.what != verb::bytes && !q.prebuilt)
          return on_dag(q, nested{q.size});  // its tasks never all exist at once
      }
      return not_offered();
    }
    if (q.subject == "wavefront") return on_dag(q, wavefront{fitting<wavefront>(q)});
    if (q.subject == "cholesky") return on_dag(q, cholesky{fitting<cholesky>(q)});
    if (q.subject == "independent") {
      if (q.what == verb::bytes) return bytes(fan{fitting<fan>(q)}, q.prebuilt);
      return on_dag(q, independent{q.size});
    }
    const pattern_program program({pattern_of(q.subject), q.width, static_cast<int>(q.size)});
    if (q.what == verb::check) return check(program, q.prebuilt);
    const double time = system_.run(program, kernel_body{q.iterations}, q.prebuilt);
    return {true, time, program.tasks(), ""};
  }

  template <class Program>
  reply on_dag(const request& q, const Program& program) {
    if (q.what == verb::check) return check(program, q.prebuilt);
    if (q.what == verb::bytes) return bytes(program, q.prebuilt);
    const double time = system_.run(program, empty_body{}, q.prebuilt);
    return {true, time, program.tasks(), ""};
  }

  /// The size asked for or, for `bytes`, the largest size whose tasks may all exist unstarted.
  template <class Program>
  std::int64_t fitting(const request& q) const {
    std::int64_t n = q.size;
    if (q.what == verb::bytes && system_.live_limit() > 0) {
      while (n > 1 && Program{n}.tasks() > system_.live_limit()) --n;
    }
    return n;
  }

  template <class Program>
  reply check(const Program& program, bool prebuilt) {
    if constexpr (requires { system_.verify(program.shape); }) {
      if (!system_.verify(program.shape)) return {false, 0, 0, "the results differ from the sequential program's"};
      return {true, 0, program.tasks(), ""};
    }
    const std::size_t size = static_cast<std::size_t>(program.cells());
    std::vector<std::uint64_t> expected(size, 7), got(size, 7);
    std::atomic<std::int64_t> free_expected{0}, free_got{0};
    program.emit(serial_emitter<check_body>{{expected.data(), &free_expected}});
    system_.run(program, check_body{got.data(), &free_got}, prebuilt);
    if (free_expected != free_got) return {false, 0, 0, "not every task ran once"};
    if (expected != got) return {false, 0, 0, "the results differ from the sequential program's"};
    return {true, 0, program.tasks(), ""};
  }

  template <class Program>
  reply bytes(const Program& program, bool prebuilt) {
    gate_body::gate gate;
    gate.heap_only = system_.live_limit() > 0;
    system_.run(program, gate_body{&gate}, prebuilt);
    return {true, static_cast<double>(gate.grown), program.tasks(), ""};
  }

  System& system_;
};

}  // namespace kith::bench
