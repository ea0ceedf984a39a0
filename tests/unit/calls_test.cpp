// Calls that are unusual, or wrong in a way that no compiler detects.
#include <kith/kith.hpp>
#include "support/scratch_file.hpp"
#include "support/workers.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using kith::test::make_options;
using testing::HasSubstr;

// What accesses, handles and futures keep is for the library only (detail::internals, detail::future_internals).
template <class T>
concept shows_record = requires(T& t) { t.record_; } || requires(T& t) { t.parameter_; };
template <class T>
concept shows_handle = requires(T& t) { t.address_; } || requires(T& t) { t.bytes_; } || requires(T& t) { t.scope_; } ||
                       requires(T& t) { t.state_; };
template <class T>
concept shows_result = requires(T& t) { t.result_; } || requires(T& t) { t.task_; } || requires(T& t) { t.runtime_; };

static_assert(!shows_record<kith::access<int*>> && !shows_record<kith::access<std::span<int>>>);
static_assert(!std::is_constructible_v<kith::access<int*>, kith::detail::access_record, int*>);
static_assert(!std::is_default_constructible_v<kith::access<int*>>);
static_assert(!shows_handle<kith::detail::handle_base> && !shows_handle<kith::handle<int>> &&
              !shows_handle<kith::handle<int[]>>);
static_assert(!std::is_constructible_v<kith::detail::handle_base, const void*, std::size_t> &&
              !std::is_destructible_v<kith::detail::handle_base>);
static_assert(!shows_result<kith::future<int>> && !shows_result<kith::future<void>>);
static_assert(!std::is_constructible_v<kith::future<int>, std::shared_ptr<kith::detail::result_of<int>>,
                                       kith::detail::made_task>);

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const kith::error& e) {
    return e.what();
  }
  return "no error";
}

/// The newest ready task runs first, so a reader that waited for only one list would overtake the other list's writer.
TEST(calls, a_task_waits_for_all_its_lists_of_accesses) {
  kith::runtime rt(make_options(1, "lifo"));
  std::array<int, 4> data{};
  int seen = 0;
  rt.run([&] {
    for (int& d : data) kith::spawn([](int& x) { x = 1; }, kith::out(d));
    kith::access_list first, second, none;
    first.add(kith::in(data[0]));
    second.add(kith::in(data[1]));
    second.add(kith::in(data[2]));
    kith::spawn(
        [&](const int& last) {
          for (int d : data) seen += d;
          seen += last;
        },
        first, kith::in(data[3]), none, second);
  });
  EXPECT_EQ(seen, 5);
}

TEST(calls, more_bytes_than_there_are_addresses_are_refused) {
  constexpr auto minus_one = static_cast<std::size_t>(-1);
  double x = 0;
  EXPECT_THAT(message_of([&] { kith::in(&x, minus_one); }), HasSubstr("18446744073709551615 elements of 8 bytes"));
  EXPECT_THAT(message_of([&] { kith::out(&x, minus_one / 8 + 2); }), HasSubstr("expected at most 17592186044416"));
  EXPECT_THAT(message_of([&] { kith::handle<double[]>(&x, minus_one); }), HasSubstr("no address space"));
  EXPECT_THAT(message_of([&] { kith::forget(&x, minus_one); }), HasSubstr("no address space"));
  kith::runtime rt(make_options(1));
  EXPECT_THAT(message_of([&] { kith::known_bytes_on_nodes(rt, &x, minus_one); }), HasSubstr("no address space"));
  EXPECT_THAT(message_of([&] { kith::count_pages(rt, &x, minus_one); }), HasSubstr("no address space"));
  EXPECT_THROW(std::ignore = kith::allocate(rt, minus_one), std::bad_alloc);
  EXPECT_EQ(message_of([&] { rt.run([&] { kith::spawn([](std::span<double>) {}, kith::out(&x, 1)); }); }), "no error");
}

TEST(calls, a_graph_that_was_moved_from_takes_nothing) {
  kith::runtime rt(make_options(1));
  int ran = 0;
  kith::static_graph graph;
  graph.add([&] { ++ran; });
  kith::static_graph moved = std::move(graph);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(graph.nodes(), 0u);
  EXPECT_EQ(graph.edges(), 0u);
  EXPECT_THAT(message_of([&] { graph.add([] {}); }), HasSubstr("static_graph::add(): the graph was moved"));
  EXPECT_THAT(message_of([&] { graph.edge(0, 0); }), HasSubstr("static_graph::edge(): the graph was moved"));
  EXPECT_THAT(message_of([&] { rt.run([&] { graph.run(); }); }), HasSubstr("static_graph::run(): the graph was moved"));
  // NOLINTEND(bugprone-use-after-move)
  graph = std::move(moved);
  rt.run([&] { graph.run(); });
  EXPECT_EQ(ran, 1);
}

