#include "command_line/completion.hpp"

#include <fmt/core.h>

namespace kith::tools {

namespace {

/// Escapes text for '...', and for the [...] and :...: of a specification.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '\'': out += "'\\''"; break;
      case '[':
      case ']':
      case ':':
      case '\\': out += std::string("\\") + c; break;
      case '\n': out += ' '; break;
      default: out += c;
    }
  }
  return out;
}

/// A value as ":TYPE:ACTION".
std::string zsh_completion_value(const value_model& v) {
  std::string words;
  for (const std::string& w : v.words) words += (words.empty() ? "" : " ") + escaped(w);
  std::string action = " ";
  if (v.list && !words.empty()) {
    action = " _values -s , word " + words;  // the leading space: without options of _arguments
  } else if (!words.empty() && (v.files || v.folders)) {
    action = " _alternative \"words:word:(" + words + ")\" \"files:file:_files\"";
  } else if (!words.empty()) {
    action = "(" + words + ")";
  } else if (v.files) {
    action = "_files";
  } else if (v.folders) {
    action = "_files -/";
  }
  return ":" + escaped(v.type) + ":" + action;
}

std::string option(const option_model& o, const std::string& name, const std::string& indent) {
  return fmt::format("{}'{}{}[{}]{}' \\\n", indent, o.repeats ? "*" : "", name, escaped(o.text),
                     o.takes_value ? zsh_completion_value(o.value) : "");
}

std::string zsh_completion_command(const command_model& c) {
  std::string specs;
  const std::string indent = "        ";
  for (const option_model& o : c.options) {
    if (!o.short_name.empty()) specs += option(o, o.short_name, indent);
    specs += option(o, o.long_name, indent);
  }
  for (const option_model& a : c.arguments)
    specs += fmt::format("{}'{}{}' \\\n", indent,
                         a.repeats    ? "*"
                         : a.required ? ""
                                      : ":",
                         zsh_completion_value(a.value));
  std::string own;
  for (const subject& s : c.subjects) {
    own += fmt::format("        {}) own=(", s.name);
    for (const subject::option& o : s.options)
      own += fmt::format("'--{}[{}]{}' ", o.name, escaped(o.text), o.takes_value ? ":VALUE: " : "");
    own += ") ;;\n";
  }
  if (!own.empty()) own = "      case $words[2] in\n" + own + "      esac\n";
  return fmt::format("    {})\n{}      _arguments -s \\\n{}        \"$own[@]\" ;;\n", c.name, own, specs);
}

}  // namespace

std::string zsh_completion(const tool_model& t) {
  std::string verbs, commands, options;
  for (const command_model& c : t.commands) {
    verbs += fmt::format("    '{}:{}'\n", c.name, escaped(c.summary));
    commands += zsh_completion_command(c);
  }
  for (const option_model& o : t.options) options += option(o, o.long_name, "      ");
  return fmt::format(
      "#compdef {0}\n# Completion of {0} for zsh; made from its command line.\n_{0}() {{\n"
      "  local -a verbs own\n  verbs=(\n{1}  )\n"
      "  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    _arguments \\\n{3}      && return\n    return\n  "
      "fi\n"
      "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n{2}  esac\n}}\n_{0} \"$@\"\n",
      t.name, verbs, commands, options);
}

}  // namespace kith::tools
