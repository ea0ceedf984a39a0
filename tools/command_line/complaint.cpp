#include "command_line/complaint.hpp"

#include "base/nearest.hpp"
#include "base/printable.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace kith::tools {

namespace {

std::vector<std::string> names_of_verbs(const CLI::App& tool) {
  std::vector<std::string> names;
  for (const CLI::App* verb : tool.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

/// The "--policy" of "--policy=steal".
std::string name_part(const std::string& word) { return word.substr(0, word.find('=')); }

/// The options of a command that begin with two dashes.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Of words that a verb does not take: the first that looks like an option, or else the first.
std::string unexpected(const std::vector<std::string>& words, const CLI::App& verb) {
  const auto option = std::ranges::find_if(words, [](const std::string& w) { return w.starts_with('-'); });
  if (option == words.end()) return fmt::format("'{}' is more than it takes", words.front());
  if (*option == "--") return "nothing after --";
  const std::string wrong = name_part(*option), near = nearest_name(wrong, options_of(verb));
  return near.empty() ? fmt::format("no option '{}'", wrong)
                      : fmt::format("no option '{}'; did you mean '{}'?", wrong, near);
}

/// CLI11's message, which begins with the option's long name. If the short one was given, it is named.
std::string as_given(std::string message, const CLI::App& verb, const std::vector<std::string>& given) {
  for (const CLI::Option* option : verb.get_options()) {
    if (option->get_snames().empty() || !message.starts_with(option->get_name() + ":")) continue;
    const std::string name = option->get_name(), brief = "-" + option->get_snames().front();
    const auto end = std::ranges::find(given, "--");
    const auto has = [&](const std::string& lead) {
      return std::any_of(given.begin(), end, [&](const std::string& w) { return w.starts_with(lead); });
    };
    if (!has(name) && has(brief)) message.replace(0, name.size(), brief);
    break;
  }
  return message;
}

complaint about_verbs(const tool& t, const CLI::App& app, const std::string& wrong) {
  const std::vector<std::string> verbs = names_of_verbs(app);
  if (wrong.empty()) return {t.name, fmt::format("a verb is missing; expected one of: {}", listed(verbs))};
  std::vector<std::string> known = verbs;
  const bool option = wrong.starts_with('-');
  if (option) known = options_of(app);
  const std::string near = nearest_name(name_part(wrong), known);
  return {t.name, fmt::format("no {} '{}'; {}{}: {}", option ? "option" : "verb or option", wrong,
                              near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                              near.empty() ? "expected one of" : "There are", listed(known))};
}

}  // namespace

std::string complaint::text() const {
  return fmt::format("{}: {}\n{}", command, printable_lines(message), hint.empty() ? "" : hint + "\n");
}

std::string complaint::json() const {
  nlohmann::ordered_json error = {{"command", command}, {"message", message}};
  if (!hint.empty()) error["hint"] = hint;
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  return nlohmann::ordered_json({{"error", std::move(error)}}).dump(2, ' ', false, replace) + "\n";
}

complaint complaint_of(const tool& t, const CLI::App& app, const CLI::Error& e, const std::vector<std::string>& given) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  complaint c;
  if (!chosen.empty()) {
    const CLI::App& verb = *chosen.front();
    const std::vector<std::string> rest = verb.remaining();
    c.command = fmt::format("{} {}", t.name, verb.get_name());
    const bool of_a_value = dynamic_cast<const CLI::ValidationError*>(&e) != nullptr ||
                            dynamic_cast<const CLI::ConversionError*>(&e) != nullptr;
    c.message = rest.empty() || of_a_value || verb.get_allow_extras() ? as_given(e.what(), verb, given)
                                                                      : unexpected(rest, verb);
    const bool runs_program = verb.get_option_no_throw("program") != nullptr;
    c.hint = fmt::format("`{} --help` says what it takes.{}", c.command,
                         runs_program ? " A program and its arguments come after --." : "");
  } else {
    const std::vector<std::string> rest = app.remaining();
    c = about_verbs(t, app, rest.empty() ? "" : rest.front());
    c.hint = fmt::format("`{} --help` says more.", t.name);
  }
  return c;
}

}  // namespace kith::tools
