#include "recording/touches.hpp"

#include <kith/error.hpp>

#include <string>

namespace kith {

namespace {
std::vector<bool> without_fixed_size(const recording& r) {
  std::vector<bool> variable;
  for (const recorded_site& s : r.sites) variable.push_back(s.bytes == 0);
  return variable;
}
}  // namespace

touch_reader::touch_reader(const recording& r) : r_(r), reader_(without_fixed_size(r)) {}

std::uint64_t touch_reader::gather(std::size_t task) {
  std::uint64_t touches = 0;
  bytes_.clear();
  if (task + 1 >= r_.first_stream.size()) return 0;
  for (std::uint64_t s = r_.first_stream[task]; s < r_.first_stream[task + 1]; ++s) {
    touches += r_.streams[s].touches;
    bytes_.insert(bytes_.end(), r_.streams[s].bytes.begin(), r_.streams[s].bytes.end());
  }
  return touches;
}

void touch_reader::refuse(std::size_t task, const char* what) {
  throw error("the recording is damaged: table stream: of task " + std::to_string(task) + ": " + what,
              error_kind::input);
}

}  // namespace kith
