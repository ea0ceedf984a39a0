// web: PageRank on graphs too large for this machine, of which only the blocks are known. Only for dry recordings.
//
// NabbitC paper, table I: uk-2002, twitter-2010 and uk-2007-05 in blocks of 100000 pages. The graphs themselves
// are not kept here; a generator makes block graphs of their sizes. Each block has links into `neighbours`
// blocks. Of these, `local` of 1000 are near it (pages of a host have neighbouring numbers in these crawls);
// the others are anywhere. The number of links of a block is log-normal with deviation `skew`/100 around the
// mean. Pages of R-MAT graphs have no such neighbourhood; there, every policy reads remotely.
#include "blocks.hpp"
#include "hash.hpp"
#include "list.hpp"
#include "nodes.hpp"
#include "untouched.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace kith::apps {

namespace {

constexpr parameter web_parameters[] = {
    {"graph", "uk-2007-05", "uk-2002", "the size of uk-2002, twitter-2010 or uk-2007-05"},
    {"iterations", "10", "3", "iterations", "10"},
    {"block", "100000", "100000", "pages of a task"},
    {"neighbours", "8", "8", "blocks that a block has links into"},
    {"local", "1000", "1000", "of 1000 links, those to blocks near by (twitter-2010: 0)"},
    {"skew", "50", "50", "deviation of the links of a block, percent (log-normal)"},
    as_parameter,
    colors_parameter,
};

struct web_size {
  const char* name;
  std::int64_t pages, links;
};
constexpr web_size sizes[] = {{"uk-2002", 18'000'000, 298'000'000},
                              {"twitter-2010", 41'000'000, 1'468'000'000},
                              {"uk-2007-05", 105'000'000, 3'738'000'000}};

const web_size& size_of(const arguments& a) {
  const std::string name = a.text("graph");
  for (const web_size& s : sizes) {
    if (name == s.name) return s;
  }
  throw error("web: --graph '" + name + "'; expected uk-2002, twitter-2010 or uk-2007-05");
}

class web final : public app, node_program {
 public:
  explicit web(const arguments& a)
      : how_(way_of(a)),
        size_(size_of(a)),
        pages_{size_.pages, a.number("block", 1, 1 << 30)},
        iterations_(a.number("iterations", 1, 1 << 20)) {
    for (auto& r : ranks_) r = make_untouched<double>(static_cast<std::size_t>(size_.pages));
    generate(a);
    sources_ = make_untouched<std::uint32_t>(first_.back());
  }

  void prepare(const target& where) override {
    static const task_type type{"web_initial"};
    initialise(
        where, how_, type, pages_.count(), [](std::int64_t) {},
        [this](std::int64_t b, access_list& all) {
          all.add(out(sources_.get() + first_[static_cast<std::size_t>(b)], links_of(b)));
          for (const auto& r : ranks_)
            all.add(out(r.get() + pages_.begin(b), static_cast<std::size_t>(pages_.size(b))));
        });
  }
  void solve(const target& where) override { run(*this, how_, where); }
  verdict verify() override { return {true, "nothing was computed"}; }
  std::span<std::byte> output() override { return {}; }

 private:
  std::int32_t steps() const override { return static_cast<std::int32_t>(iterations_); }
  std::int32_t nodes(std::int32_t) const override { return static_cast<std::int32_t>(pages_.count()); }
  const task_type& type(std::int32_t) const override {
    static const task_type type{"web"};
    return type;
  }
  void predecessors(node_name n, keys<node_name>& all) const override {
    if (n.step == 0) return;
    for (std::int32_t b : waited_for_[static_cast<std::size_t>(n.index)]) all.add({n.step - 1, b});
  }
  void accesses(node_name n, access_list& all) const override {
    const std::size_t from = n.step % 2;
    const auto me = static_cast<std::size_t>(n.index);
    all.add(in(sources_.get() + first_[me], links_of(n.index)));
    const std::size_t each = links_of(n.index) * sizeof(double) / from_[me].size();
    for (std::int32_t b : from_[me]) {
      all.add(in(ranks_[from].get() + pages_.begin(b), static_cast<std::size_t>(pages_.size(b))).touching(each));
    }
    all.add(out(ranks_[1 - from].get() + pages_.begin(n.index), static_cast<std::size_t>(pages_.size(n.index))));
  }
  /// The paper's table I has 24 ns a link for uk-2007, memory included, and 66 for uk-2002.
  double work(node_name n) const override { return 22.0 * static_cast<double>(links_of(n.index)); }
  void compute(node_name) override {}

  std::size_t links_of(std::int64_t b) const noexcept {
    const auto i = static_cast<std::size_t>(b);
    return first_[i + 1] - first_[i];
  }

  void generate(const arguments& a) {
    const std::int64_t count = pages_.count();
    const std::int64_t neighbours = a.number("neighbours", 1, 1 << 16), local = a.number("local", 0, 1000);
    const double skew = static_cast<double>(a.number("skew", 0, 1000)) / 100;
    const double mean = static_cast<double>(size_.links) / static_cast<double>(count);
    std::uint64_t drawn = 0;
    const auto draw = [&] { return hash_unit(a.seed(), drawn++); };
    std::vector<std::set<std::int32_t>> waits(static_cast<std::size_t>(count));
    from_.resize(static_cast<std::size_t>(count));
    first_.push_back(0);
    for (std::int64_t b = 0; b < count; ++b) {
      const double u = std::max(draw(), 1e-12), v = draw();
      const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
      const double links = mean * std::exp(skew * normal - skew * skew / 2);
      first_.push_back(first_.back() + std::max<std::size_t>(1, static_cast<std::size_t>(links)));
      std::set<std::int32_t> from{static_cast<std::int32_t>(b)};
      for (std::int64_t k = 0; k < neighbours; ++k) {
        std::int64_t to;
        if (draw() * 1000 < static_cast<double>(local)) {
          const auto step = 1 + static_cast<std::int64_t>(draw() * 4);
          to = std::clamp<std::int64_t>(draw() < 0.5 ? b - step : b + step, 0, count - 1);
        } else {
          to = static_cast<std::int64_t>(draw() * static_cast<double>(count));
        }
        from.insert(static_cast<std::int32_t>(std::min(to, count - 1)));
      }
      auto& mine = waits[static_cast<std::size_t>(b)];
      mine.insert(from.begin(), from.end());
      for (std::int32_t n : from) waits[static_cast<std::size_t>(n)].insert(static_cast<std::int32_t>(b));
      from_[static_cast<std::size_t>(b)].assign(from.begin(), from.end());
    }
    for (const auto& w : waits) waited_for_.emplace_back(w.begin(), w.end());
  }

  way how_;
  web_size size_;
  blocks pages_;
  std::int64_t iterations_;
  std::vector<std::size_t> first_;                     // of each block's links
  std::vector<std::vector<std::int32_t>> from_;        // for each block, those that it reads
  std::vector<std::vector<std::int32_t>> waited_for_;  // for each block, also those that read it
  untouched<double> ranks_[2];
  untouched<std::uint32_t> sources_;
};

}  // namespace

const entry web_entry = {
    "web",          "NabbitC", "PageRank on the block graphs of large crawls; for dry recordings alone",
    web_parameters, make<web>, true};

}  // namespace kith::apps
