// Depth-first walk over schedules.
#include "interleave/choices.hpp"

#include <charconv>
#include <stdexcept>

namespace kith::interleave {

choices::choices(const std::string& text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::size_t chosen = 0;
    const auto [after, problem] = std::from_chars(at, end, chosen);
    if (problem != std::errc() || (after != end && *after != '.')) {
      throw std::invalid_argument("interleave: schedule '" + text +
                                  "': expected numbers with dots between them, as a failure's report prints them");
    }
    stack_.push_back({chosen, 0});
    at = after == end ? end : after + 1;
  }
}

std::size_t choices::pick(std::size_t options) {
  if (options == 1) return 0;
  if (at_ == stack_.size()) stack_.push_back({0, options});
  choice& c = stack_[at_++];
  if (c.options == 0) c.options = options;
  if (c.options != options || c.chosen >= options) {
    diverged_ = true;
    return 0;
  }
  return c.chosen;
}

bool choices::advance() {
  stack_.resize(at_);
  while (!stack_.empty() && stack_.back().chosen + 1 == stack_.back().options) stack_.pop_back();
  if (stack_.empty()) return false;
  ++stack_.back().chosen;
  return true;
}

std::string choices::text() const {
  std::string s;
  for (std::size_t i = 0; i < at_; ++i) {
    if (i != 0) s += '.';
    s += std::to_string(stack_[i].chosen);
  }
  return s;
}

}  // namespace kith::interleave
