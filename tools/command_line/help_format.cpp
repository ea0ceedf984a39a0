#include "command_line/help_format.hpp"

#include "command_line/folded.hpp"

#include <sstream>

namespace kith::tools {

namespace {

constexpr std::size_t margin = 30;

std::string in_two_columns(std::string left, const std::string& right) {
  left = "  " + left;
  left += left.size() + 1 < margin ? std::string(margin - left.size(), ' ') : "\n" + std::string(margin, ' ');
  return left + folded(right, margin) + "\n";
}

}  // namespace

help_format::help_format() {
  label("SUBCOMMAND", "VERB");
  label("Positionals", "Arguments");
  column_width(margin);
}

std::string help_format::make_option(const CLI::Option* option, bool is_positional) const {
  return in_two_columns(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
}

std::string help_format::make_subcommand(const CLI::App* command) const {
  return in_two_columns(command->get_name(), command->get_description());
}

std::string help_format::make_footer(const CLI::App* command) const {
  std::istringstream paragraphs(command->get_footer());
  std::string text;
  for (std::string line; std::getline(paragraphs, line);)
    text += (line.starts_with(' ') ? line : folded(line, 0)) + "\n";
  return text;
}

}  // namespace kith::tools
