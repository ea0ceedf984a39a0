// pagerank: the importance of pages, by the links between them (Brin, Page 1998; damping 0.85).
//
// NabbitC paper, table I (blocks of 100000 pages, 10 iterations). Each block of pages pulls from the blocks
// that link into it, and waits only for those. The rank of a page without outgoing links (dangling) would have
// to be shared by all pages, which needs a sum over all dangling pages and a barrier in each iteration. Instead
// its rank leaks away, and the ranks are scaled to the sum 1 at the end. The fixed point is the same (Del
// Corso, Gulli, Romani: "Fast PageRank computation via a sparse linear system", 2005). Properties checked:
//  P1  the ranks equal those of a serial program that pushes along the list of links, up to rounding;
//  P2  they sum to 1;
//  P3  they solve the original equation, with dangling pages linking to all, as accurately as that many
//      iterations promise.
#include "blocks.hpp"
#include "graph.hpp"
#include "list.hpp"
#include "nodes.hpp"
#include "packages.hpp"
#include "untouched.hpp"
#include "worst.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <set>

namespace kith::apps {

namespace {

constexpr double damping = 0.85;

constexpr parameter pagerank_parameters[] = {
    {"input", "", "", "a file of links: FROM TO on each line, or Matrix Market"},
    {"debian", flag, flag, "the packages of this machine and what they depend on"},
    {"size", "500000", "20000", "pages of the generated graph", "18000000"},
    {"degree", "10", "8", "links of a page of the generated graph, in the mean", "16"},
    {"iterations", "50", "30", "iterations", "10"},
    {"block", "5000", "1000", "pages of a task", "100000"},
    {"top", "10", "10", "how many of the best pages are shown"},
    as_parameter,
    colors_parameter,
};

link_list graph_of(const arguments& a) {
  a.exclude("input", "debian");
  for (const char* generated : {"size", "degree"}) {
    a.exclude("input", generated);
    a.exclude("debian", generated);
  }
  if (a.on("debian")) return read_packages();
  if (a.has("input")) return read_links(a.text("input"));
  return generate_links(static_cast<page>(a.number("size", 2, most_pages)), a.number("degree", 1, 1 << 20), a.seed());
}

class pagerank final : public app, node_program {
 public:
  explicit pagerank(const arguments& a)
      : how_(way_of(a)),
        graph_(graph_of(a)),
        links_(graph_),
        pages_{graph_.pages, a.number("block", 1, most_pages)},
        iterations_(a.number("iterations", 1, 1 << 20)),
        top_(a.number("top", 0, 1000)) {
    for (auto& r : ranks_) r = make_untouched<double>(graph_.pages);
    sources_ = make_untouched<page>(links_.sources.size() + static_cast<std::size_t>(pages_.count()));
    find_neighbours();
  }

  void prepare(const target& where) override {
    static const task_type type{"pagerank_initial"};
    initialise(
        where, how_, type, pages_.count(), [this](std::int64_t b) { fill(b); },
        [this](std::int64_t b, access_list& all) {
          all.add(out(sources_of(b), source_count(b) + 1));
          for (std::size_t buffer : {0, 1}) all.add(out(ranks_of(buffer, b), block_size(b)));
        });
  }

  void solve(const target& where) override {
    run(*this, how_, where);
    last_ = static_cast<std::size_t>(iterations_ % 2);
    if (where.on.dry()) return;
    const std::span<double> r = ranks();
    const double sum = std::accumulate(r.begin(), r.end(), 0.0);
    for (double& x : r) x /= sum;
  }

  verdict verify() override;
  std::vector<figure> figures() const override;
  std::span<std::byte> output() override { return std::as_writable_bytes(ranks()); }

 private:
  using number = std::uint32_t;

