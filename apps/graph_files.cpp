// Files of links: edge lists and Matrix Market. Every error message names file and line.
#include "graph.hpp"
#include "line_reader.hpp"
#include "matrix_market.hpp"

#include <kith/error.hpp>

#include <algorithm>

namespace kith::apps {

namespace {

/// The numbers in an edge list may have gaps, so pages get new numbers in the same order; the old numbers
/// become names.
link_list from_numbers(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& links, const std::string& path) {
  std::vector<std::uint64_t> numbers;
  for (const auto& [from, to] : links) numbers.insert(numbers.end(), {from, to});
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.size() > most_pages) throw error(path + ": more than " + std::to_string(most_pages) + " pages");
  link_list g;
  g.pages = static_cast<page>(numbers.size());
  const auto renumbered = [&](std::uint64_t n) {
    return static_cast<page>(std::ranges::lower_bound(numbers, n) - numbers.begin());
  };
  for (const auto& [from, to] : links) g.links.emplace_back(renumbered(from), renumbered(to));
  for (std::uint64_t n : numbers) g.names.push_back(std::to_string(n));
  return g;
}

link_list read_edge_list(line_reader& in, const std::string& path, bool more) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> links;
  for (; more; more = in.next()) {
    if (is_comment(in.line())) continue;
    const std::uint64_t from = in.number("the page that links", 0, UINT64_MAX);
    const std::uint64_t to = in.number("the page it links to", 0, UINT64_MAX);
    if (!in.word().empty()) in.wrong("expected two whole numbers, FROM TO, and nothing after them");
    links.emplace_back(from, to);
  }
  if (links.empty()) throw error(path + ": no link in it; expected lines of two whole numbers, FROM TO");
  return from_numbers(links, path);
}

link_list from_matrix(const matrix& m) {
  if (m.rows != m.columns) throw error(m.source + ": the matrix is not square, so it is no graph of links");
  link_list g;
  g.pages = static_cast<page>(m.rows);
  for (const matrix::entry& e : m.entries) g.links.emplace_back(e.row, e.column);
  return g;
}

}  // namespace

link_list read_links(const std::string& path) {
  line_reader in(path);
  const bool more = in.next();
  const bool is_matrix = more && is_matrix_market(in.line());
  link_list g = is_matrix ? from_matrix(read_matrix_market(in, path)) : read_edge_list(in, path, more);
  g.source = path;
  normalize(g);
  return g;
}

}  // namespace kith::apps
