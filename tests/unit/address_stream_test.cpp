#include "recording/address_stream.hpp"

#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kith {

namespace {

struct output {
  void push(std::uint8_t b) { bytes.push_back(b); }
  std::vector<std::uint8_t> bytes;
};

struct touches {
  std::vector<bool> variable;
  std::vector<stream_touch> all;

  std::vector<std::uint8_t> written() const {
    output out;
    stream_writer<output> writer(out);
    std::map<std::uint32_t, stream_site> sites;
    for (const stream_touch& t : all) writer.touch(t.site, sites[t.site], t.block, t.offset, t.bytes);
    writer.end();
    return out.bytes;
  }
};

void expect_read_back(const touches& t) {
  const std::vector<std::uint8_t> bytes = t.written();
  stream_reader reader(t.variable);
  for (int again = 0; again < 2; ++again) {  // a reader begins anew with each stream
    std::size_t i = 0;
    const char* const wrong = reader.read(bytes, t.all.size(), [&](const stream_touch& got) {
      ASSERT_LT(i, t.all.size());
      EXPECT_EQ(got.site, t.all[i].site);
      EXPECT_EQ(got.block, t.all[i].block);
      EXPECT_EQ(got.offset, t.all[i].offset);
      EXPECT_EQ(got.bytes, t.all[i].bytes);
      ++i;
    });
    ASSERT_EQ(wrong, nullptr) << wrong;
    EXPECT_EQ(i, t.all.size());
  }
}

std::string fault(std::vector<std::uint8_t> bytes, std::uint64_t count, std::vector<bool> variable = {false, true}) {
  stream_reader reader(std::move(variable));
  const char* const wrong = reader.read(bytes, count, [](const stream_touch&) {});
  return wrong == nullptr ? "" : wrong;
}

TEST(address_stream, gives_back_what_was_written) {
  rng random(1, purpose::test, 0);
  for (int round = 0; round < 200; ++round) {
    touches t;
    for (int s = 0; s < 8; ++s) t.variable.push_back(random.next() % 2 == 0);
    for (int i = 0; i < 300; ++i) {
      const auto site = static_cast<std::uint32_t>(random.next() % 8);
      const std::uint64_t offset = random.next() % 3 == 0 ? random.next() : static_cast<std::uint64_t>(i) * 8;
      t.all.push_back({site, static_cast<std::uint32_t>(random.next() % 3), offset,
                       t.variable[site] ? 1 + random.next() % 100 : 0});
    }
    expect_read_back(t);
  }
}

TEST(address_stream, an_empty_one_is_a_count) {
  expect_read_back({{false}, {}});
  EXPECT_EQ(touches{}.written().size(), 1U);
}

TEST(address_stream, a_loop_takes_few_bytes) {
  touches t{{false, false, false}, {}};
  for (std::uint64_t i = 0; i < 100000; ++i) {
    t.all.push_back({0, 2, 8 * i, 0});
    t.all.push_back({1, 3, 24 * i, 0});
    t.all.push_back({2, 2, 8 * i, 0});
  }
  EXPECT_LT(t.written().size(), 40U);
  expect_read_back(t);
}

TEST(address_stream, damage_is_named) {
  EXPECT_EQ(fault({}, 0), "it ends within a number");
  EXPECT_EQ(fault({0x80}, 0), "it ends within a number");
  EXPECT_EQ(fault({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, 0), "it ends within a number");
  EXPECT_EQ(fault({1}, 0), "it has more touches than its row says");
  EXPECT_EQ(fault({1}, 1), "it predicts a touch from nothing");
  EXPECT_EQ(fault({0, 0, 0, 0}, 2), "it has fewer touches than its row says");
  EXPECT_EQ(fault({0, 0, 0, 0}, 0), "it has more touches than its row says");
  EXPECT_EQ(fault({0, 0, 0, 1}, 2), "it predicts a touch from nothing");  // nothing has followed the site yet
  EXPECT_EQ(fault({0, 8, 0, 0}, 1), "it names a site that is not there");
  EXPECT_EQ(fault({0, 2, 0, 0}, 1), "it has a touch of no bytes");
  EXPECT_EQ(fault({0, 0, 0, 0}, 1), "");
}

}  // namespace

}  // namespace kith
