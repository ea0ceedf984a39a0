// The words of texts: of files, or generated. For sharded.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::apps {

/// The words (three letters or more, in lower case) of the folder's text files and of those in folders below, in the
/// order of their paths, up to `most` bytes of text. Throws kith::error if there is none, and if the folder cannot be
/// read.
std::vector<std::string> words_of_folder(const std::string& folder, std::int64_t most);

/// A text of `count` different words, each of which occurs once or several times.
std::vector<std::string> generated_words(std::int64_t count, std::uint64_t seed);

}  // namespace kith::apps