TEST(calls, functions_of_a_static_graph_may_be_of_any_kind) {
  struct alignas(128) wide {
    std::shared_ptr<int> witness;
    std::array<double, 30> values;
  };
  kith::runtime rt(make_options(2));
  const auto witness = std::make_shared<int>(0);
  std::atomic<int> sum{0};
  {
    kith::static_graph graph;
    kith::static_graph::node last =
        graph.add([&, own = std::make_unique<int>(1)] { sum += *own; });  // cannot be copied
    for (int i = 0; i < 100; ++i) {
      const kith::static_graph::node next = graph.add([&, w = wide{witness, {1, 2}}]() mutable {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % 128, 0u);
        sum += static_cast<int>(w.values[0]++);  // changes from run to run
      });
      graph.edge(last, next);
      last = next;
    }
    EXPECT_THROW(graph.add([refuses =
                                [] {
                                  struct on_copy {
                                    on_copy() = default;
                                    on_copy(const on_copy&) { throw std::runtime_error("copied"); }
                                  };
                                  return on_copy();
                                }()] {}),
                 std::runtime_error);
    EXPECT_EQ(graph.nodes(), 101u);
    for (int run = 0; run < 3; ++run) rt.run([&] { graph.run(); });
    EXPECT_EQ(witness.use_count(), 101);
  }
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_EQ(sum, 3 + 100 * (1 + 2 + 3));
}

TEST(calls, run_returns_what_its_function_returns) {
  kith::runtime rt(make_options(2));
  std::vector<int> data{1, 2, 3};
  static_assert(std::is_same_v<decltype(rt.run([&]() -> int& { return data[1]; })), int&>);
  static_assert(std::is_same_v<decltype(rt.run([&]() -> const int& { return data[1]; })), const int&>);
  static_assert(std::is_same_v<decltype(rt.run([&]() -> int&& { return std::move(data[1]); })), int&&>);
  static_assert(std::is_same_v<decltype(rt.run([&] { return data; })), std::vector<int>>);
  static_assert(std::is_same_v<decltype(rt.run([] {})), void>);
  rt.run([&]() -> int& { return data[1]; }) = 7;
  EXPECT_EQ(data[1], 7);
  EXPECT_EQ(*rt.run([] { return std::make_unique<int>(3); }), 3);  // cannot be copied
  rt.run(kith::cancel);                                            // a function
  const auto fixed = [] {};
  rt.run(fixed);
}

TEST(calls, member_functions_are_functions) {
  struct counter {
    int n = 0;
    void count() { ++n; }
  } c;
  kith::runtime rt(make_options(1));
  rt.run([&] { kith::spawn(&counter::count, kith::inout(c)); });
  EXPECT_EQ(c.n, 1);
}

/// A destructor that uses a group during stack unwinding for an unrelated exception.
TEST(calls, a_group_made_while_an_exception_passes_runs_its_tasks) {
  struct at_end {
    int& ran;
    ~at_end() {
      kith::group g;
      for (int i = 0; i < 3; ++i) g.spawn([this] { ++ran; });
    }
  };
  kith::runtime rt(make_options(1));
  int ran = 0;
  const auto pass = [&] {
    const at_end e{ran};
    throw std::runtime_error("passes");
  };
  EXPECT_THROW(rt.run(pass), std::runtime_error);
  EXPECT_EQ(ran, 3);
}

TEST(calls, a_group_made_while_an_exception_passes_keeps_its_failures) {
  struct at_end {
    ~at_end() {
      kith::group g;
      g.spawn([] { throw std::logic_error("of the group"); });
    }
  };
  kith::runtime rt(make_options(1));
  bool passed = false;
  EXPECT_THROW(rt.run([&] {
    try {
      const at_end e;
      throw std::runtime_error("passes");
    } catch (const std::runtime_error&) {
      passed = true;
    }
  }),
               std::logic_error);
  EXPECT_TRUE(passed);
}

