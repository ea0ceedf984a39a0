#include "words.hpp"

#include "hash.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace kith::apps {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> all;
  std::error_code failure;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, failure);
  if (failure) throw error(folder + ": " + failure.message() + "; expected a folder of text files");
  for (; at != fs::end(at); at.increment(failure)) {
    if (failure) throw error(folder + ": cannot be read: " + failure.message());
    if (at->is_regular_file(failure)) all.push_back(at->path());
  }
  std::ranges::sort(all);
  return all;
}

/// Adds the words of the text. All characters but English letters end a word.
void add_words(std::string_view text, std::vector<std::string>& to) {
  std::string word;
  const auto end = [&] {
    if (word.size() >= 3) to.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      end();
    }
  }
  end();
}

}  // namespace

std::vector<std::string> words_of_folder(const std::string& folder, std::int64_t most) {
  std::vector<std::string> words;
  std::int64_t bytes = 0;
  for (const fs::path& path : files_below(folder)) {
    if (bytes >= most) break;
    std::ifstream file(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (text.find('\0') != text.npos) continue;  // no text
    text.resize(std::min(text.size(), static_cast<std::size_t>(most - bytes)));
    bytes += static_cast<std::int64_t>(text.size());
    add_words(text, words);
  }
  if (words.empty()) throw error(folder + ": no word in its files; expected a folder of text files");
  return words;
}

std::vector<std::string> generated_words(std::int64_t count, std::uint64_t seed) {
  std::vector<std::string> words;
  for (std::int64_t w = 0; w < count; ++w) {
    const auto n = static_cast<std::uint64_t>(w);
    std::string word;
    for (std::uint64_t i = 0; i < 3 + hash(seed, n) % 3; ++i) {  // syllables
      const std::uint64_t drawn = hash(seed + 1, n * 8 + i);
      word += "bdfghklmnprstvwz"[drawn % 16];
      word += "aeiouy"[drawn / 16 % 6];
    }
    for (std::uint64_t left = n; left != 0; left /= 26) word += static_cast<char>('a' + left % 26);  // unique
    words.insert(words.end(), 1 + hash(seed + 2, n) % 3, word);
  }
  return words;
}

}  // namespace kith::apps
