#include "command_line/command_line.hpp"

#include "base/printable.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace kith::tools {

namespace {

int code(outcome o) { return static_cast<int>(o); }

/// What was wrong with the command line, in one line, and where help is.
std::string complaint(const tool& t, const CLI::App* app, const CLI::Error& e) {
  std::string verbs;
  for (const verb& v : t.verbs) verbs += (verbs.empty() ? "" : ", ") + std::string(v.name);
  const std::vector<CLI::App*> chosen = app->get_subcommands();
  if (!chosen.empty()) {
    const std::string verb = fmt::format("{} {}", t.name, chosen.front()->get_name());
    return fmt::format("{}: {}\n`{} --help` says what it takes.\n", verb, printable_lines(e.what()), verb);
  }
  const std::vector<std::string> rest = app->remaining();
  const std::string wrong =
      rest.empty() ? "a verb is missing" : fmt::format("no verb or option '{}'", printable(rest.front()));
  return fmt::format("{}: {}; expected one of: {}\n`{} --help` says more.\n", t.name, wrong, verbs, t.name);
}

/// True if everything has been written.
bool written(const std::string& who) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return true;
  fmt::print(stderr, "{}: standard output cannot be written\n", who);
  return false;
}

int run(const std::string& who, const std::function<outcome()>& verb) {
  std::string failure;
  try {
    const outcome o = verb();
    return written(who) ? code(o) : code(outcome::error);
  } catch (const std::bad_alloc&) {
    failure = "out of memory; ask for less (smaller sizes, fewer workers, or smaller stacks: KITH_STACK)";
  } catch (const std::exception& e) {
    failure = e.what();
  }
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", who, printable_lines(failure));
  return code(outcome::error);
}

}  // namespace

int run(const tool& t, int argc, char** argv) {
  CLI::App app(t.summary, t.name);
  app.set_help_flag("-h,--help", "print this help and leave");
  app.set_version_flag("--version", t.version, "print the version and leave");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.get_formatter()->label("Positionals", "Arguments");
  app.require_subcommand(1);
  app.failure_message([&t](const CLI::App* a, const CLI::Error& e) { return complaint(t, a, e); });
  app.footer(t.footer);

  std::vector<std::function<outcome()>> runs;
  for (const verb& v : t.verbs) runs.push_back(v.add(*app.add_subcommand(v.name, v.summary)->group("Verbs")));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // Help and the version arrive here as well, as a success.
    const bool fine = app.exit(e) == 0;
    return written(t.name) && fine ? code(outcome::fine) : code(outcome::error);
  }
  for (std::size_t v = 0; v < runs.size(); ++v) {
    const char* name = t.verbs[v].name;
    if (app.got_subcommand(name)) return run(fmt::format("{} {}", t.name, name), runs[v]);
  }
  return code(outcome::error);
}

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

}  // namespace kith::tools
