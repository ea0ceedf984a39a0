// Reads text files line by line; error messages name file and line. For the programs of this folder.
#pragma once

#include <kith/error.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace kith::apps {

/// Text for an error message: shortened, without control characters.
inline std::string printable(std::string_view text) {
  std::string shown(text.substr(0, 60));
  std::ranges::replace_if(shown, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return shown;
}

/// The lines of a file, with the current position.
class line_reader {
 public:
  explicit line_reader(const std::string& path) : path_(path), file_(path) {
    if (!file_) throw error(path + ": cannot be opened: " + std::strerror(errno));
  }

  /// Reads the next line; false at the end of the file.
  bool next() {
    ++number_;
    if (!std::getline(file_, line_)) {
      if (file_.bad()) throw error(path_ + ": cannot be read: " + std::strerror(errno));
      return false;
    }
    rest_ = line_;
    return true;
  }
  std::string_view line() const noexcept { return line_; }

  /// The next word of the line; empty at its end.
  std::string_view word() noexcept {
    static constexpr std::string_view space = " \t\r,";
    rest_.remove_prefix(std::min(rest_.find_first_not_of(space), rest_.size()));
    const std::string_view w = rest_.substr(0, rest_.find_first_of(space));
    rest_.remove_prefix(w.size());
    return w;
  }
  std::uint64_t number(const char* what, std::uint64_t least, std::uint64_t most) {
    const std::string_view w = word();
    std::uint64_t n = 0;
    const auto [stop, failure] = std::from_chars(w.data(), w.data() + w.size(), n);
    if (w.empty() || failure != std::errc{} || stop != w.data() + w.size() || n < least || n > most) {
      wrong(std::string(what) + " '" + printable(w) + "' is no whole number from " + std::to_string(least) + " to " +
            std::to_string(most));
    }
    return n;
  }
  /// The next word as a finite number.
  double real(const char* what) {
    const std::string_view w = word();
    double x = 0;
    const auto [stop, failure] = std::from_chars(w.data(), w.data() + w.size(), x);
    if (w.empty() || failure != std::errc{} || stop != w.data() + w.size() || !std::isfinite(x)) {
      wrong(std::string(what) + " '" + printable(w) + "' is no number");
    }
    return x;
  }
  [[noreturn]] void wrong(const std::string& what) const {
    const std::string shown = printable(line_);
    throw error(path_ + ":" + std::to_string(number_) + ": " + what + (shown.empty() ? "" : "; the line is: " + shown));
  }

 private:
  std::string path_;
  std::ifstream file_;
  std::string line_;
  std::string_view rest_;
  std::uint64_t number_ = 0;
};

/// Whether a line is empty, or a comment that begins with '#' or '%'.
inline bool is_comment(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == line.npos || line[begin] == '#' || line[begin] == '%';
}

}  // namespace kith::apps
