// Reads a fuzzer's input as a message between places, and uses all that can be read of it.
//
// The first byte selects a message that can be read, or none. In the first case each further five bytes are a change of
// it (kind, position, value), so that mutated bytes remain changes of a message; else they are the message itself. The
// second byte says whether the header's size is repaired in the end, so that changes also reach what comes after it.
// The message is copied to memory of its size, beyond which the address sanitizer sees each access. It is read as a
// batch of messages, too.
#pragma once

#include "places/batch.hpp"
#include "places/collective_hub.hpp"
#include "places/control.hpp"
#include "places/message.hpp"

#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::test {

struct fuzzed_point {
  double x, y;
};
struct fuzzed_name {
  std::string name;
  std::map<int, std::vector<std::string>> all;
  std::optional<std::pair<char, double>> at;
  template <class Archive>
  void serialize(Archive& a) {
    a(name, all, at);
  }
};

/// Reads each byte of a value, and returns their number.
inline std::size_t read_bytes(const void* from, std::size_t count) {
  [[maybe_unused]] static volatile unsigned char last;  // so that the reads are not left out
  for (std::size_t i = 0; i < count; ++i) last = static_cast<const unsigned char*>(from)[i];
  return count;
}
template <class T>
std::size_t read_all(const T& value) {
  if constexpr (std::is_trivially_copyable_v<T> && !requires { value.size(); }) {
    return read_bytes(&value, sizeof value);
  } else if constexpr (requires { value.first; }) {
    return read_all(value.first) + read_all(value.second);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? read_all(*value) : 0;
  } else if constexpr (requires { value.all; }) {
    return read_all(value.name) + read_all(value.all) + read_all(value.at);
  } else if constexpr (requires { *value.data(); }) {
    std::size_t count = read_bytes(value.data(), value.size() * sizeof(*value.data()));
    if constexpr (!std::is_trivially_copyable_v<typename T::value_type>) {
      for (const auto& v : value) count += read_all(v);
    }
    return count;
  } else {
    std::size_t count = 0;
    for (const auto& v : value) count += read_all(v);
    return count;
  }
}

/// The parameters of the functions that a spawn may name, and the results that a result may have.
using fuzzed_functions =
    std::tuple<detail::signature<void(int, const std::string&, std::vector<double>, const fuzzed_name&)>,
               detail::signature<void(bool, std::string_view, std::span<const double>, std::vector<std::string>)>,
               detail::signature<void(char, std::span<const fuzzed_point>, std::span<const char>, std::vector<bool>)>,
               detail::signature<void()>>;

template <std::size_t I = 0>
std::size_t read_arguments(std::uint32_t function, std::span<const std::byte> payload) {
  if constexpr (I < std::tuple_size_v<fuzzed_functions>) {
    if (function != I + 1) return read_arguments<I + 1>(function, payload);
    const auto values = std::tuple_element_t<I, fuzzed_functions>::unpack(payload);
    return std::apply([](const auto&... v) { return (std::size_t{0} + ... + read_all(v)); }, values);
  }
  return 0;
}

/// A batch with each kind of record, and these messages.
inline detail::byte_buffer batch_of(const std::vector<detail::byte_buffer>& messages) {
  using distributed::record, distributed::record_kind, distributed::near_part;
  detail::byte_buffer batch;
  const auto put = [&batch](const void* from, std::size_t size) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    batch.insert(batch.end(), bytes, bytes + size);
  };
  const auto add = [&](const record& r, const auto& data) {
    put(&r, sizeof r);
    put(data.data(), data.size() * sizeof *data.data());
  };
  const std::string why = "its process has ended";
  add({record_kind::sign, 0, 0}, std::string());
  for (const detail::byte_buffer& m : messages) add({record_kind::message, 0, m.size()}, m);
  add({record_kind::large, 0, 1 << 20}, std::string());
  add({record_kind::taken, 0, 5}, std::string());
  const near_part parts[] = {{4096, 64}, {8192, 100}};
  const std::uint64_t number = 6;
  add({record_kind::near, 2, 164}, std::span(&number, 1));
  put(parts, sizeof parts);
  add({record_kind::lost, 3, why.size()}, why);
  return batch;
}

