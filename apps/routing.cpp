// routing: the shortest ways between pairs of places on a map of roads, by Dijkstra's algorithm, a task for each pair.
//
// Token and Reference scheduling, section 5.1.4. The map is divided into regions, and both places of a pair are in one,
// so a task can name what it reads; pairs come in any order of regions. The roads of a place are with it, in a record
// of a cache line. The map is generated, like a town, or a file of the DIMACS challenge (--input). The paper prints
// neither sizes nor how its graph is divided. With the standard ones a region is 256 KB, four times a first-level
// cache, seven of them fit a cache of 2 MiB, and all of them fit eight. The expert placement deals regions round robin.
// Property checked:
//  R1  each length equals that of a serial search by Bellman and Ford's algorithm, which takes no roads in order.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "roads.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter routing_parameters[] = {
    {"input", "", "", "a graph of the DIMACS challenge, in its text format (generated)"},
    {"regions", "64", "6", "parts of the map"},
    {"edge", "64", "16", "places along an edge of a generated region"},
    {"pairs", "384", "48", "how many ways are looked for"},
};

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t roads_of_place = 7;

/// The roads of a place, within its region. A place with more roads has further records, linked by `more`.
struct alignas(64) place_record {
  std::uint32_t roads = 0;
  std::uint32_t more = nowhere;
  std::pair<std::uint32_t, std::uint32_t> to[roads_of_place];  // a place and the length of the way to it
};

class routing final : public app {
 public:
  explicit routing(const arguments& a)
      : source_(a.has("input") ? a.text("input") : "generated"),
        map_(map_of(a)),
        pairs_(a.number("pairs", 1, 1 << 24)),
        seed_(a.seed()),
        made_(records()),
        regions_(static_cast<std::int64_t>(made_.size()), largest()),
        lengths_(pairs_, 1) {}

  void prepare(const target& where) override {
    static const task_type region{"routing_map"}, way{"routing_pair"};
    where.on.run([&] {
      for (std::int64_t r = 0; r < count(); ++r)
        spawn([this, r] { std::ranges::copy(made_[static_cast<std::size_t>(r)], regions_[r]); }, region, where.turn(r),
              regions_.out(r), work{0});
      for (std::int64_t p = 0; p < pairs_; ++p)
        spawn([this, p] { lengths_[p][0] = nowhere; }, way, where.turn(region_of(p)), lengths_.out(p), work{0});
    });
  }

  void solve(const target& where) override {
    static const task_type type{"routing_search"};
    where.on.run([&] {
      for (std::int64_t p = 0; p < pairs_; ++p) {
        const std::int64_t r = region_of(p);
        const auto [from, to] = ends_of(p);
        const std::uint32_t places = places_of(r);
        const auto body = [=, map = regions_[r], length = lengths_[p]] { *length = shortest(map, places, from, to); };
        // Half of the region is searched; for each place some thirty steps of the queue.
        spawn(body, type, where.turn(r), regions_.in(r), lengths_.out(p),
              work_of(30.0 * static_cast<double>(places), rate::chained));
      }
    });
  }

