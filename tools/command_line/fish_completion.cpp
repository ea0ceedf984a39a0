#include "command_line/completion.hpp"

#include <fmt/core.h>

namespace kith::tools {

namespace {

/// Quotes text with '...'.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

/// The values that may follow, words and files, as options of `complete`.
std::string fish_completion_value(const value_model& v) {
  std::string words;
  for (const std::string& w : v.words) words += (words.empty() ? "" : " ") + w;
  std::string text = v.files || v.folders ? " -F" : "";
  if (!words.empty()) {
    text += v.list ? " -a " + in_quotes("(__fish_append , " + words + ")") : " -a " + in_quotes(words);
  }
  return text;
}

std::string option(const std::string& when, const option_model& o) {
  std::string text = when;
  if (!o.short_name.empty()) text += " -s " + o.short_name.substr(1);
  text += " -l " + o.long_name.substr(2);
  if (o.takes_value) text += (o.value.files || o.value.folders ? " -r" : " -x") + fish_completion_value(o.value);
  return text + " -d " + in_quotes(o.text) + "\n";
}

}  // namespace

std::string fish_completion(const tool_model& t) {
  std::string text =
      fmt::format("# Completion of {0} for fish; made from its command line.\ncomplete -c {0} -f\n", t.name);
  const std::string first = fmt::format("complete -c {} -n __fish_use_subcommand", t.name);
  for (const option_model& o : t.options) text += option(first, o);
  for (const command_model& c : t.commands) {
    text += fmt::format("{} -a {} -d {}\n", first, c.name, in_quotes(c.summary));
    const std::string inside = fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", t.name, c.name);
    for (const option_model& o : c.options) text += option(inside, o);
    for (const option_model& a : c.arguments) {
      const std::string what = fish_completion_value(a.value);
      if (!what.empty()) text += inside + what + "\n";
    }
    for (const subject& s : c.subjects) {
      const std::string when =
          fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}; and contains {} (commandline -opc)'", t.name,
                      c.name, s.name);
      for (const subject::option& o : s.options)
        text += fmt::format("{} -l {}{} -d {}\n", when, o.name, o.takes_value ? " -x" : "", in_quotes(o.text));
    }
  }
  return text;
}

}  // namespace kith::tools