  std::int32_t steps() const override { return static_cast<std::int32_t>(iterations_); }
  std::int32_t nodes(std::int32_t) const override { return static_cast<std::int32_t>(pages_.count()); }
  /// From the serial times in the paper's table I. Most of it is for the ranks of the pages that link in,
  /// which are anywhere in memory.
  double work(node_name n) const override { return 60.0 * static_cast<double>(source_count(n.index)); }
  const task_type& type(std::int32_t) const override {
    static const task_type type{"pagerank"};
    return type;
  }
  /// The blocks that link into this one, whose ranks it reads; and the blocks that it links into, because
  /// they have read the ranks that are now overwritten.
  void predecessors(node_name n, keys<node_name>& all) const override {
    if (n.step == 0) return;
    for (number b : waited_for_[static_cast<std::size_t>(n.index)]) all.add({n.step - 1, static_cast<std::int32_t>(b)});
  }
  void accesses(node_name n, access_list& all) const override {
    const std::size_t from = n.step % 2;
    all.add(in(sources_of(n.index), source_count(n.index) + 1));
    for (number b : neighbours_[static_cast<std::size_t>(n.index)]) all.add(in(ranks_of(from, b), block_size(b)));
    all.add(out(ranks_of(1 - from, n.index), block_size(n.index)));
  }
  void compute(node_name n) override { pull(n.index, n.step % 2); }

  double* ranks_of(std::size_t buffer, std::int64_t b) const noexcept { return ranks_[buffer].get() + pages_.begin(b); }
  std::size_t block_size(std::int64_t b) const noexcept { return static_cast<std::size_t>(pages_.size(b)); }

  std::span<double> ranks() noexcept { return {ranks_[last_].get(), graph_.pages}; }

  /// A block's part of `sources_` has one entry more than the block has links, so that every block has some memory.
  page* sources_of(std::int64_t b) const noexcept {
    return sources_.get() + links_.first[static_cast<std::size_t>(pages_.begin(b))] + static_cast<std::uint64_t>(b);
  }
  std::size_t source_count(std::int64_t b) const noexcept {
    return links_.first[static_cast<std::size_t>(pages_.end(b))] -
           links_.first[static_cast<std::size_t>(pages_.begin(b))];
  }

  void find_neighbours() {
    const auto count = static_cast<std::size_t>(pages_.count());
    neighbours_.resize(count);
    std::vector<std::set<number>> waits(count);
    for (std::size_t b = 0; b < count; ++b) {
      const auto first = links_.first[static_cast<std::size_t>(pages_.begin(static_cast<std::int64_t>(b)))];
      std::set<number> from;
      for (std::size_t l = first; l < first + source_count(static_cast<std::int64_t>(b)); ++l) {
        from.insert(static_cast<number>(links_.sources[l] / pages_.each));
      }
      neighbours_[b].assign(from.begin(), from.end());
      waits[b].merge(from);
      waits[b].insert(static_cast<number>(b));
      for (number n : neighbours_[b]) waits[n].insert(static_cast<number>(b));
    }
    for (const std::set<number>& w : waits) waited_for_.emplace_back(w.begin(), w.end());
  }

  void fill(std::int64_t b) {
    const auto first = static_cast<std::ptrdiff_t>(links_.first[static_cast<std::size_t>(pages_.begin(b))]);
    std::copy_n(links_.sources.begin() + first, source_count(b), sources_of(b));
    sources_of(b)[source_count(b)] = 0;
    for (auto& r : ranks_) std::fill(r.get() + pages_.begin(b), r.get() + pages_.end(b), 1.0 / graph_.pages);
  }

  void pull(std::int64_t b, std::size_t from) {
    const double* old = ranks_[from].get();
    double* next = ranks_[1 - from].get();
    const page* source = sources_of(b);
    for (std::int64_t p = pages_.begin(b); p < pages_.end(b); ++p) {
      const auto at = static_cast<std::size_t>(p);
      double sum = 0;
      for (auto left = links_.first[at + 1] - links_.first[at]; left > 0; --left, ++source) {
        sum += old[*source] / links_.out_degree[*source];
      }
      next[at] = (1 - damping) / graph_.pages + damping * sum;
    }
  }

  std::vector<double> serial() const;
  double residual(std::span<const double>) const;

