#include "sequences.hpp"

#include "hash.hpp"
#include "line_reader.hpp"

#include <algorithm>
#include <cctype>

namespace kith::apps {

namespace {

sequences generate(std::int64_t size, std::uint64_t seed) {
  constexpr std::string_view letters = "ACGT";
  sequences s{"generated", "original", "mutated", {}, {}};
  for (std::int64_t i = 0; i < size; ++i) s.a += letters[hash(seed, static_cast<std::uint64_t>(i)) % 4];
  // Of 100 letters, 10 are replaced, 3 are removed, and after 3 some are inserted.
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint64_t draw = hash(seed + 1, static_cast<std::uint64_t>(i));
    const std::uint64_t event = draw % 100;
    if (event < 3) continue;
    s.b += event < 13 ? letters[(draw >> 20) % 4] : s.a[static_cast<std::size_t>(i)];
    if (event < 97) continue;
    for (std::uint64_t more = 0; more <= (draw >> 30) % 5; ++more) s.b += letters[(draw >> (32 + 2 * more)) % 4];
  }
  s.b.resize(std::min<std::size_t>(s.b.size(), s.a.size()));
  while (s.b.size() < s.a.size()) s.b += letters[hash(seed + 2, s.b.size()) % 4];
  return s;
}

[[noreturn]] void refuse(const line_reader& lines, char c) {
  lines.wrong("'" + printable(std::string(1, c)) + "' is no letter of a sequence");
}

}  // namespace

sequences read_fasta(const std::string& path) {
  line_reader lines(path);
  sequences s{path, {}, {}, {}, {}};
  int records = 0;
  while (lines.next()) {
    std::string_view line = lines.line();
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    if (line.empty() || line.front() == ';') continue;
    if (line.front() == '>') {
      if (++records > 2) break;
      const std::string_view name = line.substr(1, line.find_first_of(" \t"));
      (records == 1 ? s.name_a : s.name_b) = printable(name.substr(0, name.find_last_not_of(" \t") + 1));
      continue;
    }
    if (records == 0) lines.wrong("letters before the first '>'; is this a FASTA file?");
    for (char c : line) {
      const auto letter = static_cast<unsigned char>(c);
      if (std::isalpha(letter) == 0 && c != '*' && c != '-') refuse(lines, c);
      if (c != '-') (records == 1 ? s.a : s.b) += static_cast<char>(std::toupper(letter));
    }
  }
  if (records < 2) throw error(path + ": " + std::to_string(records) + " sequences; an alignment takes two");
  if (s.a.empty() || s.b.empty())
    throw error(path + ": the sequence '" + (s.a.empty() ? s.name_a : s.name_b) + "' is empty");
  return s;
}

sequences read_sequences(const arguments& a) {
  a.exclude("input", "size");
  if (a.has("input")) return read_fasta(a.text("input"));
  return generate(a.number("size", 1, 1 << 20), a.seed());
}

void alignment::finish(std::int64_t from_a, std::int64_t from_b) {
  std::ranges::reverse(a);
  std::ranges::reverse(b);
  begin_a = from_a;
  begin_b = from_b;
}

std::int64_t alignment::score(const scoring& s) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.size();) {
    if (a[i] != '-' && b[i] != '-') {
      sum += s.of(a[i], b[i]);
      ++i;
      continue;
    }
    const std::string& gapped = a[i] == '-' ? a : b;
    std::size_t end = i;
    while (end < gapped.size() && gapped[end] == '-') ++end;
    sum -= s.gap(static_cast<std::int64_t>(end - i));
    i = end;
  }
  return sum;
}

double alignment::identity_percent() const {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  return a.empty() ? 0 : 100.0 * static_cast<double>(equal) / static_cast<double>(a.size());
}

bool fits(const alignment& al, const sequences& s) {
  const auto one = [](std::string row, const std::string& whole, std::int64_t begin) {
    std::erase(row, '-');
    return begin >= 0 && static_cast<std::size_t>(begin) <= whole.size() &&
           whole.compare(static_cast<std::size_t>(begin), row.size(), row) == 0;
  };
  return al.a.size() == al.b.size() && one(al.a, s.a, al.begin_a) && one(al.b, s.b, al.begin_b);
}

}  // namespace kith::apps
