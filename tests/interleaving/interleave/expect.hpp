// What tests of Kith's sources expect of programs: that they pass, and that each ordering of a source file is needed.
#pragma once

#include "interleave/explore.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace kith::interleave {

inline void expect_passes(const options& o, const std::function<void(program&)>& p) {
  const result r = explore(o, p);
  EXPECT_TRUE(r.ok) << r.report;
}
inline void expect_passes(int preemptions, const std::function<void(program&)>& p) {
  expect_passes({.preemptions = preemptions}, p);
}

/// Orderings that the checker cannot show to be needed, each identified by a piece of its source line; $ is
/// the line's end.
struct beyond_the_checker {
  std::string piece;
  side what;
  std::string why;
};

using programs = std::vector<std::function<void(program&)>>;

/// Expects that every program passes, and that for every ordering used in the file (the end of a path) some program
/// fails without it: each that is stronger than relaxed is weakened in turn. This excludes programs that pass because
/// they cannot fail.
inline void expect_needed(options o, const programs& all, const std::string& file,
                          const std::vector<beyond_the_checker>& exceptions = {}) {
  std::vector<ordering> used;
  for (const auto& p : all) {
    const result r = explore(o, p);
    ASSERT_TRUE(r.ok) << r.report;
    used.insert(used.end(), r.orderings.begin(), r.orderings.end());
  }
  std::erase_if(used, [&](const ordering& w) { return !w.file.ends_with(file); });
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  ASSERT_FALSE(used.empty()) << "the programs use no ordering of " << file;
  for (const ordering& w : used) {
    const std::string line = source_line(w.file, w.line) + '$';
    const bool excused = std::any_of(exceptions.begin(), exceptions.end(), [&](const beyond_the_checker& e) {
      return e.what == w.what && line.find(e.piece) != std::string::npos;
    });
    if (excused) continue;
    o.weaken = w;
    const bool needed = std::any_of(all.begin(), all.end(), [&](const auto& p) { return !explore(o, p).ok; });
    EXPECT_TRUE(needed) << w.text()
                        << "\n  no program fails without this ordering: weaken it, add a program that needs "
                        << "it, or list it as beyond the checker and say why";
  }
}

}  // namespace kith::interleave
