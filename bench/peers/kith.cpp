// Kith: typed handles, or raw addresses for programs that know only addresses.
#include "cells.hpp"
#include "serve.hpp"

#include <kith/kith.hpp>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

using namespace kith::bench;

template <class Body>
struct handle_emitter {
  std::vector<kith::handle<cell>>& cells;
  Body body;

  kith::handle<cell>& at(std::int64_t x) { return cells[static_cast<std::size_t>(x)]; }
  template <class... In>
  void task(std::int64_t x, In... in) {
    kith::spawn(body.make(x, in...), kith::inout(at(x)), kith::in(at(in))...);
  }
  void free_task() { kith::spawn(body.make()); }
  void reader(std::int64_t x) { kith::spawn(body.make(), kith::in(at(x))); }
};

template <class Body>
struct address_emitter {
  std::vector<cell>& cells;
  Body body;

  cell& at(std::int64_t x) { return cells[static_cast<std::size_t>(x)]; }
  template <class... In>
  void task(std::int64_t x, In... in) {
    kith::spawn(body.make(x, in...), kith::inout(at(x)), kith::in(at(in))...);
  }
  void free_task() { kith::spawn(body.make()); }
  void reader(std::int64_t x) { kith::spawn(body.make(), kith::in(at(x))); }
};

/// A task of a tree.
template <class Body>
struct nested_task {
  nested tree;
  std::int64_t i;
  Body body;
  void operator()() const {
    body.make()();
    tree.children(i, [&](std::int64_t c) { kith::spawn(nested_task{tree, c, body}); });
  }
};

class kith_system {
 public:
  static constexpr bool tracks_addresses = true, nests = true;
  explicit kith_system(int workers) : runtime_(options(workers)) {}

  std::string version() const { return KITH_VERSION " " + runtime_.policy(); }
  bool can(bool prebuilt, bool) const { return !prebuilt; }
  std::int64_t live_limit() const { return 0; }

  template <class Program, class Body>
  double run(const Program& program, Body body, bool) {
    std::vector<cell> cells = cells_of(program);
    double from = 0, to = 0;
    auto timed = [&]([[maybe_unused]] auto&& emitter) {
      runtime_.run([&] {
        body.creating();
        from = now_nanoseconds();
        if constexpr (is_nested<Program>) {
          kith::spawn(nested_task<Body>{program, 0, body});
        } else {
          program.emit(emitter);
        }
        body.created();
        kith::wait();
        to = now_nanoseconds();
      });
    };
    if constexpr (Program::by_address) {
      timed(address_emitter<Body>{cells, body});
    } else {
      // Handles name data that exists before the program begins, as it does for systems that track addresses.
      std::vector<kith::handle<cell>> handles;
      handles.reserve(cells.size());
      for (cell& c : cells) handles.emplace_back(c);
      timed(handle_emitter<Body>{handles, body});
    }
    return to - from;
  }

 private:
  static kith::runtime_options options(int workers) {
    kith::runtime_options o;
    o.workers = workers;
    o.oversubscribe = true;
    return o;
  }
  kith::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  try {
    kith_system system(options.workers);
    return server(system).loop();
  } catch (const kith::error& e) {
    std::fprintf(stderr, "kith-bench-peer-kith: %s\n", e.what());
    return 2;
  }
}