  verdict verify() override {
    if (right_.empty()) {
      for (std::int64_t p = 0; p < pairs_; ++p) right_.push_back(by_bellman_and_ford(p));
    }
    std::int64_t wrong = 0;
    for (std::int64_t p = 0; p < pairs_; ++p) wrong += lengths_[p][0] != right_[static_cast<std::size_t>(p)];
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string(pairs_) +
                            " lengths differ from those of Bellman and Ford's algorithm"};
  }

  std::vector<figure> figures() const override {
    std::int64_t reached = 0, longest = 0;
    for (std::int64_t p = 0; p < pairs_; ++p) {
      if (lengths_[p][0] == nowhere) continue;
      ++reached;
      longest = std::max<std::int64_t>(longest, lengths_[p][0]);
    }
    return {{"source", source_},
            {"places", static_cast<std::int64_t>(map_.first.back())},
            {"roads", static_cast<std::int64_t>(map_.roads.size())},
            {"pairs", pairs_},
            {"reached", reached},
            {"longest", longest}};
  }
  std::span<std::byte> output() override { return lengths_.bytes(); }

 private:
  static road_map map_of(const arguments& a) {
    a.exclude("input", "edge");
    const std::int64_t regions = a.number("regions", 1, 1 << 16);
    return a.has("input") ? read_roads(a.text("input"), regions)
                          : generated_roads(regions, a.number("edge", 2, 4096), a.seed());
  }

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(map_.first.size()) - 1; }
  std::uint32_t places_of(std::int64_t r) const noexcept {
    return map_.first[static_cast<std::size_t>(r) + 1] - map_.first[static_cast<std::size_t>(r)];
  }
  std::int64_t region_of(std::int64_t p) const noexcept {
    return static_cast<std::int64_t>(hash(seed_ + 1, static_cast<std::uint64_t>(p)) %
                                     static_cast<std::uint64_t>(count()));
  }
  /// The ends of the way, as numbers within the region.
  std::pair<std::uint32_t, std::uint32_t> ends_of(std::int64_t p) const noexcept {
    const std::uint32_t places = places_of(region_of(p));
    const auto drawn = [&](std::uint64_t i) {
      return static_cast<std::uint32_t>(hash(seed_ + 2, static_cast<std::uint64_t>(p) * 2 + i) % places);
    };
    return {drawn(0), drawn(1)};
  }

  /// By region: the records of its places, then those of places with many roads.
  std::vector<std::vector<place_record>> records() const {
    std::vector<std::vector<place_record>> all;
    for (std::int64_t r = 0; r < count(); ++r) all.emplace_back(places_of(r));
    std::size_t region = 0;
    for (const road& one : map_.roads) {
      while (one.from >= map_.first[region + 1]) ++region;
      std::vector<place_record>& here = all[region];
      std::size_t at = one.from - map_.first[region];
      while (here[at].more != nowhere) at = here[at].more;
      if (here[at].roads == roads_of_place) {
        here[at].more = static_cast<std::uint32_t>(here.size());
        at = here.size();
        here.emplace_back();
      }
      here[at].to[here[at].roads++] = {one.to - map_.first[region], one.length};
    }
    return all;
  }
  std::int64_t largest() const {
    std::size_t most = 1;
    for (const std::vector<place_record>& r : made_) most = std::max(most, r.size());
    return static_cast<std::int64_t>(most);
  }

  static std::uint32_t shortest(const place_record* map, std::uint32_t places, std::uint32_t from, std::uint32_t to) {
    using entry = std::pair<std::uint32_t, std::uint32_t>;  // the length of the way to a place, and the place
    std::vector<std::uint32_t> length(places, nowhere);
    std::priority_queue<entry, std::vector<entry>, std::greater<>> next;
    length[from] = 0;
    next.emplace(0, from);
    while (!next.empty()) {
      const auto [so_far, here] = next.top();
      next.pop();
      if (here == to) return so_far;
      if (so_far != length[here]) continue;  // a shorter way was found meanwhile
      for (std::uint32_t at = here; at != nowhere; at = map[at].more) {
        for (std::uint32_t i = 0; i < map[at].roads; ++i) {
          const auto [there, road] = map[at].to[i];
          if (so_far + road >= length[there]) continue;
          length[there] = so_far + road;
          next.emplace(length[there], there);
        }
      }
    }
    return nowhere;
  }

  std::uint32_t by_bellman_and_ford(std::int64_t p) const {
    const auto r = static_cast<std::size_t>(region_of(p));
    const auto [from, to] = ends_of(p);
    std::vector<std::uint64_t> length(places_of(region_of(p)), nowhere);
    length[from] = 0;
    const auto begin = std::ranges::lower_bound(map_.roads, map_.first[r], {}, &road::from);
    const auto end = std::ranges::lower_bound(map_.roads, map_.first[r + 1], {}, &road::from);
    for (bool changed = true; changed;) {
      changed = false;
      for (auto at = begin; at != end; ++at) {
        std::uint64_t& there = length[at->to - map_.first[r]];
        const std::uint64_t reached = length[at->from - map_.first[r]];
        if (reached == nowhere || reached + at->length >= there) continue;
        there = reached + at->length;
        changed = true;
      }
    }
    return static_cast<std::uint32_t>(length[to]);
  }

  std::string source_;
  road_map map_;
  std::int64_t pairs_;
  std::uint64_t seed_;
  std::vector<std::vector<place_record>> made_;
  paged<place_record> regions_;
  paged<std::uint32_t> lengths_;  // by pair
  std::vector<std::uint32_t> right_;
};

}  // namespace

const entry routing_entry = {"routing", "HW", "shortest ways between pairs of places on a map of roads",
                             routing_parameters, make<routing>};

}  // namespace kith::apps