/// Refused before anything runs, because the recording could not be written.
TEST(calls, a_recording_that_cannot_be_made_is_refused) {
  kith::runtime_options o = make_options(1);
  const auto message = [&](const char* file) {
    o.record = file;
    return message_of([&] { const kith::runtime rt(o); });
  };
  EXPECT_EQ(
      message("no/such/folder/x.rec"),
      "runtime_options::record = no/such/folder/x.rec: cannot be written: there is no folder no/such/folder; make "
      "it, or name another file");
  EXPECT_THAT(message("/dev/null"),
              HasSubstr("runtime_options::record = /dev/null: cannot be written: it is no regular file"));
  EXPECT_THAT(message("/"), HasSubstr("runtime_options::record = /: cannot be written: it is a folder"));
  const kith::test::scratch_file notes;
  std::ofstream(notes.path()) << "to be kept";
  EXPECT_THAT(message(notes.path().c_str()), HasSubstr(": exists and is not a recording; remove it"));
  o.record.reset();
  ::setenv("KITH_RECORD", "/", 1);
  EXPECT_THAT(message_of([&] { const kith::runtime rt(o); }), HasSubstr("KITH_RECORD=/: cannot be written: it is a"));
  ::unsetenv("KITH_RECORD");
}

TEST(calls, futures_without_a_task_or_a_runtime_are_named) {
  const kith::future<int> none;
  EXPECT_THAT(message_of([&] { none.wait(); }), HasSubstr("future::wait(): no task behind the future"));
  EXPECT_THAT(message_of([&] { std::ignore = none.get(); }), HasSubstr("future::get(): no task behind the future"));
  EXPECT_THAT(message_of([] { std::ignore = kith::future<int>().take(); }), HasSubstr("future::take(): no task"));
  EXPECT_THAT(message_of([&] { none.wait_for(std::chrono::seconds(1)); }), HasSubstr("future::wait_for(): no task"));
  EXPECT_THAT(message_of([&] { std::ignore = none.then([](int) {}); }), HasSubstr("future::then(): no task"));
  kith::future<int> old;
  {
    kith::runtime rt(make_options(1));
    old = rt.submit([] { return 3; });
    EXPECT_THAT(message_of([&] { std::ignore = kith::when_all(old, none); }),
                HasSubstr("no task behind future 2 of 2"));
    kith::future<int> moved = old, taken = old;
    const kith::future<int> kept = std::move(moved);
    EXPECT_EQ(taken.take(), 3);
    EXPECT_THAT(message_of([&] { std::ignore = kith::when_all(moved, kept); }),  // NOLINT(bugprone-use-after-move)
                HasSubstr("no task behind future 1 of 2"));
    EXPECT_THAT(message_of([&] { std::ignore = kith::when_all(std::vector{kept, taken}); }),
                HasSubstr("no task behind future 2 of 2"));
    kith::runtime other(make_options(1));
    const auto there = other.submit([] { return 4; });
    EXPECT_THAT(message_of([&] { std::ignore = kith::when_all(old, old, there); }),
                HasSubstr("futures 1 and 3 are of different runtimes"));
  }
  EXPECT_EQ(old.get(), 3);  // the value outlives the runtime
  EXPECT_THAT(message_of([&] { std::ignore = old.then([](int) {}); }), HasSubstr("runtime has ended"));
  kith::runtime another(make_options(1));
  another.run([&] {  // a task of another runtime is of no help
    EXPECT_THAT(message_of([&] { std::ignore = old.then([](int) {}); }), HasSubstr("take the value with get()"));
  });
  EXPECT_THAT(message_of([&] { std::ignore = kith::when_all(std::vector<kith::future<int>>()); }),
              HasSubstr("no task runs on this thread"));
}

/// Its copy throws after so many further copies; 0: none does. A const capture is copied where others are moved.
struct fails_to_copy {
  static inline int copies_left = 0;
  fails_to_copy() = default;
  fails_to_copy(const fails_to_copy&) {
    if (copies_left > 0 && --copies_left == 0) throw std::runtime_error("copy");
  }
};