  way how_;
  link_list graph_;
  incoming_links links_;
  blocks pages_;
  std::int64_t iterations_, top_;
  std::vector<std::vector<number>> neighbours_;  // for each block, those that link into it
  std::vector<std::vector<number>> waited_for_;  // for each block, also those that it links into
  untouched<double> ranks_[2];                   // first touched by fill(), as are the sources
  untouched<page> sources_;
  std::size_t last_ = 0;
  std::vector<double> expected_;
};

std::vector<double> pagerank::serial() const {
  std::vector<double> degree(graph_.pages, 0), now(graph_.pages, 1.0 / graph_.pages), next;
  for (const auto& link : graph_.links) ++degree[link.first];
  for (std::int64_t t = 0; t < iterations_; ++t) {
    next.assign(graph_.pages, (1 - damping) / graph_.pages);
    for (const auto& [from, to] : graph_.links) next[to] += damping * now[from] / degree[from];
    std::swap(now, next);
  }
  double sum = 0;
  for (double r : now) sum += r;
  for (double& r : now) r /= sum;
  return now;
}

/// The change of `r`, as the sum of absolute values, in one step of the original power iteration.
double pagerank::residual(std::span<const double> r) const {
  std::vector<double> degree(graph_.pages, 0), next(graph_.pages, 0);
  for (const auto& link : graph_.links) ++degree[link.first];
  double dangling = 0, change = 0;
  for (page p = 0; p < graph_.pages; ++p) dangling += degree[p] == 0 ? r[p] : 0;
  for (const auto& [from, to] : graph_.links) next[to] += r[from] / degree[from];
  for (page p = 0; p < graph_.pages; ++p) {
    change += std::fabs(r[p] - (1 - damping) / graph_.pages - damping * (next[p] + dangling / graph_.pages));
  }
  return change;
}

verdict pagerank::verify() {
  if (expected_.empty()) expected_ = serial();
  const std::span<const double> r = ranks();
  double worst = 0, sum = 0;
  for (page p = 0; p < graph_.pages; ++p) {
    worst = worst_of(worst, std::fabs(r[p] - expected_[p]) / expected_[p]);
    sum += r[p];
  }
  // k iterations leave an error of at most 2 * damping^k before scaling, which divides by at least 1 -
  // damping. The residual is at most 1 + damping times the error, and scaling doubles it.
  const double promised = 8 * std::pow(damping, iterations_) / (1 - damping) + 1e-9;
  const double left = residual(r);
  char text[200];
  std::snprintf(text, sizeof text,
                "ranks differ from the serial program's by at most %.2g of their value (bound 1e-9), sum up to 1 "
                "%+.1g, and change by "
                "%.2g in a further step (bound %.2g)",
                worst, sum - 1, left, promised);
  return {worst <= 1e-9 && std::fabs(sum - 1) <= 1e-9 && left <= promised, text};
}

std::vector<figure> pagerank::figures() const {
  const double* r = ranks_[last_].get();
  std::vector<page> best(graph_.pages);
  std::iota(best.begin(), best.end(), page{0});
  const auto shown = std::min<std::ptrdiff_t>(top_, graph_.pages);
  std::partial_sort(best.begin(), best.begin() + shown, best.end(),
                    [r](page a, page b) { return r[a] != r[b] ? r[a] > r[b] : a < b; });
  ranking top;
  for (page p : std::span(best).first(static_cast<std::size_t>(shown))) top.emplace_back(graph_.name(p), r[p]);
  const auto dangling = std::ranges::count(links_.out_degree, page{0});
  return with_shape({{"source", graph_.source},
                     {"pages", static_cast<std::int64_t>(graph_.pages)},
                     {"links", static_cast<std::int64_t>(graph_.links.size())},
                     {"dangling_pages", static_cast<std::int64_t>(dangling)},
                     {"blocks", pages_.count()},
                     {"iterations", iterations_},
                     {"top", std::move(top)}},
                    *this);
}

}  // namespace

const entry pagerank_entry = {"pagerank", "NabbitC", "the most important pages of a graph of links",
                              pagerank_parameters, make<pagerank>};

}  // namespace kith::apps
