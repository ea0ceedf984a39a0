// Turns arguments and results into bytes, and bytes into values. For places.hpp.
//
// Trivially copyable values, and contiguous ranges of them, are copied as they are. All other types go through
// cereal, with these two archives. A reader never reads past the end of its bytes: every length is checked
// before memory is taken for it, and what does not fit throws kith::error.
#pragma once

#include <kith/detail/arguments.hpp>
#include <kith/detail/byte_buffer.hpp>
#include <kith/error.hpp>

#include <cereal/cereal.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kith::detail {

/// The largest alignment of an element of a span in a message.
inline constexpr std::size_t message_alignment = 16;

class output_archive : public cereal::OutputArchive<output_archive, cereal::AllowEmptyClassElision> {
 public:
  /// Appends to `to`, whose present size is a multiple of message_alignment.
  explicit output_archive(byte_buffer& to) : OutputArchive(this), to_(to) {}
  /// The same; arguments of write_outer() may stay where they are.
  explicit output_archive(packed_arguments& to) : OutputArchive(this), to_(to.buffer), outer_(&to.outer) {}

  void write(const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    const std::size_t at = to_.size();
    to_.resize(at + bytes);
    std::memcpy(to_.data() + at, from, bytes);
  }
  /// REQUIRES: these bytes stay until the message was taken.
  void write_outer(const void* from, std::size_t bytes) {
    if (outer_ == nullptr || bytes < packed_arguments::least_outer_bytes ||
        outer_->size() == packed_arguments::most_outer_parts)
      return write(from, bytes);
    outer_->push_back({to_.size(), static_cast<const std::byte*>(from), bytes});
    outer_bytes_ += bytes;
  }
  void align(std::size_t to) {
    const std::size_t at = to_.size() + outer_bytes_;
    to_.resize(to_.size() + (to - at % to) % to, std::byte{0});
  }

 private:
  byte_buffer& to_;
  std::vector<outer_part>* outer_ = nullptr;
  std::size_t outer_bytes_ = 0;
};

class input_archive : public cereal::InputArchive<input_archive, cereal::AllowEmptyClassElision> {
 public:
  /// Reads `from`, which must outlive the spans and string views that are read, and begins at a multiple of
  /// message_alignment.
  explicit input_archive(std::span<const std::byte> from) : InputArchive(this), from_(from) {}

  /// The next bytes. Throws kith::error if fewer are left.
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > left()) {
      throw error("message: truncated: " + std::to_string(bytes) + " bytes expected at byte " + std::to_string(at_) +
                      ", " + std::to_string(left()) + " are left",
                  error_kind::input);
    }
    const std::span<const std::byte> taken = from_.subspan(at_, bytes);
    at_ += bytes;
    return taken;
  }
  void read(void* to, std::size_t bytes) {
    const std::span<const std::byte> taken = take(bytes);
    if (bytes != 0) std::memcpy(to, taken.data(), bytes);
  }
  void align(std::size_t to) { static_cast<void>(take((to - at_ % to) % to)); }
  std::size_t left() const noexcept { return from_.size() - at_; }
  /// A number of elements that take at least `least` bytes each.
  std::size_t read_count(std::size_t least) {
    std::uint64_t count = 0;
    read(&count, sizeof count);
    if (count > left() / least) {
      throw error("message: truncated: " + std::to_string(count) + " elements announced, " + std::to_string(left()) +
                      " bytes are left; expected the same build of the program at all places",
                  error_kind::input);
    }
    return static_cast<std::size_t>(count);
  }
  /// Throws kith::error if bytes are left.
  void expect_end() const {
    if (left() != 0) {
      throw error("message: " + std::to_string(left()) +
                      " bytes more than its arguments take; expected the same build of the program at all places",
                  error_kind::input);
    }
  }

 private:
  std::span<const std::byte> from_;
  std::size_t at_ = 0;
};

// ---- the functions that cereal calls for its basic types

