#include "app/memory.hpp"

#include "machine/memory_left.hpp"
#include "numbers.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace kith::tools {

std::uint64_t address_space() {
  std::ifstream columns("/proc/self/statm");  // the sixth: data and stacks, without what malloc keeps free
  std::uint64_t pages = 0;
  for (int c = 0; c < 6; ++c) columns >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void refuse_what_does_not_fit(const std::string& app, const std::vector<std::string>& words, const memory_need& need) {
  const std::optional<memory_left> left = read_memory_left();
  if (!left || need.all() <= left->bytes) return;
  std::string command = "kith record --dry -- kith app " + app;
  for (const std::string& w : words) command += " " + w;
  throw error(
      fmt::format("{}: needs {} of memory{}, and {} are left ({}); lower its parameters, or record what it would "
                  "do without running it: {}",
                  app, in_bytes(need.all()),
                  need.verifying == 0 ? "" : fmt::format(" ({} to verify the result)", in_bytes(need.verifying)),
                  in_bytes(left->bytes), left->from, command));
}

}  // namespace kith::tools
