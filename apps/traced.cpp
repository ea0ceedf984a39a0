// kith-traced: programs that are always compiled with access callbacks, independently of the rest of the build,
// so that `kith paper` can record the addresses that they touch. kith-counted: the same programs, which count
// their instructions.
//
// usage: kith-traced NAME [--small] [--PARAMETER VALUE ...]
#include "list.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

int main(int count, char** words) {
  using namespace kith::apps;
  static const entry* const programs[] = {&panels_entry,  &kmeans_entry,     &kmeans_list_entry, &sharded_entry,
                                          &routing_entry, &refinement_entry, &map_entry,         &reduction_entry,
                                          &vecmul_entry,  &sparse_lu_entry,  &heat_entry};
  try {
    const std::string_view name = count > 1 ? words[1] : "";
    const auto* const found =
        std::ranges::find(programs, name, [](const entry* e) { return std::string_view(e->name); });
    if (found == std::end(programs)) {
      std::string known;
      for (const entry* e : programs) known += std::string(known.empty() ? "" : ", ") + e->name;
      throw kith::error("no program '" + std::string(name) + "'; there are " + known);
    }
    const entry& e = **found;
    std::vector<std::string> given(words + 2, words + count);
    const preset sizes = std::erase(given, "--small") != 0 ? preset::small : preset::standard;
    const arguments values(e.name, e.parameters, read_arguments(e.name, e.parameters, given), sizes);
    kith::runtime on;
    const auto program = e.make(values);
    const result r = run(*program, {on, 1});
    std::printf("%s\n", r.check.what.c_str());
    return r.check.verified ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", count > 0 ? words[0] : "kith-traced", failure.what());
    return 2;
  }
}
