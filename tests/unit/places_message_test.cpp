// Messages of places: what is written is read, and what is damaged is refused.
#include "base/rng.hpp"
#include "fuzz/message_input.hpp"
#include "places/activity_name.hpp"
#include "places/collective_hub.hpp"
#include "places/control.hpp"
#include "places/message.hpp"

#include <cereal/types/map.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace {

using namespace kith;
using namespace kith::distributed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using message = detail::byte_buffer;

struct point {
  double x, y;
  bool operator==(const point&) const = default;
};
struct named {
  std::string name;
  std::map<int, std::vector<std::string>> all;
  bool operator==(const named&) const = default;
  template <class Archive>
  void serialize(Archive& a) {
    a(name, all);
  }
};

template <class T>
T there_and_back(const T& value) {
  message m;
  detail::output_archive to(m);
  detail::put(to, value);
  detail::input_archive from(m);
  T read = detail::get<T>(from);
  from.expect_end();
  return read;
}

TEST(PlacesMessage, KeepsValues) {
  EXPECT_EQ(there_and_back(42), 42);
  EXPECT_EQ(there_and_back(true), true);
  EXPECT_EQ(there_and_back(point{1, 2}), (point{1, 2}));
  EXPECT_EQ(there_and_back(std::string("with \0 inside", 13)), std::string("with \0 inside", 13));
  EXPECT_THAT(there_and_back(std::vector<point>{{1, 2}, {3, 4}}), ElementsAre(point{1, 2}, point{3, 4}));
  EXPECT_EQ(there_and_back(std::vector<int>()), std::vector<int>());
  EXPECT_THAT(there_and_back(std::vector<bool>{true, false, true}), ElementsAre(true, false, true));
  EXPECT_THAT(there_and_back(std::vector<std::string>{"a", ""}), ElementsAre("a", ""));
  EXPECT_EQ(there_and_back(std::pair(1, std::string("b"))), std::pair(1, std::string("b")));
  const named n{"n", {{1, {"x"}}, {2, {}}}};
  EXPECT_EQ(there_and_back(n), n);
}

TEST(PlacesMessage, SpansAreAlignedAndNotCopied) {
  using call = detail::signature<void(char, std::span<const double>, std::string_view)>;
  const std::vector<double> values{1, 2, 3};
  const message m = call::pack(detail::header_bytes, 'c', values, "text").flattened();
  const auto [c, span, text] = call::unpack(payload_of(m));
  EXPECT_EQ(c, 'c');
  EXPECT_THAT(span, ElementsAre(1, 2, 3));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(span.data()) % alignof(double), 0u);
  EXPECT_TRUE(reinterpret_cast<const std::byte*>(span.data()) > m.data() &&
              reinterpret_cast<const std::byte*>(span.data()) < m.data() + m.size());
  EXPECT_EQ(text, "text");
}

/// Large elements stay where they are, unless they are those of a temporary object.
TEST(PlacesMessage, LargeArgumentsAreNotCopied) {
  using call = detail::signature<void(char, std::span<const double>, std::vector<short>, char, std::string)>;
  const std::vector<double> large(20000, 1.5), small(10, 2.5);
  const std::vector<short> odd(40001, 3);
  const std::string text(100000, 't');
  const auto packed = call::pack(detail::header_bytes, 'c', large, odd, 'd', text.c_str());
  ASSERT_EQ(packed.outer.size(), 2u);
  EXPECT_EQ(packed.outer[0].data, reinterpret_cast<const std::byte*>(large.data()));
  EXPECT_EQ(packed.outer[1].data, reinterpret_cast<const std::byte*>(odd.data()));
  EXPECT_LT(packed.buffer.size(), 2 * text.size());
  const message whole = packed.flattened();
  EXPECT_EQ(whole.size(), packed.size());
  const auto [c, span, vector, d, string] = call::unpack(payload_of(whole));
  EXPECT_TRUE(c == 'c' && d == 'd' && vector == odd && string == text);
  EXPECT_TRUE(std::ranges::equal(span, large));
  EXPECT_TRUE(call::pack(0, 'c', small, std::vector<short>{1}, 'd', "text").outer.empty());
}

