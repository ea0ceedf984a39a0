#include "base/printable.hpp"

#include "base/utf8.hpp"

namespace kith {

namespace {

/// Control characters of 7 and 8 bits, and characters that break lines, change the writing direction, or are invisible.
bool acts_on_terminals(char32_t c) noexcept {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
         (c >= 0xe0000 && c <= 0xe007f);
}

std::string in_hex(char32_t c, int digits) {
  std::string text(static_cast<std::size_t>(digits), '0');
  for (std::size_t i = text.size(); i-- > 0; c >>= 4) text[i] = "0123456789abcdef"[c & 15];
  return text;
}

std::string shown(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const utf8_character c = first_character(text);
    if (c.valid && (!acts_on_terminals(c.code) || (lines && c.code == '\n'))) {
      out += text.substr(0, c.bytes);
    } else if (!c.valid || c.code < 0x80) {
      out += "\\x" + in_hex(c.code, 2);
    } else {
      out += c.code <= 0xffff ? "\\u" + in_hex(c.code, 4) : "\\U" + in_hex(c.code, 8);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  if (text.size() <= most) return shown(text, false);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;  // not inside a character
  return shown(text.substr(0, most), false) + "...";
}

std::string printable_lines(std::string_view text) { return shown(text, true); }

}  // namespace kith
