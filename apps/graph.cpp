#include "graph.hpp"

#include "hash.hpp"

#include <algorithm>

namespace kith::apps {

void normalize(link_list& g) {
  std::ranges::sort(g.links);
  g.links.erase(std::unique(g.links.begin(), g.links.end()), g.links.end());
}

link_list generate_links(page pages, std::int64_t mean, std::uint64_t seed) {
  link_list g;
  g.pages = pages;
  g.source = "generated";
  g.links.reserve(static_cast<std::size_t>(pages) * static_cast<std::size_t>(mean));
  std::uint64_t drawn = 0;
  for (page from = 0; from < pages; ++from) {
    for (std::uint64_t left = hash(seed, drawn++) % static_cast<std::uint64_t>(2 * mean + 1); left > 0; --left) {
      const double u = hash_unit(seed, drawn++);
      std::uint64_t to;
      if (left % 2 == 0) {
        to = from + 1 + static_cast<std::uint64_t>(u * 64);
      } else {
        to = static_cast<std::uint64_t>(u * u * u * pages);
      }
      g.links.emplace_back(from, static_cast<page>(to % pages));
    }
  }
  normalize(g);
  return g;
}

incoming_links::incoming_links(const link_list& g)
    : first(std::size_t{g.pages} + 1, 0), sources(g.links.size()), out_degree(g.pages, 0) {
  for (const auto& [from, to] : g.links) {
    ++out_degree[from];
    ++first[to + 1];
  }
  for (std::size_t p = 0; p < g.pages; ++p) first[p + 1] += first[p];
  std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
  for (const auto& [from, to] : g.links) sources[next[to]++] = from;
}

}  // namespace kith::apps
