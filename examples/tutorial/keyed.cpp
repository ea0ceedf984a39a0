// The edit distance of two texts, in blocks: a graph that is found backwards from its last block.
#include <kith/kith.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct edit_distance {
  using key = int;  // block (row, column) is row * blocks + column
  static constexpr int side = 64;

  edit_distance(std::string x, std::string y, int colors)
      : a(std::move(x)), b(std::move(y)), blocks(static_cast<int>(a.size()) / side), owners(colors) {
    table.assign(a.size() + 1, std::vector<int>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = static_cast<int>(i);
    for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = static_cast<int>(j);
  }

  // What a block needs: the one above and the one to its left.
  void predecessors(key k, kith::keys<key>& needed) const {
    if (k >= blocks) needed.add(k - blocks);
    if (k % blocks > 0) needed.add(k - 1);
  }

  void compute(key k) {
    const int top = k / blocks * side, left = k % blocks * side;
    for (int i = top + 1; i <= top + side; ++i) {
      for (int j = left + 1; j <= left + side; ++j) {
        const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
        table[r][c] =
            std::min({table[r - 1][c] + 1, table[r][c - 1] + 1, table[r - 1][c - 1] + (a[r - 1] != b[c - 1])});
      }
    }
  }

  // The owner of the block's data: each worker has some rows of blocks.
  int color(key k) const { return k / blocks * owners / blocks; }

  std::string a, b;
  int blocks, owners;
  std::vector<std::vector<int>> table;
};

int main() {
  std::string a, b;
  for (unsigned i = 0; i < 1024; ++i) {
    a += static_cast<char>('a' + i * i / 7 % 4);
    b += static_cast<char>('a' + i * i / 5 % 4);
  }
  kith::runtime_options options;
  options.policy = "nabbitc";
  options.machine = "node:2 core:2";  // pretended, so that there is something to count
  kith::runtime rt(options);
  edit_distance graph(a, b, rt.workers());
  const kith::exploration done = rt.run([&] { return kith::explore(graph, graph.blocks * graph.blocks - 1); });

  std::printf("distance %d: %llu blocks, %llu edges\n", graph.table[a.size()][b.size()],
              static_cast<unsigned long long>(done.nodes), static_cast<unsigned long long>(done.edges));
  const kith::statistics s = rt.statistics();
  std::printf("%llu accesses counted, one for each block and edge\n",
              static_cast<unsigned long long>(s.local_accesses + s.remote_accesses));
  if (std::getenv("VERBOSE") != nullptr) {
    std::printf("%.1f %% of them remote, %llu colored steals in %llu attempts, first after %.6f s\n",
                s.remote_access_percent, static_cast<unsigned long long>(s.total.colored_steals),
                static_cast<unsigned long long>(s.total.colored_attempts), s.total.first_steal_seconds);
  }
}
