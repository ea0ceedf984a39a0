#include "output.hpp"

#include "base/replacement.hpp"

#include <fmt/core.h>

#include <kith/error.hpp>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace kith::tools {

void refuse_output(const std::string& option, const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(output, input, ignored))
      throw error(
          fmt::format("{} {}: is the same file as {}, which is read; name another file", option, output, input));
  }
  refuse_unwritable(output);
}

std::vector<std::string> files_of(const std::vector<std::string>& policies) {
  constexpr std::string_view option = "file=";
  std::vector<std::string> files;
  for (const std::string& policy : policies) {
    const std::size_t options = policy.find(':');
    if (options == std::string::npos) continue;
    for (std::size_t at = options; at != std::string::npos; at = policy.find(',', at + 1)) {
      if (policy.compare(at + 1, option.size(), option) != 0) continue;
      const std::size_t from = at + 1 + option.size();
      files.push_back(policy.substr(from, policy.find(',', from) - from));
    }
  }
  return files;
}

void write_text(const std::string& text, const std::string& file) {
  replacement fresh(file);
  if (!(std::ofstream(fresh.path()) << text).flush()) throw error(file + ": cannot be written");
  fresh.put_in_place();
}

}  // namespace kith::tools
