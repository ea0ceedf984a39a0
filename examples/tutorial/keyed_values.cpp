// A sheet of named cells: only the cells that are asked for, and those that they need, are computed.
#include <kith/kith.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

struct sheet {
  using key = std::string;
  using value = double;
  using numbers = kith::values<double>;  // values of the cells that a cell needs, in the order in which it names them

  struct cell {
    std::vector<key> needs;
    std::function<double(const numbers&)> formula;
  };
  std::map<key, cell> cells = {
      {"hours", {{}, [](const numbers&) { return 120; }}},
      {"rate", {{}, [](const numbers&) { return 50; }}},
      {"travel", {{}, [](const numbers&) { return 300; }}},
      {"work", {{"hours", "rate"}, [](const numbers& n) { return n[0] * n[1]; }}},
      {"net", {{"work", "travel"}, [](const numbers& n) { return std::accumulate(n.begin(), n.end(), 0.0); }}},
      {"tax", {{"net"}, [](const numbers& n) { return n[0] * 0.25; }}},
      {"total", {{"net", "tax"}, [](const numbers& n) { return n[0] + n[1]; }}},
  };

  void predecessors(const key& name, kith::keys<key>& needed) const {
    const auto at = cells.find(name);
    if (at == cells.end()) throw kith::error("there is no cell '" + name + "'");
    for (const key& k : at->second.needs) needed.add(k);
  }
  value compute(const key& name, const numbers& needed) const { return cells.at(name).formula(needed); }
};

int main() {
  kith::runtime rt;
  rt.run([] {
    sheet s;
    std::printf("total: %g\n", kith::explore(s, "total"));

    kith::exploration did;
    const std::vector<double> some = kith::explore(s, {"work", "tax"}, &did);
    std::printf("work and tax: %g and %g, from %d cells\n", some[0], some[1], static_cast<int>(did.nodes));

    try {
      kith::explore(s, "profit");
    } catch (const kith::error& e) {
      std::printf("%s\n", e.what());
    }
  });
}
