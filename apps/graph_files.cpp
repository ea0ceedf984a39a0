// Files of links: edge lists and Matrix Market. Every complaint names file and line.
#include "graph.hpp"
#include "line_reader.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

namespace kith::apps {

namespace {

bool is_comment(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == line.npos || line[begin] == '#' || line[begin] == '%';
}

/// The numbers in an edge list may have gaps: pages are numbered anew, in their order, and keep the numbers as names.
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

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// What the first line says: how many values an entry has, and whether (i, j) stands for (j, i) as well.
struct matrix_kind {
  int values;
  bool symmetric;
};

matrix_kind read_matrix_kind(line_reader& in) {
  in.word();  // %%MatrixMarket
  const std::string object = lower(in.word()), format = lower(in.word());
  const std::string field = lower(in.word()), symmetry = lower(in.word());
  if (object != "matrix" || format != "coordinate") {
    in.wrong("a '" + object + " " + format + "'; expected a 'matrix coordinate', one entry on each line");
  }
  matrix_kind kind{};
  if (field == "pattern")
    kind.values = 0;
  else if (field == "real" || field == "integer")
    kind.values = 1;
  else if (field == "complex")
    kind.values = 2;
  else
    in.wrong("values of kind '" + field + "'; expected pattern, real, integer or complex");
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric" && symmetry != "hermitian") {
    in.wrong("symmetry '" + symmetry + "'; expected general, symmetric, skew-symmetric or hermitian");
  }
  kind.symmetric = symmetry != "general";
  return kind;
}

link_list read_matrix_market(line_reader& in, const std::string& path) {
  const matrix_kind kind = read_matrix_kind(in);
  bool more = in.next();
  while (more && is_comment(in.line())) more = in.next();
  if (!more) throw error(path + ": ends before the line with the numbers of rows, columns and entries");
  const std::uint64_t rows = in.number("the number of rows", 1, most_pages);
  const std::uint64_t columns = in.number("the number of columns", 1, most_pages);
  const std::uint64_t entries = in.number("the number of entries", 0, UINT64_MAX);
  if (rows != columns) in.wrong("the matrix is not square, so it is no graph of links");

  link_list g;
  g.pages = static_cast<page>(rows);
  std::uint64_t seen = 0;
  while (in.next()) {
    if (is_comment(in.line())) continue;
    const auto from = static_cast<page>(in.number("the row", 1, rows) - 1);
    const auto to = static_cast<page>(in.number("the column", 1, columns) - 1);
    for (int v = 0; v < kind.values; ++v) {
      if (in.word().empty()) in.wrong("the entry's value is missing");
    }
    if (!in.word().empty()) in.wrong("more on the line than an entry of this matrix has");
    if (++seen > entries) in.wrong("more entries than the " + std::to_string(entries) + " that were announced");
    g.links.emplace_back(from, to);
    if (kind.symmetric && from != to) g.links.emplace_back(to, from);
  }
  if (seen != entries) {
    throw error(path + ": ends after " + std::to_string(seen) + " entries of " + std::to_string(entries) +
                "; the file is cut off");
  }
  return g;
}

}  // namespace

link_list read_links(const std::string& path) {
  line_reader in(path);
  const bool more = in.next();
  const bool matrix = more && lower(in.line().substr(0, 14)) == "%%matrixmarket";
  link_list g = matrix ? read_matrix_market(in, path) : read_edge_list(in, path, more);
  g.source = path;
  normalize(g);
  return g;
}

}  // namespace kith::apps
