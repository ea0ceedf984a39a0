// The layout of --help: that of CLI11, with lines that fit a page.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>

namespace kith::tools {

class help_format final : public CLI::Formatter {
 public:
  help_format();

  std::string make_option(const CLI::Option*, bool is_positional) const override;
  std::string make_subcommand(const CLI::App*) const override;
  /// Each line of a footer is a paragraph; a line that begins with a space is left as it is.
  std::string make_footer(const CLI::App*) const override;
};

}  // namespace kith::tools