TEST(calls, closures_that_cannot_be_moved_throw_where_the_task_is_made) {
  kith::runtime rt(make_options(1));
  const fails_to_copy captured;
  int thrown = 0;
  for (int at = 2; at < 8; ++at) {  // the first copy is the caller's
    fails_to_copy::copies_left = at;
    try {
      rt.submit([captured] {}).get();
    } catch (const std::runtime_error&) {
      ++thrown;
    }
    fails_to_copy::copies_left = at;
    rt.run([&] {
      try {
        kith::async([captured] {}).get();
      } catch (const std::runtime_error&) {
        ++thrown;
      }
    });
  }
  fails_to_copy::copies_left = 0;
  EXPECT_GE(thrown, 4);
  EXPECT_EQ(rt.submit([captured] { return 3; }).get(), 3);
}

TEST(calls, a_wait_until_a_moment_far_past_or_for_no_number_does_not_wait) {
  kith::runtime rt(make_options(1));
  std::atomic<bool> go{false};
  const auto f = rt.submit([&] {
    while (!go) std::this_thread::yield();
  });
  EXPECT_FALSE(f.wait_until(std::chrono::steady_clock::time_point::min()));
  EXPECT_FALSE(f.wait_for(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())));
  go = true;
  EXPECT_TRUE(f.wait_until(std::chrono::steady_clock::time_point::max()));
}

/// Calls a function when it is destroyed.
template <class F>
class at_end {
 public:
  explicit at_end(F f) : f_(std::move(f)) {}
  at_end(at_end&& other) noexcept : f_(other.f_), armed_(std::exchange(other.armed_, false)) {}
  ~at_end() {
    if (armed_) f_();
  }

 private:
  F f_;
  bool armed_ = true;
};

TEST(calls, what_destructors_of_captures_create_belongs_to_their_task) {
  for (const int workers : {1, 3}) {
    kith::runtime rt(make_options(workers));
    std::atomic<int> ran{0};
    rt.run([&] {
      for (int i = 0; i < 50; ++i) {
        kith::spawn([&, end = at_end([&] {
                          kith::spawn([&] { ++ran; });
                          kith::wait();
                          EXPECT_GE(ran, 1);
                        })] { kith::spawn([&] { ++ran; }); });
      }
      kith::wait();
      EXPECT_EQ(ran, 100);
      int x = 0;  // what the destructor has spawned ends before the task's successors begin
      kith::spawn([&, end = at_end([&] { kith::spawn([&] { x = 1; }); })] {}, kith::out(x));
      kith::spawn([&] { EXPECT_EQ(x, 1); }, kith::in(x));
      kith::wait();
    });
    EXPECT_THAT(
        message_of([&] {
          rt.run([&] { kith::spawn([end = at_end([] { kith::spawn([] { throw kith::error("late"); }); })] {}); });
        }),
        HasSubstr("late"));
  }
}

TEST(calls, a_scan_of_more_iterations_than_can_be_counted_is_refused) {
  kith::runtime rt(make_options(2));
  rt.run([&] {
    EXPECT_THAT(message_of([&] {
                  kith::parallel_scan(
                      std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 0,
                      [](std::int64_t, std::int64_t, int v, bool) { return v; }, [](int a, int b) { return a + b; });
                }),
                HasSubstr("more than 2^48 iterations"));
  });
}

TEST(calls_death, a_graph_destroyed_by_its_own_node_names_the_mistake) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto captured = [] {
    kith::runtime rt(make_options(1));
    rt.run([&] {
      kith::captured_graph g;
      g.capture([&] { kith::spawn([&] { g = kith::captured_graph(); }); });
      g.run();
    });
  };
  EXPECT_DEATH(captured(), "a captured_graph is destroyed, or assigned to, while it runs");
  const auto made = [] {
    kith::runtime rt(make_options(1));
    rt.run([&] {
      kith::static_graph g;
      g.add([&] { g = kith::static_graph(); });
      g.run();
    });
  };
  EXPECT_DEATH(made(), "a static_graph is destroyed, or assigned to, while it runs");
}

TEST(calls_death, a_runtime_destroyed_by_its_own_task_names_the_mistake) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto destroy = [] {
    std::optional<kith::runtime> rt(make_options(2));
    rt->run([&] { kith::spawn([&] { rt.reset(); }); });
  };
  EXPECT_DEATH(destroy(), "a task destroys the runtime that it runs on.*Keep the runtime alive");
  const auto destroy_below = [] {  // through a task of another runtime, on the same thread
    std::optional<kith::runtime> rt(make_options(1));
    kith::runtime other(make_options(1));
    rt->run([&] { other.run([&] { rt.reset(); }); });
  };
  EXPECT_DEATH(destroy_below(), "a task destroys the runtime that it runs on");
}

}  // namespace
