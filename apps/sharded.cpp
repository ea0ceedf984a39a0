// sharded: counts how often words occur in a text, by an index that is divided into shards.
//
// Token and Reference scheduling, section 5.1.3 (sharded index). Each shard is a brother-son tree: a node has a letter,
// its next brother and its first son, and the count of the word that ends there. The hash of a word's prefix says which
// shard it is in. Words are looked up in batches of one shard, a task each; a batch begins when enough words for its
// shard are there, so the order of tasks is that of the text. The text is generated, or the files of a folder (the
// system's documentation: --input /usr/share/doc). The paper prints no sizes; with the standard ones a shard is 150 KB,
// twice a first-level cache, fifteen of them fit a cache of 2 MiB, and all of them need eight. The expert placement
// deals shards round robin. Property checked:
//  S1  the count of each word that is looked up equals that of a hash table of all words of the text.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "words.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter sharded_parameters[] = {
    {"input", "", "", "a folder of texts (generated)"},
    {"words", "150000", "4000", "different words of a generated text; most bytes of a folder / 64"},
    {"searches", "300000", "8000", "how many words are looked up"},
    {"shards", "112", "7", "parts of the index"},
    {"batch", "128", "64", "words of a task"},
};

struct letter_node {
  std::uint32_t brother, son;  // 0: none; the shard's first node is no son or brother
  std::uint32_t count;
  char letter;
};

constexpr std::size_t word_bytes = 16;  // longer words are cut off
struct word {
  char letters[word_bytes];
  std::string_view text() const noexcept { return {letters, ::strnlen(letters, word_bytes)}; }
};

/// A tree that grows while the index is built.
class growing_tree {
 public:
  growing_tree() : nodes_(1) {}
  void add(std::string_view text) {
    std::uint32_t at = 0;
    for (const char c : text) at = son_of(at, c);
    ++nodes_[at].count;
  }
  const std::vector<letter_node>& nodes() const noexcept { return nodes_; }

 private:
  std::uint32_t son_of(std::uint32_t parent, char c) {
    std::uint32_t last = 0;
    for (std::uint32_t s = nodes_[parent].son; s != 0; s = nodes_[s].brother) {
      if (nodes_[s].letter == c) return s;
      last = s;
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({0, 0, 0, c});
    (last == 0 ? nodes_[parent].son : nodes_[last].brother) = made;
    return made;
  }
  std::vector<letter_node> nodes_;
};

class sharded final : public app {
 public:
  explicit sharded(const arguments& a)
      : source_(a.has("input") ? a.text("input") : "generated"),
        text_(a.has("input") ? words_of_folder(a.text("input"), 64 * a.number("words", 1, 1 << 26))
                             : generated_words(a.number("words", 1, 1 << 26), a.seed())),
        searches_(a.number("searches", 1, 1 << 26)),
        batch_(a.number("batch", 1, 1 << 20)),
        seed_(a.seed()),
        trees_(static_cast<std::size_t>(a.number("shards", 1, 1 << 16))),
        batches_(make_batches()),
        index_(static_cast<std::int64_t>(trees_.size()), largest()),
        asked_(static_cast<std::int64_t>(batches_.size()), batch_),
        found_(static_cast<std::int64_t>(batches_.size()), batch_) {}