template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(output_archive& to, const T& value) {
  to.write(&value, sizeof value);
}
template <class T>
  requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(input_archive& from, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    unsigned char c = 0;
    from.read(&c, 1);
    if (c > 1)
      throw error("message: a bool has the value " + std::to_string(c) + "; expected 0 or 1", error_kind::input);
    value = c == 1;
  } else {
    from.read(&value, sizeof value);
  }
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(output_archive& to, const cereal::SizeTag<T>& count) {
  const auto n = static_cast<std::uint64_t>(count.size);
  to.write(&n, sizeof n);
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(input_archive& from, cereal::SizeTag<T>& count) {
  count.size = from.read_count(1);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(output_archive& to, const cereal::BinaryData<T>& data) {
  to.write(data.data, static_cast<std::size_t>(data.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(input_archive& from, cereal::BinaryData<T>& data) {
  from.read(data.data, static_cast<std::size_t>(data.size));
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(output_archive& to, cereal::NameValuePair<T>& pair) {
  to(pair.value);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(input_archive& from, cereal::NameValuePair<T>& pair) {
  from(pair.value);
}

// ---- the contents of a message

template <class T>
inline constexpr bool is_span = false;
template <class T, std::size_t N>
inline constexpr bool is_span<std::span<T, N>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T, class A>
inline constexpr bool is_vector<std::vector<T, A>> = true;
template <class T>
inline constexpr bool is_text_view = std::is_same_v<T, std::string_view>;

/// Copied byte by byte. bool is left to cereal, whose reader checks the value.
template <class T>
inline constexpr bool goes_as_bytes =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> &&
    !std::is_null_pointer_v<T> && !is_span<T> && !is_text_view<T> && !std::is_same_v<T, bool>;

/// Whether put() and get() can be called. Spans have messages of their own.
template <class T>
constexpr bool goes() {
  if constexpr (std::is_void_v<T> || goes_as_bytes<T> || is_span<T> || is_text_view<T>) {
    return true;
  } else if constexpr (is_vector<T>) {
    return detail::goes<typename T::value_type>();
  } else {
    return std::is_default_constructible_v<T> && cereal::traits::is_output_serializable<T, output_archive>::value &&
           cereal::traits::is_input_serializable<T, input_archive>::value;
  }
}

/// With `stays`, elements of `value` may be left where they are (output_archive::write_outer).
template <class T, bool stays = false>
void put(output_archive& to, const T& value) {
  if constexpr (goes_as_bytes<T>) {
    to.write(&value, sizeof value);
  } else if constexpr (is_text_view<T>) {
    const std::uint64_t count = value.size();
    to.write(&count, sizeof count);
    to.write(value.data(), value.size());
  } else if constexpr (is_span<T> || is_vector<T>) {
    using element = typename T::value_type;
    if constexpr (goes_as_bytes<element>) {
      static_assert(alignof(element) <= message_alignment, "an element of a message is aligned to 16 bytes at most");
      const std::uint64_t count = value.size();
      to.write(&count, sizeof count);
      to.align(alignof(element));
      if constexpr (stays) {
        to.write_outer(value.data(), value.size() * sizeof(element));
      } else {
        to.write(value.data(), value.size() * sizeof(element));
      }
    } else {
      static_assert(!is_span<T>, "a span's elements must be trivially copyable, or use a std::vector");
      to(value);
    }
  } else {
    to(value);
  }
}

/// Spans and string views refer to the archive's bytes.
template <class T>
T get(input_archive& from) {
  if constexpr (goes_as_bytes<T>) {
    std::array<std::byte, sizeof(T)> raw;
    from.read(raw.data(), raw.size());
    return std::bit_cast<T>(raw);
  } else if constexpr (is_text_view<T>) {
    const std::span<const std::byte> text = from.take(from.read_count(1));
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  } else if constexpr (is_span<T> || is_vector<T>) {
    using element = typename T::value_type;
    if constexpr (goes_as_bytes<element>) {
      const std::size_t count = from.read_count(sizeof(element));
      from.align(alignof(element));
      const auto* const first = reinterpret_cast<const element*>(from.take(count * sizeof(element)).data());
      if constexpr (is_span<T>) {
        static_assert(std::is_const_v<typename T::element_type> && T::extent == std::dynamic_extent,
                      "a span that a place receives refers to its message; write std::span<const T>");
        return T(first, count);
      } else {
        return T(first, first + count);
      }
    } else {
      T values;
      from(values);
      return values;
    }
  } else {
    T value{};
    from(value);
    return value;
  }
}

}  // namespace kith::detail
