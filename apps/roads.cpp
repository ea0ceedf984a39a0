#include "roads.hpp"

#include "hash.hpp"
#include "line_reader.hpp"

#include <algorithm>
#include <tuple>

namespace kith::apps {

namespace {

void sort_roads(road_map& m) {
  std::ranges::sort(m.roads, {}, [](const road& r) { return std::tuple(r.from, r.to, r.length); });
}

}  // namespace

road_map generated_roads(std::int64_t regions, std::int64_t edge, std::uint64_t seed) {
  road_map m;
  std::uint64_t drawn = 0;
  const auto both_ways = [&](std::int64_t a, std::int64_t b) {
    const std::uint64_t r = hash(seed, drawn++);
    if (r % 8 == 0) return;  // no road here
    const auto from = static_cast<std::uint32_t>(a), to = static_cast<std::uint32_t>(b);
    const auto length = static_cast<std::uint32_t>(50 + r / 8 % 950);
    m.roads.push_back({from, to, length});
    m.roads.push_back({to, from, length});
  };
  for (std::int64_t r = 0; r < regions; ++r) {
    m.first.push_back(static_cast<std::uint32_t>(r * edge * edge));
    for (std::int64_t y = 0; y < edge; ++y) {
      for (std::int64_t x = 0; x < edge; ++x) {
        const std::int64_t here = (r * edge + y) * edge + x;
        if (x + 1 < edge) both_ways(here, here + 1);
        if (y + 1 < edge) both_ways(here, here + edge);
      }
    }
  }
  m.first.push_back(static_cast<std::uint32_t>(regions * edge * edge));
  sort_roads(m);
  return m;
}

road_map read_roads(const std::string& path, std::int64_t regions) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  line_reader in(path);
  road_map m;
  std::uint64_t places = 0;
  while (in.next()) {
    const std::string_view kind = in.word();
    if (kind.empty() || kind == "c") continue;
    if (kind == "p" && places == 0 && in.word() == "sp") {
      places = in.number("the number of places", 1, most);
      in.number("the number of roads", 0, most);
    } else if (kind == "a" && places != 0) {
      const std::uint64_t from = in.number("the place a road begins at", 1, places);
      const std::uint64_t to = in.number("the place it ends at", 1, places);
      const std::uint64_t length = in.number("its length", 0, most / 1024);
      m.roads.push_back({static_cast<std::uint32_t>(from - 1), static_cast<std::uint32_t>(to - 1),
                         static_cast<std::uint32_t>(length)});
    } else {
      in.wrong("expected one line 'p sp PLACES ROADS', then lines 'a FROM TO LENGTH'");
    }
  }
  if (places == 0) throw error(path + ": no line 'p sp PLACES ROADS'; expected a graph of the DIMACS challenge");
  const auto parts = std::min(static_cast<std::uint64_t>(regions), places);
  for (std::uint64_t r = 0; r <= parts; ++r) m.first.push_back(static_cast<std::uint32_t>(r * places / parts));
  std::erase_if(m.roads, [&](const road& r) {
    const auto end = std::ranges::upper_bound(m.first, r.from);
    return r.to < *(end - 1) || r.to >= *end;
  });
  sort_roads(m);
  return m;
}

}  // namespace kith::apps
