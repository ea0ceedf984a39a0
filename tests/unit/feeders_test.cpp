// Which of the tasks made ready together a worker runs next, where one type of task feeds the others (keeps=feeder).
#include "support/policy_bench.hpp"
#include "support/sizes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace {

using kith::ready_reason;
using kith::test::policy_bench;

constexpr std::uint16_t producer = 1, consumer = 2;

class feeding_bench : public policy_bench {
 public:
  feeding_bench(const char* machine, const std::string& how, bool has_data)
      : policy_bench(machine, how), data_(has_data) {}

  kith::task& of_type(std::uint16_t type) {
    kith::task& t = data_ ? task({{region(0), kith::test::page}}) : task();
    t.type = type;
    return t;
  }
  /// The worker's task ends and makes tasks of these types ready, in the order of their creation. Returns the type of
  /// the one that it runs next, and 0 if it takes none.
  template <std::size_t N>
  std::uint16_t end(int worker, const std::array<std::uint16_t, N>& types) {
    std::array<kith::task*, N> released;
    for (std::size_t i = 0; i < N; ++i) released[N - 1 - i] = &of_type(types[i]);
    const kith::task* t = chosen->ready(released, *by[static_cast<std::size_t>(worker)], ready_reason::completion);
    return t != nullptr ? t->type : std::uint16_t{0};
  }
  /// The workers run a chain of producers, each of which makes a consumer and the next producer ready; the consumers
  /// make nothing ready. Returns the type of the task that the first producer's worker ran next at last.
  std::uint16_t run_chain(int producers) {
    std::uint16_t kept = 0;
    ready(of_type(producer), 0);
    for (int i = 0; i < producers;) {
      for (int w = 0; w < workers.size(); ++w) {
        const kith::task* t = next(w);
        for (std::uint16_t type = t != nullptr ? t->type : std::uint16_t{0}; type == producer && i < producers; ++i)
          type = kept = end(w, std::array{consumer, producer});
      }
    }
    return kept;
  }

 private:
  bool data_;
};

struct setting {
  const char* machine;
  const char* policy;
  bool has_data;
};
constexpr setting with_feeders[] = {
    {"node:1 core:2", "steal:keeps=feeder", false},
    {"node:1 core:2", "auto", true},
    {"node:2 core:2", "auto", true},
    {"node:2 core:2", "auto", false},
};

TEST(feeders, are_run_before_what_they_feed) {
  for (const setting& s : with_feeders) {
    feeding_bench b(s.machine, s.policy, s.has_data);
    EXPECT_EQ(b.end(0, std::array{consumer, producer}), consumer) << s.policy;  // the oldest, as nothing is known
    EXPECT_EQ(b.run_chain(60), producer) << s.policy;
  }
}

TEST(feeders, are_run_before_what_they_feed_only_if_asked_for) {
  for (const setting& s :
       {setting{"node:1 core:2", "steal", false}, setting{"node:1 core:2", "auto:keeps=oldest", true},
        setting{"node:2 core:2", "auto:keeps=oldest", true}, setting{"node:1 core:1", "steal:keeps=feeder", false}}) {
    feeding_bench f(s.machine, s.policy, s.has_data);
    f.run_chain(60);
    EXPECT_EQ(f.run_chain(1), consumer) << s.policy;
  }
}

// Both types feed as much: two tasks of the other type.
TEST(feeders, are_types_that_feed_much_more) {
  for (const setting& s : with_feeders) {
    feeding_bench b(s.machine, s.policy, s.has_data);
    b.ready(b.of_type(producer), 0);
    std::array<std::uint16_t, 2> runs = {};
    for (int i = 0; i < 400; ++i) {
      const int w = i % 2;
      std::uint16_t& mine = runs[static_cast<std::size_t>(w)];
      if (mine == 0 && b.next(w) == nullptr) continue;
      mine = b.end(w, std::array{consumer, producer});
      if (i > 200 && mine != 0) {  // once both are measured
        EXPECT_EQ(mine, consumer) << s.policy;
      }
    }
  }
}

}  // namespace
