#include "matrix_market.hpp"

#include <algorithm>
#include <cctype>

namespace kith::apps {

namespace {

constexpr std::uint64_t most_rows = std::uint64_t{1} << 30;

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The kind in the first line: the number of values of an entry, and the relation of (j, i) to (i, j).
struct matrix_kind {
  int values = 0;
  bool mirrored = false, symmetric = false;
  double sign = 1;  // of the mirrored value
};

matrix_kind read_kind(line_reader& in) {
  in.word();  // %%MatrixMarket
  const std::string object = lower(in.word()), format = lower(in.word());
  const std::string field = lower(in.word()), symmetry = lower(in.word());
  if (object != "matrix" || format != "coordinate") {
    in.wrong("a '" + object + " " + format + "'; expected a 'matrix coordinate', one entry on each line");
  }
  matrix_kind kind;
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
  kind.mirrored = symmetry != "general";
  kind.symmetric = symmetry == "symmetric" || (symmetry == "hermitian" && kind.values < 2);
  kind.sign = symmetry == "skew-symmetric" ? -1 : 1;
  return kind;
}

}  // namespace

bool is_matrix_market(std::string_view first_line) { return lower(first_line.substr(0, 14)) == "%%matrixmarket"; }

matrix read_matrix_market(line_reader& in, const std::string& path) {
  const matrix_kind kind = read_kind(in);
  bool more = in.next();
  while (more && is_comment(in.line())) more = in.next();
  if (!more) throw error(path + ": ends before the line with the numbers of rows, columns and entries");
  matrix m{.source = path, .entries = {}};
  m.has_values = kind.values > 0;
  m.symmetric = kind.symmetric;
  m.rows = static_cast<std::uint32_t>(in.number("the number of rows", 1, most_rows));
  m.columns = static_cast<std::uint32_t>(in.number("the number of columns", 1, most_rows));
  const std::uint64_t entries = in.number("the number of entries", 0, UINT64_MAX);
  if (kind.mirrored && m.rows != m.columns) in.wrong("a matrix that is not square cannot be symmetric");

  std::uint64_t seen = 0;
  while (in.next()) {
    if (is_comment(in.line())) continue;
    const auto row = static_cast<std::uint32_t>(in.number("the row", 1, m.rows) - 1);
    const auto column = static_cast<std::uint32_t>(in.number("the column", 1, m.columns) - 1);
    double value = 1;
    for (int v = 0; v < kind.values; ++v) {
      const double x = in.real("the entry's value");
      if (v == 0) value = x;
    }
    if (!in.word().empty()) in.wrong("more on the line than an entry of this matrix has");
    if (++seen > entries) in.wrong("more entries than the " + std::to_string(entries) + " that were announced");
    m.entries.push_back({row, column, value});
    if (kind.mirrored && row != column) m.entries.push_back({column, row, kind.sign * value});
  }
  if (seen != entries) {
    throw error(path + ": ends after " + std::to_string(seen) + " entries of " + std::to_string(entries) +
                "; the file is cut off");
  }
  return m;
}

matrix read_symmetric_matrix(const std::string& path) {
  line_reader in(path);
  if (!in.next() || !is_matrix_market(in.line())) throw error(path + ":1: no Matrix Market file (%%MatrixMarket ...)");
  matrix m = read_matrix_market(in, path);
  if (!m.has_values || !m.symmetric)
    throw error(path + ": conjugate gradients take a symmetric matrix with real values, and say so in the first line");
  return m;
}

std::vector<matrix::entry> merged(std::vector<matrix::entry> entries) {
  const auto key = [](const matrix::entry& e) { return std::uint64_t{e.row} << 32 | e.column; };
  std::ranges::sort(entries, {}, key);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (key(entries[i]) == key(entries[kept])) {
      entries[kept].value += entries[i].value;
    } else {
      entries[++kept] = entries[i];
    }
  }
  entries.resize(std::min(entries.size(), kept + 1));
  return entries;
}

}  // namespace kith::apps
