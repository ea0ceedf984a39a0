#include "command_line/command_line.hpp"

#include "command_line/command_model.hpp"
#include "command_line/complaint.hpp"
#include "command_line/help_files.hpp"
#include "command_line/help_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace kith::tools {

namespace {

using words = std::vector<std::string>;

int code(outcome o) { return static_cast<int>(o); }

/// Whether the answer must be JSON. What comes after "--" is another program's command line.
bool wants_json(const words& given) {
  return std::find(given.begin(), std::ranges::find(given, "--"), "--json") != std::ranges::find(given, "--");
}

/// True if all output has been written.
bool written(const std::string& who) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return true;
  fmt::print(stderr, "{}: standard output cannot be written\n", who);
  return false;
}

int refuse(const complaint& c, bool json) {
  if (json) fmt::print("{}", c.json());
  std::fflush(stdout);
  fmt::print(stderr, "{}", c.text());
  return code(outcome::error);
}

int run_verb(const std::string& who, const std::function<outcome()>& verb, bool json) {
  complaint failure{who, {}};
  try {
    const outcome o = verb();
    return written(who) ? code(o) : code(outcome::error);
  } catch (const std::bad_alloc&) {
    failure.message = "out of memory; ask for less (smaller sizes, fewer workers, or smaller stacks: KITH_STACK)";
  } catch (const std::exception& e) {
    failure.message = e.what();
  } catch (...) {
    failure.message = "what was thrown is no std::exception; a policy of a library must throw kith::error instead";
  }
  return refuse(failure, json);
}

/// Adds `help`, which every tool has. `help VERB` is handled as `VERB --help`, and does not come here.
std::function<outcome()> add_help(const tool& t, CLI::App& app, CLI::App& command) {
  auto folder = std::make_shared<std::string>();
  auto verb = std::make_shared<words>();
  command.add_option("verb", *verb, "the verb to explain")->type_name("VERB");
  command
      .add_option("--write", *folder,
                  "make man pages and completion for bash, zsh and fish, below a folder such as ~/.local/share")
      ->type_name("FOLDER");
  command.footer(
      "Without a verb: all verbs. An installed package has man pages and completion already.\nExit code: 0, or 2 if "
      "there is no such verb, or a file cannot be written.");
  return [&t, &app, folder] {
    if (folder->empty()) {
      fmt::print("{}", app.help());
    } else {
      write_help_files(model_of(t, app), *folder);
    }
    return outcome::fine;
  };
}

/// Turns "help sim" into "sim --help".
words without_help_verb(words given) {
  if (given.empty() || given.front() != "help") return given;
  if (std::ranges::any_of(given, [](const std::string& w) { return w.starts_with('-'); })) return given;
  given.erase(given.begin());
  given.emplace_back("--help");
  return given;
}

}  // namespace

int run(const tool& t, int argc, char** argv) {
  CLI::App app(t.summary, t.name);
  app.formatter(std::make_shared<help_format>());
  app.set_help_flag("-h,--help", "print this help and leave");
  app.set_version_flag("--version", t.version, "print the version and leave");
  app.require_subcommand(1);
  app.footer(t.footer);

  std::vector<std::function<outcome()>> runs;
  words names;
  for (const verb& v : t.verbs) {
    runs.push_back(v.add(*app.add_subcommand(v.name, v.summary)->group("Verbs")));
    names.emplace_back(v.name);
  }
  runs.push_back(add_help(t, app, *app.add_subcommand("help", "this text, or what a verb does")->group("Verbs")));
  names.emplace_back("help");

  const words given(argv + std::min(argc, 1), argv + argc);
  const bool json = wants_json(given);
  words read = without_help_verb(given);
  const bool unknown = read != given && read.size() > 1 && std::ranges::find(names, read.front()) == names.end();
  if (unknown) read.pop_back();  // the complaint must come first; the help would hide it
  try {
    std::ranges::reverse(read);  // in the order that CLI11 takes
    app.parse(std::move(read));
  } catch (const CLI::Success& asked) {  // help or the version was asked for
    app.exit(asked);
    return written(t.name) ? code(outcome::fine) : code(outcome::error);
  } catch (const CLI::ParseError& e) {
    return refuse(complaint_of(t, app, e, given), json);
  }
  for (std::size_t v = 0; v < runs.size(); ++v) {
    if (app.got_subcommand(names[v])) return run_verb(fmt::format("{} {}", t.name, names[v]), runs[v], json);
  }
  return code(outcome::error);
}

std::vector<std::string> split_choices(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    const std::string name = word.substr(0, word.find(':'));
    if (!all.empty() && name.find('=') != std::string::npos) {
      all.back() += "," + word;
    } else {
      all.push_back(word);
    }
  }
  return all;
}

CLI::Option* one_value_each_time(CLI::Option* o) { return o->expected(1)->take_all()->allow_extra_args(false); }

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return CLI::Validator(
      [least, most, range](std::string& text) {
        std::int64_t n = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, failure] = std::from_chars(text.data(), end, n);
        if (failure == std::errc{} && stop == end && n >= least && n <= most) return std::string();
        return fmt::format("'{}' is no whole number from {}", text, range);
      },
      range);
}

CLI::Validator some_text() {
  return CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("expected a name, got an empty text") : std::string();
      },
      "");
}

}  // namespace kith::tools
