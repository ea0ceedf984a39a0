#include "command_line/help_files.hpp"

#include "command_line/completion.hpp"
#include "command_line/man_page.hpp"

#include <kith/error.hpp>

#include <filesystem>
#include <fstream>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) throw error(file.parent_path().string() + ": cannot be made: " + failed.message());
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw error(file.string() + ": cannot be written");
}

}  // namespace

void write_help_files(const tool_model& t, const std::string& folder) {
  const fs::path to = folder;
  write(to / "man" / "man1" / (t.name + ".1"), man_page(t));
  for (const command_model& c : t.commands) write(to / "man" / "man1" / (t.name + "-" + c.name + ".1"), man_page(t, c));
  write(to / "bash-completion" / "completions" / t.name, bash_completion(t));
  write(to / "zsh" / "site-functions" / ("_" + t.name), zsh_completion(t));
  write(to / "fish" / "vendor_completions.d" / (t.name + ".fish"), fish_completion(t));
}

}  // namespace kith::tools
