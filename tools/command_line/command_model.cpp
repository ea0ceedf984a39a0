#include "command_line/command_model.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace kith::tools {

namespace {

bool is_literal(const std::string& part) {
  return !part.empty() &&
         std::ranges::all_of(part, [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '-'; });
}

/// Splits a type such as "MACHINE|FILE.svg" into its parts.
value_model value_of(const CLI::Option& option, std::span<const placeholder> known) {
  value_model v;
  v.type = option.get_type_name();
  std::string type = v.type;
  if (type.ends_with(",...")) {
    v.list = true;
    type.resize(type.size() - 4);
  }
  if (option.get_delimiter() == ',') v.list = true;
  std::istringstream parts(type);
  for (std::string part; std::getline(parts, part, '|');) {
    if (part.starts_with("FILE")) v.files = true;
    if (part == "FOLDER") v.folders = true;
    if (is_literal(part)) v.words.push_back(part);
    for (const placeholder& p : known) {
      if (part != p.name) continue;
      const std::vector<std::string> words = p.words();
      v.words.insert(v.words.end(), words.begin(), words.end());
    }
  }
  return v;
}

option_model option_of(const CLI::Option& option, std::span<const placeholder> known) {
  option_model o;
  o.text = option.get_description();
  o.required = option.get_required();
  if (option.get_positional()) {
    o.long_name = option.get_name(true);
  } else {
    if (!option.get_snames().empty()) o.short_name = "-" + option.get_snames().front();
    if (!option.get_lnames().empty()) o.long_name = "--" + option.get_lnames().front();
  }
  o.takes_value = option.get_items_expected_max() > 0;
  o.repeats = option.get_items_expected_max() > 1;
  if (o.takes_value) o.value = value_of(option, known);
  return o;
}

void read_footer(const std::string& footer, command_model& c) {
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    auto& part = line.starts_with("usage: ")       ? c.usage
                 : line.starts_with("JSON: ")      ? c.json
                 : line.starts_with("Exit code: ") ? c.exit_code
                                                   : c.description;
    const std::size_t label = &part == &c.description ? 0 : line.find(": ") + 2;
    part.push_back(line.substr(label));
  }
}

}  // namespace

command_model model_of(const CLI::App& command, const verb* declared, std::span<const placeholder> known) {
  command_model c;
  c.name = command.get_name();
  c.summary = command.get_description();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // internal options
    (option->get_positional() ? c.arguments : c.options).push_back(option_of(*option, known));
  }
  if (declared != nullptr && declared->subjects != nullptr) c.subjects = declared->subjects();
  read_footer(command.get_footer(), c);
  return c;
}

tool_model model_of(const tool& t, const CLI::App& app) {
  tool_model m;
  m.name = t.name;
  m.summary = t.summary;
  m.version = t.version;
  const command_model top = model_of(app, nullptr, t.placeholders);
  m.options = top.options;
  m.description = top.description;
  for (const CLI::App* command : app.get_subcommands({})) {
    const auto at = std::ranges::find(t.verbs, command->get_name(), &verb::name);
    m.commands.push_back(model_of(*command, at == t.verbs.end() ? nullptr : &*at, t.placeholders));
  }
  return m;
}

}  // namespace kith::tools
