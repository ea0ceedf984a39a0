// Reads the files that the recorder of addresses writes for `kith record`, for exact.cpp.
#pragma once

#include "recording/address_stream.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using counts = std::map<std::uintptr_t, int>;  // of each byte

/// How often a task has touched bytes that begin at an address, by address and number.
using touched_ranges = std::map<std::pair<std::uintptr_t, std::uint64_t>, int>;

inline counts of_each_byte(const touched_ranges& ranges) {
  counts all;
  for (const auto& [range, times] : ranges) {
    for (std::uint64_t i = 0; i < range.second; ++i) all[range.first + i] += times;
  }
  return all;
}

/// What one task has touched.
struct recorded {
  counts reads, writes;
  std::uint64_t heap_bytes = 0, elsewhere = 0;
  std::set<std::uint32_t> stacks;  // of threads
  // Of blocks on the heap and mapped ones:
  std::set<std::uint32_t> numbers;
  std::set<std::pair<std::string, std::uint64_t>> named;  // by their makers, with offsets
};

class recording {
 public:
  explicit recording(const std::string& folder) {
    std::ifstream tables(folder + "/addresses.tables");
    blocks_.resize(2);
    std::vector<bool> variable_size;
    for (std::string line; std::getline(tables, line);) {
      std::istringstream words(line);
      words >> std::hex;
      std::string what;
      std::uint64_t x = 0, y = 0;
      if (words >> what; what == "site") {
        unsigned mode = 0;
        std::uint64_t fixed = 0;
        words >> x >> y >> mode >> fixed;
        sites_.emplace_back(mode, fixed);
        variable_size.push_back(fixed == 0);
      } else if (what == "block") {
        block_row b;
        words >> b.kind >> b.begin >> y;
        std::getline(words, b.maker);
        blocks_.push_back(b);
      }
    }
    kith::stream_reader reader(variable_size);
    std::ifstream in(folder + "/addresses.streams", std::ios::binary);
    std::map<std::uint64_t, std::pair<std::uint64_t, std::vector<std::uint8_t>>> streams;
    std::uint64_t head[3];
    while (in.read(reinterpret_cast<char*>(head), sizeof head)) {
      auto& [touches, data] = streams[head[0]];
      touches += head[1];
      data.resize(data.size() + head[2]);
      in.read(reinterpret_cast<char*>(data.data() + data.size() - head[2]), static_cast<std::streamsize>(head[2]));
    }
    for (const auto& [task, stream] : streams) {
      recorded& r = of[task];
      size[task] = stream.second.size();
      touched_ranges reads, writes;
      const char* const wrong = reader.read(stream.second, stream.first, [&](const kith::stream_touch& t) {
        if (t.block == 0) return;
        const auto [mode, fixed] = sites_.at(t.site);
        const auto& [kind, begin, maker] = blocks_.at(t.block);
        if (kind == 0 || kind == 7) {
          r.named.insert({maker, t.offset});
          r.numbers.insert(t.block);
        }
        const std::uint64_t n = fixed != 0 ? fixed : t.bytes;
        if (kind == 0 && t.block > 1) r.heap_bytes += n;
        if (t.block == 1) r.elsewhere += n;
        if (kind == 6) r.stacks.insert(t.block);
        if (mode != 1) ++reads[{begin + t.offset, n}];
        if (mode != 0) ++writes[{begin + t.offset, n}];
      });
      if (wrong != nullptr) throw std::runtime_error(wrong);
      r.reads = of_each_byte(reads);
      r.writes = of_each_byte(writes);
    }
  }
  std::map<std::uint64_t, recorded> of;
  std::map<std::uint64_t, std::size_t> size;

 private:
  std::vector<std::pair<unsigned, std::uint64_t>> sites_;
  struct block_row {
    unsigned kind = 0;
    std::uint64_t begin = 0;
    std::string maker;
  };
  std::vector<block_row> blocks_;
};