TEST(PlacesMessage, ManyLargeArgumentsAreCopied) {
  const std::vector<int> large(20000, 7);
  detail::packed_arguments packed;
  detail::output_archive to(packed);
  for (int i = 0; i < 20; ++i) detail::put<std::span<const int>, true>(to, large);
  EXPECT_EQ(packed.outer.size(), detail::packed_arguments::most_outer_parts);
  const message whole = packed.flattened();
  detail::input_archive from(whole);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(std::ranges::equal(detail::get<std::span<const int>>(from), large));
  from.expect_end();
}

TEST(PlacesMessage, RefusesEveryTruncation) {
  using call = detail::signature<void(int, const std::string&, std::vector<double>, const named&)>;
  const message whole = call::pack(0, 7, "text", std::vector<double>{1, 2}, named{"n", {{1, {"x"}}}}).flattened();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const message part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(call::unpack(part), error) << size;
  }
  message longer = whole;
  longer.push_back({});
  EXPECT_THAT([&] { call::unpack(longer); }, ThrowsMessage<error>(HasSubstr("1 bytes more")));
}

TEST(PlacesMessage, AnnouncedLengthsTakeNoMemory) {
  message m;
  detail::output_archive to(m);
  detail::put(to, std::uint64_t{1} << 60);
  const auto read = [&]<class T>(const T&) {
    detail::input_archive from(m);
    return detail::get<T>(from);
  };
  EXPECT_THAT([&] { read(std::vector<double>()); }, ThrowsMessage<error>(HasSubstr("elements announced")));
  EXPECT_THROW(read(std::string()), error);
  EXPECT_THROW(read(std::vector<std::string>()), error);
  EXPECT_THROW(read(std::string_view()), error);
  EXPECT_THROW(read(std::span<const int>()), error);
}

