// Graphs of pages that link to each other: read from files or from this machine's packages, or generated. For
// pagerank.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::apps {

using page = std::uint32_t;

/// The links as they were read. INVARIANTS of what the functions below return: from and to are below
/// `pages`; links are sorted, and no link occurs twice.
struct link_list {
  page pages = 0;
  std::vector<std::pair<page, page>> links;  // from, to
  std::vector<std::string> names;            // of the pages; empty: the page's number
  std::string source;                        // where the links come from, for users

  std::string name(page p) const { return names.empty() ? std::to_string(p) : names[p]; }
};

/// The most pages: leaves room for sums of page numbers in 32 bits.
inline constexpr page most_pages = page{1} << 30;

/// Sorts the links and drops duplicates.
void normalize(link_list&);

/// A file with a link on each line, "FROM TO", two whole numbers; '#' or '%' begins a comment. Or a Matrix
/// Market file (recognised by its first line, "%%MatrixMarket"): entry (i, j) is a link from i to j. Throws
/// kith::error, with file and line, for anything else.
link_list read_links(const std::string& path);

/// Generates `pages` pages with 0..2*mean links each: half to neighbours, half to any page, with a
/// preference for low numbers.
link_list generate_links(page pages, std::int64_t mean, std::uint64_t seed);

/// The links by target: which pages link to a page.
struct incoming_links {
  explicit incoming_links(const link_list&);

  std::vector<std::uint64_t> first;  // where a page's sources begin; one more at the end
  std::vector<page> sources;
  std::vector<page> out_degree;
};

}  // namespace kith::apps
