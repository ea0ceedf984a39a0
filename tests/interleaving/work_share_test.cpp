// The constructs of a team: each member goes through all of them in order, exactly one is the first at each, and what
// that one has prepared is what all of them find there. Descriptors are used again, but never too early.
#include "openmp/work_share.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;
using openmp::share_position;
using openmp::work_share;
using openmp::work_shares;

constexpr int most_constructs = 4;

struct team_state {
  explicit team_state(int members) : shares(members) {}
  work_shares shares;
  std::array<share_position, 3> positions;
  std::array<atomic<int>, most_constructs> firsts{};
  std::map<const work_share*, il::shared<int>> content;  // as the members of a share that are no atomics

  void run(int member, int constructs) {
    share_position& mine = positions[static_cast<std::size_t>(member)];
    for (int c = 0; c < constructs; ++c) {
      const work_shares::entered at = shares.enter(mine, [&](work_share& made) { content[&made].write(c); });
      il::check(content[&at.share].read() == c, "the share is that of the construct, and complete");
      if (at.first) firsts[static_cast<std::size_t>(c)].fetch_add(1, relaxed);
      il::check(at.share.taken.fetch_add(1, relaxed) < 3, "a share is clean when it is used again");
    }
  }
};

std::function<void(il::program&)> team_of(int members, int constructs) {
  return [=](il::program& p) {
    auto s = std::make_shared<team_state>(members);
    for (int m = 0; m < members; ++m) p.thread([=] { s->run(m, constructs); }, "member");
    p.after([=] {
      for (int c = 0; c < constructs; ++c)
        il::check(s->firsts[static_cast<std::size_t>(c)].load(relaxed) == 1, "exactly one member is the first");
    });
  };
}

TEST(WorkSharesInterleaved, MembersMeetTheSameConstructs) {
  for (const auto& program : {team_of(2, 3), team_of(2, 4), team_of(3, 2)}) il::expect_passes(3, program);
}

TEST(WorkSharesInterleaved, EachOrderingIsNeeded) {
  for (const char* const file : {"openmp/work_share.hpp", "openmp/work_share.cpp"})
    il::expect_needed({.preemptions = 2}, {team_of(2, 3), team_of(2, 4), team_of(3, 2)}, file);
}

}  // namespace
}  // namespace kith