  void prepare(const target& where) override {
    static const task_type shard{"sharded_index"}, batch{"sharded_words"};
    where.on.run([&] {
      for (std::size_t s = 0; s < trees_.size(); ++s) {
        const auto body = [this, s] { std::ranges::copy(trees_[s].nodes(), index_[static_cast<std::int64_t>(s)]); };
        spawn(body, shard, where.turn(static_cast<std::int64_t>(s)), index_.out(static_cast<std::int64_t>(s)), work{0});
      }
      for (std::size_t b = 0; b < batches_.size(); ++b) {
        const auto n = static_cast<std::int64_t>(b);
        const auto body = [this, b, n] {
          for (std::size_t w = 0; w < batches_[b].words.size(); ++w) asked_[n][w] = word_at(batches_[b].words[w]);
          std::fill_n(found_[n], batch_, 0u);
        };
        spawn(body, batch, where.turn(batches_[b].shard), asked_.out(n), found_.out(n), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type type{"sharded_search"};
    // About 60 nodes for a word, each with a comparison and a jump.
    const work cost = work_of(static_cast<double>(batch_ * 120), rate::chained);
    where.on.run([&] {
      for (std::size_t b = 0; b < batches_.size(); ++b) {
        const auto n = static_cast<std::int64_t>(b);
        const std::int64_t s = batches_[b].shard;
        const auto body = [tree = index_[s], words = asked_[n], counts = found_[n], many = batches_[b].words.size()] {
          for (std::size_t w = 0; w < many; ++w) counts[w] = look_up(tree, words[w].letters);
        };
        spawn(body, type, where.turn(s), index_.in(s), asked_.in(n), found_.out(n), cost);
      }
    });
  }

  verdict verify() override {
    std::unordered_map<std::string_view, std::uint32_t> counts;
    for (const std::string& w : text_) ++counts[std::string_view(w).substr(0, word_bytes)];
    std::int64_t wrong = 0;
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      for (std::size_t w = 0; w < batches_[b].words.size(); ++w) {
        const auto known = counts.find(std::string_view(text_[batches_[b].words[w]]).substr(0, word_bytes));
        if (found_[static_cast<std::int64_t>(b)][w] != known->second) ++wrong;
      }
    }
    return {wrong == 0,
            std::to_string(wrong) + " of " + std::to_string(searches_) + " counts differ from those of a hash table"};
  }

  std::vector<figure> figures() const override {
    std::uint64_t occurrences = 0, nodes = 0;
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      for (std::size_t w = 0; w < batches_[b].words.size(); ++w) occurrences += found_[static_cast<std::int64_t>(b)][w];
    }
    for (const growing_tree& t : trees_) nodes += t.nodes().size();
    return {{"source", source_},
            {"words", static_cast<std::int64_t>(text_.size())},
            {"nodes", static_cast<std::int64_t>(nodes)},
            {"tasks", static_cast<std::int64_t>(batches_.size())},
            {"occurrences", static_cast<std::int64_t>(occurrences)}};
  }
  std::span<std::byte> output() override { return found_.bytes(); }

 private:
  struct searches_of_task {
    std::int64_t shard = 0;
    std::vector<std::size_t> words;  // in the text
  };

  static std::uint32_t look_up(const letter_node* tree, const char* letters) noexcept {
    const letter_node* at = tree;
    for (std::size_t i = 0; i < word_bytes && letters[i] != 0; ++i) {
      std::uint32_t s = at->son;
      while (s != 0 && tree[s].letter != letters[i]) s = tree[s].brother;
      if (s == 0) return 0;
      at = tree + s;
    }
    return at->count;
  }

  std::int64_t shard_of(std::string_view text) const noexcept {
    std::uint64_t prefix = 0;
    for (const char c : text.substr(0, 3)) prefix = prefix * 256 + static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(hash(7, prefix) % trees_.size());
  }
  word word_at(std::size_t i) const noexcept {
    word w{};
    const std::string_view text = std::string_view(text_[i]).substr(0, word_bytes);
    std::memcpy(w.letters, text.data(), text.size());
    return w;
  }

  /// Also fills the trees.
  std::vector<searches_of_task> make_batches() {
    for (const std::string& w : text_)
      trees_[static_cast<std::size_t>(shard_of(w))].add(std::string_view(w).substr(0, word_bytes));
    std::vector<searches_of_task> all, open(trees_.size());
    const auto close = [&](searches_of_task& one) {
      all.push_back(std::move(one));
      one = {};
    };
    for (std::int64_t i = 0; i < searches_; ++i) {
      const std::size_t w = hash(seed_ + 3, static_cast<std::uint64_t>(i)) % text_.size();
      searches_of_task& one = open[static_cast<std::size_t>(shard_of(text_[w]))];
      one.shard = shard_of(text_[w]);
      one.words.push_back(w);
      if (static_cast<std::int64_t>(one.words.size()) == batch_) close(one);
    }
    for (searches_of_task& one : open) {
      if (!one.words.empty()) close(one);
    }
    return all;
  }
  std::int64_t largest() const {
    std::size_t most = 1;
    for (const growing_tree& t : trees_) most = std::max(most, t.nodes().size());
    return static_cast<std::int64_t>(most);
  }

  std::string source_;
  std::vector<std::string> text_;
  std::int64_t searches_, batch_;
  std::uint64_t seed_;
  std::vector<growing_tree> trees_;
  std::vector<searches_of_task> batches_;
  paged<letter_node> index_;  // by shard
  paged<word> asked_;         // by batch
  paged<std::uint32_t> found_;
};

}  // namespace

const entry sharded_entry = {"sharded", "HW", "counts words of a text by an index that is divided into shards",
                             sharded_parameters, make<sharded>};

}  // namespace kith::apps
