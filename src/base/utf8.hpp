// Reads UTF-8 text one character at a time. For code that makes text safe to show.
#pragma once

#include <cstddef>
#include <string_view>

namespace kith {

struct utf8_character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;  // if false, it is one byte that begins no character
};

/// The first character of a text that is not empty. Overlong encodings, surrogates, and codes beyond the last one are
/// not valid.
inline utf8_character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {lead, 1, false};
  char32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (!valid) return {lead, 1, false};
  return {code, bytes, true};
}

}  // namespace kith
