// Programs written by hand whose tasks touch memory, as `kith record --addresses` keeps it.
#pragma once

#include "support/recordings.hpp"

#include "recording/address_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kith::test {

class touching_script : public script {
 public:
  struct one {
    std::uint32_t block = 0;
    std::uint64_t offset = 0;
    bool writes = false;
    std::uint64_t bytes = 8;
  };
  static constexpr std::uint32_t stack = 0;

  touching_script() { blocks_.resize(2); }
  /// A block at an address of its own, behind the others, on a page of its own.
  std::uint32_t block(std::uint64_t bytes, std::int32_t made_by = -1) {
    const std::uint64_t at = next_address_;
    next_address_ += (bytes + 4095) / 4096 * 4096;
    return block_at(at, bytes, made_by);
  }
  std::uint32_t block_at(std::uint64_t address, std::uint64_t bytes, std::int32_t made_by = -1,
                         std::uint8_t kind = recorded_block::heap) {
    recorded_block b;
    b.kind = kind;
    b.address = address;
    b.bytes = bytes;
    b.task = made_by;
    blocks_.push_back(b);
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  void touch(std::int32_t task, const one& t) { touches_[task].push_back(t); }
  void read(std::int32_t task, std::uint32_t block, std::uint64_t offset) { touch(task, {block, offset}); }
  void write(std::int32_t task, std::uint32_t block, std::uint64_t offset) { touch(task, {block, offset, true}); }

  const std::vector<one>& of(std::int32_t task) { return touches_[task]; }
  std::uint64_t address(std::uint32_t block) const { return blocks_[block].address; }

  recording finish() {
    recording r = script::finish();
    r.blocks = blocks_;
    r.blocks[0].kind = recorded_block::own_stack;
    r.sites.resize(2);  // of any number of bytes
    r.sites[1].mode = recorded_site::writes;
    r.first_stream = {0};
    for (std::size_t t = 0; t < r.tasks.size(); ++t) {
      const std::vector<one>& mine = touches_[static_cast<std::int32_t>(t)];
      if (!mine.empty()) r.streams.push_back(written(mine));
      r.first_stream.push_back(r.streams.size());
    }
    return r;
  }

 private:
  struct output {
    void push(std::uint8_t b) { bytes.push_back(b); }
    std::vector<std::uint8_t> bytes;
  };
  static recorded_stream written(const std::vector<one>& all) {
    output out;
    stream_writer<output> writer(out);
    stream_site sites[2];
    for (const one& t : all) writer.touch(t.writes, sites[t.writes], t.block, t.offset, t.bytes);
    writer.end();
    return {all.size(), out.bytes};
  }

  std::vector<recorded_block> blocks_;
  std::map<std::int32_t, std::vector<one>> touches_;
  std::uint64_t next_address_ = std::uint64_t{1} << 30;
};

}  // namespace kith::test
