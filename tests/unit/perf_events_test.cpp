// What is counted for each task, by the system.
#include "support/recordings.hpp"

#include "machine/perf_events.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>

namespace {

using namespace kith;

/// By the system's own counters. Where these are refused, getrusage and the thread's clock take their place.
TEST(perf_events, count_page_faults_of_the_task_that_has_them) {
  constexpr std::size_t pages = 64;
  const opened_counters here = open_perf_counters(*counter_set::parse("page_faults,task_clock"));
  ASSERT_TRUE(here.there.has(counter::page_faults) && here.there.has(counter::task_clock));
  const std::size_t bytes = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  const auto touch = [=] {
    for (std::size_t at = 0; at < bytes; at += bytes / pages) static_cast<volatile char*>(memory)[at] = 1;
  };
  ::setenv("KITH_RECORD_COUNTERS", "page_faults,task_clock", 1);
  runtime_options o = test::make_options(1, "steal");
  o.inline_limit = 0;
  const recording r = test::record(o, [&](runtime& rt) {
    rt.run([&] {
      for (std::int32_t i = 0; i < 2; ++i) {
        spawn(touch, kith::color{i});
        wait();
      }
    });
  });
  ::unsetenv("KITH_RECORD_COUNTERS");
  ::munmap(memory, bytes);
  ASSERT_EQ(r.counts.size(), 3u);
  EXPECT_GE(r.counts[1][counter::page_faults], static_cast<std::int64_t>(pages));
  EXPECT_LT(r.counts[2][counter::page_faults], static_cast<std::int64_t>(pages));
  EXPECT_LT(r.counts[0][counter::page_faults], static_cast<std::int64_t>(pages));  // waits for both
  EXPECT_GT(r.counts[1][counter::task_clock], 0);
  EXPECT_EQ(r.counts[1][counter::instructions], recorded_counts::not_counted);
}

TEST(perf_events, say_that_only_a_program_built_to_count_has_kinds_of_instructions) {
  EXPECT_EQ(counter_set::parse("mix")->text(),
            "instructions, load_instructions, store_instructions, branch_instructions, fp_instructions, "
            "vector_instructions");
  EXPECT_EQ(counter_set::parse("hardware,software"), counter_set::parse("all"));
  EXPECT_FALSE(counter_set::parse("all")->has(counter::load_instructions));
  const opened_counters here = open_perf_counters(*counter_set::parse("page_faults,load_instructions"));
  EXPECT_EQ(here.there.text(), "page_faults");
  EXPECT_EQ(missing_counters(here), "load_instructions: the program is not built with kith::count_instructions");
}

}  // namespace
