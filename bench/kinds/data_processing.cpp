// Kinds of data processing: joins, groups, stores, columns. Sizes mean the same as in kinds.cpp, unless a comment says
// otherwise.
#include "irregular.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace kith::bench {
namespace {

// Hash joins of tables of BLOCKS and twice as many chunks: chunks are scattered to 32 partitions, each partition is
// gathered into a hash table and probed; the first one costs several times as much. The inputs of the STEPS joins are
// never initialised, and nothing waits.
void hash_join(const sizes& s) {
  constexpr index parts = 32, together = 16;
  struct join {
    blocks build, probe, scattered_build, scattered_probe, tables, results;
  };
  std::mt19937 random = numbers(109);
  std::vector<join> joins;  // kept until the end
  const index n = s.blocks;
  for (index step = 0; step < s.steps; ++step) {
    joins.push_back({blocks(n, s.bytes), blocks(2 * n, s.bytes), blocks(n, s.bytes), blocks(2 * n, s.bytes),
                     blocks(parts, 2 * s.bytes * n / parts), blocks(2 * n, s.bytes / 2)});
    const join& j = joins.back();
    for (index i = 0; i < n; ++i) task("scatter", s.work * j.build.bytes(), j.build.in(i), j.scattered_build.out(i));
    for (index p = 0; p < parts; ++p) {
      kith::access_list list;
      for (index i = 0; i < n; ++i) list.add(j.scattered_build.in(i, p, parts));
      list.add(j.tables.out(p));
      task("build", 2 * s.work * j.tables.bytes(), list);
    }
    for (index i = 0; i < 2 * n; ++i) {
      task("scatter", s.work * j.probe.bytes(), j.probe.in(i), j.scattered_probe.out(i));
    }
    for (index p = 0; p < parts; ++p) {
      for (index g = 0; g < 2 * n; g += together) {
        kith::access_list list;
        for (index i = g; i < std::min(2 * n, g + together); ++i) list.add(j.scattered_probe.in(i, p, parts));
        list.add(j.tables.in(p));
        const index result = g + p % together;
        list.add(j.results.out(result < 2 * n ? result : g));
        const double skew = p == 0 ? 6 : 0.5 + unit(random);
        task("probe", together * 3 * s.work * j.probe.bytes() / parts * skew, list);
      }
    }
  }
}

// Merge joins by sample sort: chunks of two tables are sorted, the program waits for splitters, and ranges of very
// different sizes are gathered out of all chunks and joined.
void merge_join(const sizes& s) {
  constexpr index pieces = 16;
  std::mt19937 random = numbers(113);
  const index n = s.blocks, apart = std::max<index>(1, n / 24);
  for (index step = 0; step < s.steps; ++step) {
    const blocks left(n, s.bytes), right(n, s.bytes), samples(2 * n, 4096), splitters(1, 16384), sum(1, 4096);
    for (index i = 0; i < n; ++i) {
      task("load", 0.05 * left.bytes(), left.out(i));
      task("load", 0.05 * left.bytes(), right.out(i));
    }
    for (index i = 0; i < n; ++i) {
      task("sort", 8 * s.work * left.bytes(), left.inout(i), samples.out(i));
      task("sort", 8 * s.work * left.bytes(), right.inout(i), samples.out(n + i));
    }
    kith::access_list list;
    for (index i = 0; i < 2 * n; ++i) list.add(samples.in(i));
    list.add(splitters.out(0));
    task("split", 50000, list);
    kith::wait();
    std::vector<owned> ranges;
    for (index p = 0; p < n; ++p) {
      const double share = p % 37 == 0 ? 6 : 0.3 + unit(random);
      ranges.push_back(make_blocks(1, static_cast<index>(2 * share * left.bytes())));
      const blocks& range = *ranges.back();
      kith::access_list gather;
      for (index k = 0; k < n; k += apart) {
        gather.add(left.in((k + p) % n, p % pieces, pieces));
        gather.add(right.in((k + p) % n, p % pieces, pieces));
      }
      gather.add(splitters.in(0));
      gather.add(range.out(0));
      task("gather", s.work * range.bytes(), gather);
      task("merge_join", 2 * s.work * range.bytes(), range.inout(0));
      task("count", 500, range.in(0, 0, 64), sum.commutative(0));
    }
    kith::wait();
  }
}

// Group by: chunks are aggregated into 24 tables, in any order; each of 48 partitions is combined out of all tables
// and sorted. Nothing waits.
void group_by(const sizes& s) {
  constexpr index tables = 24, parts = 48;
  const index n = s.blocks;
  const blocks chunks(n, s.bytes), table(tables, s.bytes * 2), result(parts, s.bytes / 2);
  for (index i = 0; i < n; ++i) task("scan", 0.06 * chunks.bytes(), chunks.out(i));
  for (index step = 0; step < s.steps; ++step) {
    for (index t = 0; t < tables; ++t) task("clear", 0.02 * table.bytes(), table.out(t));
    for (index i = 0; i < n; ++i) {
      task("aggregate", s.work * chunks.bytes(), chunks.in(i), table.commutative(i % tables));
    }
    for (index p = 0; p < parts; ++p) {
      kith::access_list list;
      for (index t = 0; t < tables; ++t) list.add(table.in(t, p, parts));
      list.add(result.out(p));
      task("combine", s.work * table.bytes() * tables / parts, list);
      task("sort", 5 * s.work * result.bytes(), result.inout(p));
    }
  }
}

// Map and reduce: a few mappers take twelve times as long, reducers read a part of every mapper's file, and one log
// takes their outputs in order. Inputs are never initialised; STEPS jobs with fresh ones, and nothing waits.
void map_reduce(const sizes& s) {
  constexpr index reducers = 40;
  struct job {
    blocks input, files, output;
  };
  std::mt19937 random = numbers(127);
  const index n = s.blocks;
  const blocks log(1, 65536);
  std::vector<job> jobs;  // kept until the end
  for (index step = 0; step < s.steps; ++step) {
    jobs.push_back({blocks(n, s.bytes), blocks(n, s.bytes / 2), blocks(reducers, s.bytes * 4)});
    const job& j = jobs.back();
    for (index i = 0; i < n; ++i) {
      const double tail = i % 53 == 0 ? 12 : 0.5 + unit(random);
      task("map", s.work * j.input.bytes() * tail, j.input.in(i), j.files.out(i));
    }
    for (index p = 0; p < reducers; ++p) {
      kith::access_list list;
      for (index i = 0; i < n; ++i) list.add(j.files.in(i, p, reducers));
      list.add(j.output.out(p));
      task("reduce", s.work * j.files.bytes() * real(n) / reducers, list);
    }
    for (index p = 0; p < reducers; ++p) task("write", 0.01 * j.output.bytes(), j.output.in(p), log.inout(0));
  }
}

// A log-structured store: each of BLOCKS x STEPS writes makes a run of one block. Whenever a level has four runs, they
// are merged into one of the next level, in parts. Three queries after each write read one block of each level.
void compaction(const sizes& s) {
  constexpr std::size_t levels = 5, fan = 4;
  struct run {
    const blocks* data;
    index length;
  };
  std::mt19937 random = numbers(191);
  std::vector<owned> keep;
  std::array<std::vector<run>, levels> all;
  for (index w = 0; w < s.blocks * s.steps; ++w) {
    const blocks& written = *keep.emplace_back(make_blocks(1, s.bytes));
    const double bytes = written.bytes();
    task("flush", 0.3 * bytes, written.out(0));
    all[0].push_back({&written, 1});
    for (std::size_t l = 0; l + 1 < levels && all[l].size() == fan; ++l) {
      const index count = static_cast<index>(fan) * all[l].front().length;
      const blocks& merged = *keep.emplace_back(make_blocks(count, s.bytes));
      for (index k = 0; k < count; ++k) {
        kith::access_list list;
        for (const run& from : all[l]) list.add(from.data->in(k / static_cast<index>(fan)));
        list.add(merged.out(k));
        task("merge", s.work * bytes, list);
      }
      all[l].clear();
      all[l + 1].push_back({&merged, count});
    }
    for (int query = 0; query < 3; ++query) {
      kith::access_list list;
      for (const std::vector<run>& runs : all) {
        if (runs.empty()) continue;
        const run& asked = runs[random() % runs.size()];
        list.add(asked.data->in(below(random, asked.length)));
      }
      task("query", s.work * bytes, list);
    }
  }
}

// Stages of a data frame program, in turn a filter, a look-up in a table that all read, and a window over three chunks.
// Each stage writes new memory, which is given back two stages later, and the program waits after it.
void dataframe(const sizes& s) {
  std::mt19937 random = numbers(193);
  const index n = s.blocks;
  std::vector<owned> stages;
  stages.push_back(make_blocks(n, s.bytes));
  const double bytes = stages[0]->bytes();
  for (index i = 0; i < n; ++i) task("parse", s.work * 2 * bytes, stages[0]->out(i));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const blocks& from = *stages.back();
    owned to = make_blocks(n, s.bytes);
    const blocks table(1, s.bytes * 8);
    if (step % 3 == 1) task("table", 0.05 * table.bytes(), table.out(0));
    for (index i = 0; i < n; ++i) {
      const double kept = 0.2 + unit(random);
      if (step % 3 == 0) task("filter", s.work * bytes * kept, from.in(i), to->out(i));
      if (step % 3 == 1) task("lookup", 2 * s.work * bytes * kept, from.in(i), table.in(0), to->out(i));
      if (step % 3 == 2) {
        task("window", s.work * bytes, from.in(i), from.in((i + 1) % n), from.in((i + 2) % n), to->out(i));
      }
    }
    kith::wait();
    stages.push_back(std::move(to));
    if (stages.size() > 2) stages.erase(stages.begin());
  }
}

constexpr kind all_kinds[] = {
    {"compaction", compaction}, {"dataframe", dataframe},   {"group_by", group_by},
    {"hash_join", hash_join},   {"map_reduce", map_reduce}, {"merge_join", merge_join},
};

}  // namespace

std::span<const kind> data_processing() noexcept { return all_kinds; }

}  // namespace kith::bench