TEST(PlacesMessage, AnyBytesAreReadOrRefused) {
  using call =
      detail::signature<void(bool, std::string_view, std::span<const double>, std::vector<std::string>, named)>;
  const message whole = call::pack(0, true, "text", std::vector<double>{1, 2, 3}, std::vector<std::string>{"a", "bc"},
                                   named{"n", {{1, {"x", "y"}}}})
                            .flattened();
  rng random(1, purpose::pick, 0);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    message m = whole;
    for (std::uint32_t n = 1 + random.below(3); n > 0; --n)
      m[random.below(static_cast<std::uint32_t>(m.size()))] = static_cast<std::byte>(random.below(256));
    if (random.below(4) == 0) m.resize(random.below(static_cast<std::uint32_t>(m.size())));
    m.shrink_to_fit();
    try {
      const auto values = call::unpack(m);
      EXPECT_LE(std::get<1>(values).size(), m.size());
      EXPECT_LE(std::get<2>(values).size_bytes(), m.size());
    } catch (const std::exception&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(PlacesMessage, RefusesDamagedHeaders) {
  constexpr std::uint32_t places = 4, functions = 3;
  const message_header good{.from = 3, .function = 3, .finish_home = 3};
  EXPECT_EQ(decode(sealed(good), places, functions).function, 3u);
  const auto with = [&](auto&& change) {
    message_header h = good;
    change(h);
    return sealed(h);
  };
  const auto refused = [&](const message& m, const char* why) {
    EXPECT_THAT([&] { decode(m, places, functions); }, ThrowsMessage<error>(HasSubstr(why)));
  };
  refused({}, "truncated");
  refused(message(63), "truncated");
  refused(with([](message_header& h) { ++h.version; }), "version");
  refused(with([](message_header& h) { h.kind = message_kind{0}; }), "unknown kind 0");
  refused(with([](message_header& h) { h.kind = message_kind{17}; }), "unknown kind 17");
  refused(with([](message_header& h) { h.flags = 16; }), "unknown flags");
  refused(with([](message_header& h) { h.function = 0; }), "unknown function 0");
  refused(with([](message_header& h) { h.function = 4; }), "unknown function 4");
  refused(with([](message_header& h) { h.from = 4; }), "place 4");
  refused(with([](message_header& h) { h.finish_home = 9; }), "place 9");
  message longer = sealed(good);
  longer.push_back({});
  refused(longer, "0 bytes announced, 1");
}

TEST(PlacesMessage, KeepsFailures) {
  const message m = sealed({.kind = message_kind::done}, failure{5, "why"});
  EXPECT_TRUE(decode(m, 1, 0).has(message_header::failed));
  const failure read = read_failure(payload_of(m));
  EXPECT_EQ(read.place, 5u);
  EXPECT_EQ(read.what, "why");
  EXPECT_THROW(read_failure({}), error);
}

TEST(PlacesMessage, KeepsContributions) {
  std::array<std::int64_t, 3> values{1, 2, 3};
  const collective sum{.what = collective::operation::sum,
                       .element_type = collective::element::i64,
                       .count = values.size(),
                       .data = reinterpret_cast<std::byte*>(values.data()),
                       .bytes = sizeof values};
  const message m = contribution_of(2, sum);
  const message_header h = decode(m, 3, 0);
  const collective read = read_contribution(h);
  EXPECT_EQ(read.what, sum.what);
  EXPECT_EQ(read.element_type, sum.element_type);
  EXPECT_EQ(read.count, 3u);
  EXPECT_EQ(read.bytes, sizeof values);
  EXPECT_EQ(std::memcmp(payload_of(m).data(), values.data(), sizeof values), 0);
  EXPECT_EQ(
      decode(contribution_of(2, {.what = collective::operation::broadcast, .count = 9, .bytes = 9}), 3, 0).payload,
      0u);  // it is not the root

  const auto refused = [&](auto&& change, const char* why) {
    message_header damaged = h;
    change(damaged);
    EXPECT_THAT([&] { static_cast<void>(read_contribution(damaged)); }, ThrowsMessage<error>(HasSubstr(why)));
  };
  refused([](message_header& d) { d.function = 5; }, "unknown collective");
  refused([](message_header& d) { d.function |= 7 << 8; }, "unknown collective");
  refused([](message_header& d) { d.finish_number = 4; }, "expected 32");
  refused([](message_header& d) { d.finish_number = std::uint64_t{1} << 61; }, "elements");
  refused([](message_header& d) { d.function = 0; }, "elements");  // a barrier
}

TEST(PlacesMessage, KeepsCounts) {
  kith::place_statistics counts;
  counts.messages = 7;
  counts.fab_mean = 2.5;
  counts.tasks.workers.resize(3);
  counts.tasks.workers[2].deque_peak = 11;
  counts.tasks.pretended = true;
  const message m = sealed({.kind = message_kind::counts}, counts);
  const auto read = read_counts(payload_of(m));
  EXPECT_EQ(read.messages, 7u);
  EXPECT_EQ(read.fab_mean, 2.5);
  ASSERT_EQ(read.tasks.workers.size(), 3u);
  EXPECT_EQ(read.tasks.workers[2].deque_peak, 11u);
  EXPECT_TRUE(read.tasks.pretended);
  for (std::size_t bytes = 0; bytes < payload_of(m).size(); ++bytes)
    EXPECT_THROW(read_counts(payload_of(m).first(bytes)), error) << bytes;
}

TEST(PlacesMessage, FuzzersBeginWithMessagesThatCanBeRead) {
  for (std::uint8_t which = 0; which < test::good_messages().size(); ++which)
    EXPECT_TRUE(test::use_message(std::vector{which})) << static_cast<int>(which);
}

TEST(PlacesMessage, ABatchHasItsRecordsAndNoMore) {
  const std::vector<message> messages{sealed({.kind = message_kind::credit, .from = 1, .credits = 16}),
                                      sealed({.kind = message_kind::done, .from = 2}, failure{2, "why"})};
  const message batch = test::batch_of(messages);
  batch_reader records(batch, 4);
  std::vector<record_kind> kinds;
  std::vector<message> read;
  while (const auto r = records.next()) {
    kinds.push_back(r->kind);
    if (r->kind == record_kind::message) read.emplace_back(records.data().begin(), records.data().end());
    if (r->kind == record_kind::near) {
      EXPECT_EQ(records.near_number(), 6u);
      ASSERT_EQ(r->place, 2u);
      EXPECT_EQ(records.part(0).size + records.part(1).size, r->bytes);
    }
  }
  EXPECT_TRUE(records.at_end());
  EXPECT_THAT(kinds, ElementsAre(record_kind::sign, record_kind::message, record_kind::message, record_kind::large,
                                 record_kind::taken, record_kind::near, record_kind::lost));
  EXPECT_EQ(read, messages);
  EXPECT_EQ(decode(read.front(), 4, 0).credits, 16u);

  const auto readable = [](std::span<const std::byte> bytes, std::size_t places) {
    batch_reader r(bytes, places);
    std::size_t count = 0;
    while (r.next()) ++count;
    return r.at_end() ? count : 0;
  };
  EXPECT_EQ(readable(batch, 3), 0u) << "place 3 cannot be lost where there are 3";
  std::vector<std::size_t> ends;  // of whole records
  for (std::size_t size = 1; size <= batch.size(); ++size) {
    const message cut(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(size));
    if (readable(cut, 4) != 0) ends.push_back(size);
  }
  EXPECT_EQ(ends.size(), kinds.size());
}

TEST(PlacesMessage, WhatFuzzersFoundIsReadOrRefused) {
  std::size_t read = 0, all = 0;
  for (const auto& file : std::filesystem::directory_iterator(KITH_TEST_DATA "/../fuzz/corpus/messages")) {
    SCOPED_TRACE(file.path());
    std::ifstream in(file.path(), std::ios::binary);
    read += test::use_message(std::vector<std::uint8_t>{std::istreambuf_iterator<char>(in), {}});
    ++all;
  }
  EXPECT_GT(all, 10u);
  EXPECT_GT(read, 0u);
  EXPECT_LT(read, all);
}

TEST(PlacesMessage, FunctionsHaveTheNamesOfTheirSource) {
  using kith::distributed::activity_name;
  const std::string of = "kith::detail::constant_function<&";
  EXPECT_EQ(activity_name(of + "job::add>"), "job::add");
  EXPECT_EQ(activity_name(of + "job::(anonymous namespace)::add>"), "job::add");
  EXPECT_EQ(activity_name(of + "(unsigned long job::twice<int>(std::span<int const, 4ul>, int (*)(int)))>"),
            "job::twice<int>");
  EXPECT_EQ(activity_name(of + "(a::pieces a::(anonymous namespace)::on<&a::(anonymous namespace)::cg>(int, double))>"),
            "a::on<&a::cg>");
  EXPECT_EQ(activity_name("main::{lambda(int)#2}"), "main::lambda#2");
  EXPECT_EQ(activity_name("a::solve(kith::distributed_array<long> const&, int) const::{lambda(std::span<long>)#1}"),
            "a::solve::lambda#1");
  EXPECT_EQ(activity_name("a::check(int)::{lambda()#1}::operator()() const::{lambda(int)#2}"),
            "a::check::lambda#1::lambda#2");
  EXPECT_EQ(activity_name("job::run()::$_0"), "job::run::$_0");  // by Clang
  EXPECT_EQ(activity_name(of + "(kith::activity<void> kith::detail::run_flow_task<kith::detail::constant_function<"
                               "&job::relax>, kith::detail::flow_access<long, (kith::mode)0, true> >(int))>"),
            "job::relax");
  EXPECT_EQ(activity_name("adder"), "adder");
  for (const char* odd : {"", "(", "<<", "kith::detail::constant_function<", "{lambda(", ")", "a(b", " "})
    EXPECT_NO_THROW(static_cast<void>(activity_name(odd))) << odd;
}

}  // namespace
