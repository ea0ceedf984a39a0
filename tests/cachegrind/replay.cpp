// Replays a trace of valgrind's lackey (--trace-mem=yes, on standard input) on one core of the fidelity line.
//
// usage: replay FIRST_BYTES FIRST_WAYS SECOND_BYTES SECOND_WAYS
//
// Prints the accesses to data, and the misses of both levels.
#include "engine/sim/line_caches.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unordered_map>

namespace {

using namespace kith::sim;

constexpr std::uint64_t bytes_of_line = 64, lines_of_page = 4096, most_pages = 4096;

cache_shape shape(const char* bytes, const char* ways) {
  const auto w = static_cast<std::uint32_t>(std::strtoul(ways, nullptr, 10));
  return {static_cast<std::uint32_t>(std::strtoull(bytes, nullptr, 10) / bytes_of_line / w), w};
}

/// Lines have numbers close together, and stay in their sets.
class numbers {
 public:
  std::uint32_t of(std::uint64_t line) {
    const auto [at, fresh] = pages_.try_emplace(line / lines_of_page, static_cast<std::uint32_t>(pages_.size()));
    if (at->second >= most_pages) std::exit(3);
    return static_cast<std::uint32_t>(at->second * lines_of_page + line % lines_of_page);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> pages_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  line_caches caches(1, shape(words[1], words[2]), shape(words[3], words[4]), most_pages * lines_of_page);
  numbers number;
  unsigned long long accesses = 0, first_misses = 0, second_misses = 0;
  for (std::string text; std::getline(std::cin, text);) {
    char what = 0;
    unsigned long long address = 0, bytes = 0;
    // " L 1ffeffe7e8,8"; an instruction is "I  04001090,3"
    if (text.size() < 4 || text[0] != ' ' || std::sscanf(text.c_str(), " %c %llx,%llu", &what, &address, &bytes) != 3)
      continue;
    ++accesses;
    // An access to two lines is a miss, once, if either is.
    bool first = false, second = false;
    for (std::uint64_t l = address / bytes_of_line; l <= (address + bytes - 1) / bytes_of_line; ++l) {
      const line_caches::found_in from = caches.access(0, number.of(l), what != 'L').from;
      first |= from != line_caches::found_in::first;
      second |= from == line_caches::found_in::memory;
    }
    first_misses += first ? 1 : 0;
    second_misses += second ? 1 : 0;
  }
  std::printf("%llu %llu %llu\n", accesses, first_misses, second_misses);
}