/// Messages that can be read, one at least for each kind and function, and batches of them.
inline const std::vector<detail::byte_buffer>& good_messages() {
  using distributed::message_header, distributed::message_kind;
  static const std::vector<detail::byte_buffer> good = [] {
    std::vector<detail::byte_buffer> all;
    const auto call = [&]<std::size_t I>(std::integral_constant<std::size_t, I>, const auto&... arguments) {
      detail::byte_buffer message =
          std::tuple_element_t<I, fuzzed_functions>::pack(sizeof(message_header), arguments...).flattened();
      distributed::seal(message, {.from = 1, .function = I + 1, .sequence = 7, .finish_number = 3});
      all.push_back(message);
      distributed::seal(message, {.kind = message_kind::result, .from = 2, .result = I});
      all.push_back(message);
    };
    const fuzzed_name name{"name", {{1, {"one", "uno"}}, {2, {}}}, {{'c', 2}}};
    call(std::integral_constant<std::size_t, 0>(), 5, "text", std::vector<double>{1, 2}, name);
    call(std::integral_constant<std::size_t, 1>(), true, "text", std::vector<double>{1, 2, 3},
         std::vector<std::string>{"a", "bc"});
    call(std::integral_constant<std::size_t, 2>(), 'c', std::vector<fuzzed_point>{{1, 2}, {3, 4}},
         std::string_view("letters"), std::vector<bool>{true, false});
    call(std::integral_constant<std::size_t, 3>());
    for (const message_kind k : {message_kind::accepted, message_kind::refused, message_kind::done})
      all.push_back(distributed::sealed({.kind = k, .from = 3, .sequence = 9, .finish_number = 2, .finish_home = 1}));
    for (const message_kind k : {message_kind::result, message_kind::done})
      all.push_back(distributed::sealed({.kind = k, .from = 3}, distributed::failure{2, "it failed", true}));
    place_statistics counts;
    counts.tasks.workers.resize(2);
    all.push_back(distributed::sealed({.kind = message_kind::counts, .from = 3}, counts));
    all.push_back(distributed::sealed({.kind = message_kind::reset_counts, .from = 1}));
    for (const message_kind k : {message_kind::ask_clock, message_kind::clock})
      all.push_back(distributed::sealed({.kind = k, .from = 2, .sequence = 7, .finish_number = 8, .result = 9}));
    for (const message_kind k :
         {message_kind::run_ended, message_kind::job_ended, message_kind::ask_counts, message_kind::counts_reset})
      all.push_back(distributed::sealed({.kind = k, .from = 1}));
    // Credits go back alone, or with another message.
    const std::size_t first_with_credits = all.size();
    all.push_back(distributed::sealed({.kind = message_kind::credit, .from = 1, .credits = 16}));
    all.push_back(distributed::sealed({.kind = message_kind::accepted,
                                       .flags = message_header::engaged,
                                       .from = 2,
                                       .sequence = 9,
                                       .credits = 0xffffffff}));
    all.push_back(std::tuple_element_t<3, fuzzed_functions>::pack(sizeof(message_header)).flattened());
    distributed::seal(all.back(), {.flags = message_header::forced, .from = 1, .function = 4, .credits = 1});
    const std::vector<detail::byte_buffer> with_credits(all.begin() + static_cast<std::ptrdiff_t>(first_with_credits),
                                                        all.end());
    const std::vector<detail::byte_buffer> mixed{all.front(), all[1], all[9], with_credits.front()};
    for (const auto& messages : {with_credits, mixed, {}}) all.push_back(batch_of(messages));
    std::vector<std::byte> values(16);
    all.push_back(distributed::contribution_of(1, {.what = distributed::collective::operation::sum,
                                                   .element_type = distributed::collective::element::f64,
                                                   .count = 2,
                                                   .data = values.data(),
                                                   .bytes = values.size()}));
    all.push_back(distributed::sealed({.kind = message_kind::combined}));
    return all;
  }();
  return good;
}

