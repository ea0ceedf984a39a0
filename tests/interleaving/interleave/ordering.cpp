// Keeps track of orderings, and of the weakened one.
#include "interleave/ordering.hpp"

#include <algorithm>
#include <fstream>

namespace kith::interleave {

std::string source_line(const std::string& file, unsigned line) {
  std::ifstream in(file);
  std::string text;
  for (unsigned i = 0; i < line && std::getline(in, text); ++i) {
  }
  const auto first = text.find_first_not_of(" \t");
  return !in || first == std::string::npos ? "" : text.substr(first);
}

std::string ordering::text() const {
  const char* names[] = {"acquire", "release", "fence"};
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(line) + " (" +
         names[static_cast<std::size_t>(what)] + "): " + source_line(file, line);
}

bool orderings::drop(side s, const std::source_location& where) {
  used_[{where.file_name(), where.line()}] |= 1u << static_cast<unsigned>(s);
  return weakened_ && weakened_->what == s && weakened_->line == where.line() && weakened_->file == where.file_name();
}

std::memory_order orderings::load(std::memory_order order, const std::source_location& where) {
  return acquires(order) && drop(side::acquire, where) ? std::memory_order_relaxed : order;
}

std::memory_order orderings::store(std::memory_order order, const std::source_location& where) {
  if (order == std::memory_order_seq_cst && drop(side::fence, where)) order = std::memory_order_release;
  return releases(order) && drop(side::release, where) ? std::memory_order_relaxed : order;
}

std::memory_order orderings::modify(std::memory_order order, const std::source_location& where) {
  const bool acquire = acquires(order) && !drop(side::acquire, where);
  const bool release = releases(order) && !drop(side::release, where);
  return acquire && release ? std::memory_order_acq_rel
         : acquire          ? std::memory_order_acquire
         : release          ? std::memory_order_release
                            : std::memory_order_relaxed;
}

bool orderings::fence(const std::source_location& where) { return !drop(side::fence, where); }

std::vector<ordering> orderings::used() const {
  std::vector<ordering> all;
  for (const auto& [place, sides] : used_) {
    for (const side s : {side::acquire, side::release, side::fence}) {
      if ((sides >> static_cast<unsigned>(s) & 1) != 0) all.push_back({place.first, place.second, s});
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace kith::interleave
