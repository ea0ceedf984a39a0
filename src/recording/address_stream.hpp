// The addresses that a task touched, in their order, as the stream of bytes that a recording keeps of them.
//
// A touch has a site (where in the program: it says whether bytes are read or written, and mostly how many) and an
// address as block and offset. The writer predicts that a site is followed by the one that followed it last time,
// and that it continues in its block by the same stride. A touch that was predicted costs only a count, so a loop
// costs a few bytes however often it runs. Value prediction: Burtscher, "VPC3", SIGMETRICS 2004; here reduced to the
// last stride.
//
// Bytes: a stream is a sequence of items. An item is the count of touches that were as predicted, then one touch that
// was not: 2 * site + (1 if its block differs from the site's last), the block if it differs, the offset less the
// site's last (zigzag), and the number of bytes if the site has no fixed one. All numbers are of 7 bits a byte, lowest
// first; the last byte of a number is below 128. The end of a stream is a count alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// The state of the prediction for a site. The writer and the reader begin each stream with this.
struct stream_site {
  std::uint32_t block = 0;
  std::uint32_t next = ~std::uint32_t{0};  // the site that followed
  std::uint64_t offset = 0, stride = 0, bytes = 0;
};

/// Writes one stream. `Out` takes bytes by push(std::uint8_t).
template <class Out>
class stream_writer {
 public:
  explicit stream_writer(Out& to) : out_(to) {}

  /// `s` is the state of `site` in this stream; it must stay where it is until the next touch. `bytes` is 0 for
  /// a site that always touches the same number.
  void touch(std::uint32_t site, stream_site& s, std::uint32_t block, std::uint64_t offset, std::uint64_t bytes) {
    const bool expected = last_ != nullptr && last_->next == site && s.block == block &&
                          s.offset + s.stride == offset && s.bytes == bytes;
    if (expected) {
      ++as_predicted_;
    } else {
      put(std::exchange(as_predicted_, 0));
      put(std::uint64_t{site} * 2 + (s.block != block));
      if (s.block != block) put(block);
      const std::uint64_t step = offset - s.offset;
      put(step << 1 ^ (step >> 63 != 0 ? ~std::uint64_t{0} : 0));
      if (bytes != 0) put(bytes);
      s.stride = step;
    }
    s.block = block;
    s.offset = offset;
    s.bytes = bytes;
    if (last_ != nullptr) last_->next = site;
    last_ = &s;
  }
  void end() { put(std::exchange(as_predicted_, 0)); }
  /// The state of the last site was moved to `last`.
  void moved(stream_site* last) noexcept { last_ = last; }
  const stream_site* last() const noexcept { return last_; }

 private:
  void put(std::uint64_t n) {
    for (; n >= 128; n >>= 7) out_.push(static_cast<std::uint8_t>(n | 128));
    out_.push(static_cast<std::uint8_t>(n));
  }
  Out& out_;
  stream_site* last_ = nullptr;
  std::uint64_t as_predicted_ = 0;
};

struct stream_touch {
  std::uint32_t site = 0, block = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // 0: as many as the site always touches
};

/// Reads a stream of any origin. Not for several threads at once.
class stream_reader {
 public:
  /// `variable[s]`: site s has no fixed number of bytes. `variable` has one element for each site.
  explicit stream_reader(std::vector<bool> variable) : variable_(std::move(variable)), states_(variable_.size()) {}

  /// Calls each(touch) for `touches` touches. Returns null, or what is wrong with the stream.
  template <class Each>
  const char* read(std::span<const std::uint8_t> stream, std::uint64_t touches, Each&& each) {
    for (const std::uint32_t s : used_) states_[s] = {};
    used_.clear();
    at_ = stream.data();
    end_ = at_ + stream.size();
    std::uint32_t last = none;
    for (std::uint64_t left = touches;;) {
      std::uint64_t run = 0, head = 0, block = 0, step = 0;
      if (!take(run)) return "it ends within a number";
      if (run > left) return "it has more touches than its row says";
      left -= run;
      for (; run != 0; --run) {
        if (last == none || states_[last].next == none) return "it predicts a touch from nothing";
        const std::uint32_t site = states_[last].next;
        stream_site& s = states_[site];
        s.offset += s.stride;
        last = site;
        each(stream_touch{site, s.block, s.offset, s.bytes});
      }
      if (at_ == end_) return left == 0 ? nullptr : "it has fewer touches than its row says";
      if (left == 0) return "it has more touches than its row says";
      --left;
      if (!take(head)) return "it ends within a number";
      if (head / 2 >= states_.size()) return "it names a site that is not there";
      const auto site = static_cast<std::uint32_t>(head / 2);
      stream_site& s = states_[site];
      if (s.next == none && s.bytes == 0) used_.push_back(site);
      if (head % 2 != 0) {
        if (!take(block) || block > none) return "it ends within a number";
        s.block = static_cast<std::uint32_t>(block);
      }
      if (!take(step)) return "it ends within a number";
      s.stride = step >> 1 ^ (step % 2 != 0 ? ~std::uint64_t{0} : 0);
      s.offset += s.stride;
      if (variable_[site] && !take(s.bytes)) return "it ends within a number";
      if (variable_[site] && s.bytes == 0) return "it has a touch of no bytes";
      if (last != none) states_[last].next = site;
      last = site;
      each(stream_touch{site, s.block, s.offset, s.bytes});
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// False: the stream ends within the number, or the number has more than 64 bits.
  bool take(std::uint64_t& n) {
    n = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const std::uint8_t b = *at_++;
      n |= std::uint64_t{b & 127u} << shift;
      if (b < 128) return true;
    }
    return false;
  }
  const std::vector<bool> variable_;
  std::vector<stream_site> states_;
  std::vector<std::uint32_t> used_;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

}  // namespace kith