inline detail::byte_buffer message_of(std::span<const std::uint8_t> bytes) {
  const std::size_t which = bytes.empty() ? 0 : bytes[0];
  const bool repaired = bytes.size() > 1 && bytes[1] % 2 == 1;
  bytes = bytes.subspan(std::min<std::size_t>(2, bytes.size()));
  detail::byte_buffer message;
  if (which >= good_messages().size()) {
    for (const std::uint8_t b : bytes) message.push_back(std::byte{b});
  } else {
    message = good_messages()[which];
    for (; bytes.size() >= 5; bytes = bytes.subspan(5)) {
      const std::size_t at = (bytes[1] * std::size_t{256} + bytes[2]) % (message.size() + 1);
      const std::uint16_t value = static_cast<std::uint16_t>(bytes[3] * 256 + bytes[4]);
      const auto position = message.begin() + static_cast<std::ptrdiff_t>(at);
      const auto write = [&](const auto& number) {
        if (at < message.size())
          std::memcpy(message.data() + at, &number, std::min(sizeof number, message.size() - at));
      };
      switch (bytes[0] % 5) {
        case 0: write(bytes[4]); break;
        case 1: write(std::uint64_t{value}); break;                                // a small length
        case 2: write(std::uint64_t{value} << (bytes[3] % 49)); break;             // any length
        case 3: message.erase(position, message.end()); break;                     // truncated
        case 4: message.insert(position, value % 64, std::byte{bytes[3]}); break;  // moved
      }
    }
  }
  if (repaired && message.size() >= sizeof(distributed::message_header)) {
    distributed::message_header h;
    std::memcpy(&h, message.data(), sizeof h);
    h.version = distributed::message_header::current;
    distributed::seal(message, h);
  }
  message.shrink_to_fit();
  return message;
}

/// True if it could be read to its end.
inline bool use_decoded(std::span<const std::byte> message) {
  try {
    const auto functions = static_cast<std::uint32_t>(std::tuple_size_v<fuzzed_functions>);
    const distributed::message_header h = distributed::decode(message, 4, functions);
    const std::span<const std::byte> payload = distributed::payload_of(message);
    if (h.kind == distributed::message_kind::spawn) {
      read_arguments(h.function, payload);
    } else if (h.has(distributed::message_header::failed)) {
      read_all(distributed::read_failure(payload).what);
    } else if (h.kind == distributed::message_kind::counts) {
      static_cast<void>(distributed::read_counts(payload));
    } else if (h.kind == distributed::message_kind::result) {
      read_arguments(static_cast<std::uint32_t>(h.result % functions) + 1, payload);
    } else if (h.kind == distributed::message_kind::contribution) {
      static_cast<void>(distributed::read_contribution(h));
    }
    return true;
  } catch (const std::exception&) {  // of kith, or of a type's cereal functions
    return false;
  }
}

/// Reads all records of a batch, and the messages in it. True if it could be read to its end.
inline bool use_batch(std::span<const std::byte> batch) {
  distributed::batch_reader records(batch, 4);
  bool fine = true;
  while (const std::optional<distributed::record> r = records.next()) {
    read_all(records.data());
    if (r->kind == distributed::record_kind::message) {
      const detail::byte_buffer message(records.data().begin(), records.data().end());
      fine = use_decoded(message) && fine;
    }
    if (r->kind == distributed::record_kind::near) {
      read_all(records.near_number());
      for (std::size_t i = 0; i < r->place; ++i) read_all(records.part(i));
    }
  }
  return fine && !batch.empty() && records.at_end();
}

/// True if it could be read to its end, as a message or as a batch.
inline bool use_message(std::span<const std::uint8_t> bytes) {
  const detail::byte_buffer message = message_of(bytes);
  const bool alone = use_decoded(message), batch = use_batch(message);
  return alone || batch;
}

}  // namespace kith::test
