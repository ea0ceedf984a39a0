// Random programs of everything that the public functions offer, under random policies, machines and
// settings, against the same programs run in order. A failure prints the command that repeats its program.
//
// usage: kith_random_programs_tests [--programs=FIRST:COUNT] [--seconds=S]
//   the programs of COUNT seeds, from FIRST on; no program begins in a test that has taken S seconds
#include "run.hpp"
#include "watch.hpp"

#include "engine/sim/simulation.hpp"
#include "support/matrix.hpp"
#include "support/recordings.hpp"
#include "support/scale.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <optional>
#include <string_view>

namespace {

using namespace kith;
using namespace kith::random_programs;
using kith::test::scratch_file;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// The selection of programs on the command line.
struct selection {
  std::string self;
  word first = 1;
  word count = 0;
  std::optional<seconds> limit;
} selected;

constexpr seconds hangs_after{100};

class RandomPrograms : public testing::Test {
 protected:
  /// One in `part` of the selected programs, because the kinds differ in the cost of a program.
  template <class Check>
  static void for_each_program(word part, kind which, const Check& check) {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    const steady_clock::time_point begin = steady_clock::now();
    const word end = selected.first + std::max<word>(1, selected.count / part);
    word seed = selected.first;
    for (int failed = 0; seed < end && failed < 3; ++seed) {
      if (selected.limit && steady_clock::now() - begin > *selected.limit) break;
      const setup s(seed, which);
      const std::string repeat =
          selected.self + " --gtest_filter=RandomPrograms." + test + " --programs=" + std::to_string(seed) + ":1";
      now_running(repeat + "\n" + s.text());
      findings found;
      try {
        check(s, found);
      } catch (const std::exception& e) {
        found.add("thrown: ", e.what());
      }
      if (memory_leaks()) found.add("memory leaks");
      if (found.empty()) continue;
      ++failed;
      ADD_FAILURE() << found.text() << s.text() << "\nrepeat: " << repeat;
    }
    std::cout << test << ": seeds " << selected.first << " to " << seed - 1 << "\n";
  }
};

TEST_F(RandomPrograms, EqualThemselvesInOrder) {
  for_each_program(1, kind::any,
                   [](const setup& s, findings& found) { run_and_compare(s, s.options, model(s), found); });
}

/// Waits fail, and bodies throw and cancel. Nothing may hang or leak.
TEST_F(RandomPrograms, EndWithFewStacks) { for_each_program(2, kind::few_stacks, run_failing); }

void simulate(const recording& r, const setup& s, findings& found) {
  sim::run_options set;
  set.policy = *s.options.policy;
  set.workers = *s.options.workers;
  set.throttle = static_cast<std::uint32_t>(*s.options.throttle);
  set.keep_schedule = true;
  const sim::program p = sim::program_of(r);
  const sim::result simulated = sim::simulate(p, model_by_name("bullion-s16-8"), set);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    const recorded_task& mine = simulated.schedule.tasks[t];
    if (mine.has(recorded_task::fence)) continue;
    if (mine.worker < 0) found.add("task ", t, " was not simulated");
    for (const recorded_dependence& d : p.dependences(t)) {
      const recorded_task& other = simulated.schedule.tasks[static_cast<std::size_t>(d.before)];
      if (!other.has(recorded_task::fence) && mine.started < other.ended)
        found.add("task ", t, " was simulated before the end of ", d.before);
    }
  }
}

TEST_F(RandomPrograms, AreRecordedAndSimulated) {
  for_each_program(10, kind::repeatable, [](const setup& s, findings& found) {
    const model expected(s);
    const scratch_file file;
    runtime_options o = s.options;
    o.record = file.path();
    const std::string recorded = run_and_compare(s, o, expected, found);
    simulate(read_recording(recorded), s, found);
  });
}

/// Reads "FIRST:COUNT" or "S"; false if it is neither.
bool read_number(std::string_view text, word& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

bool take(std::string_view flag) {
  constexpr std::string_view programs = "--programs=", limit = "--seconds=";
  if (flag.starts_with(programs)) {
    const std::string_view value = flag.substr(programs.size());
    const std::size_t colon = value.find(':');
    return colon != std::string_view::npos && read_number(value.substr(0, colon), selected.first) &&
           read_number(value.substr(colon + 1), selected.count);
  }
  word number = 0;
  if (!flag.starts_with(limit) || !read_number(flag.substr(limit.size()), number)) return false;
  selected.limit = seconds(number);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  selected.self = argv[0];
  selected.count = static_cast<word>(kith::test::scaled(KITH_TEST_RANDOM_PROGRAMS));
  for (int a = 1; a < argc; ++a) {
    if (take(argv[a])) continue;
    std::cerr << argv[a] << ": expected --programs=FIRST:COUNT or --seconds=S\n";
    return 2;
  }
  start_watch(hangs_after);
  return RUN_ALL_TESTS();
}
