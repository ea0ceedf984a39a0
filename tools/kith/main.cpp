// kith, the command line. It only dispatches: the verbs are in verbs.hpp.
#include "verbs.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using kith::tools::outcome;

int code(outcome o) { return static_cast<int>(o); }

/// What was wrong with the command line, in one line, and where help is.
std::string complaint(const CLI::App* app, const CLI::Error& e) {
  std::string verbs;
  for (const kith::tools::verb& v : kith::tools::verbs) verbs += (verbs.empty() ? "" : ", ") + std::string(v.name);
  const std::vector<CLI::App*> chosen = app->get_subcommands();
  if (!chosen.empty()) {
    const std::string verb = "kith " + chosen.front()->get_name();
    return fmt::format("{}: {}\n`{} --help` says what it takes.\n", verb, e.what(), verb);
  }
  const std::vector<std::string> rest = app->remaining();
  const std::string wrong = rest.empty() ? "a verb is missing" : fmt::format("no verb or option '{}'", rest.front());
  return fmt::format("kith: {}; expected one of: {}\n`kith --help` says more.\n", wrong, verbs);
}

/// Runs the verb that was chosen. What it throws becomes one line.
int run(const std::string& name, const std::function<outcome()>& verb) {
  try {
    const outcome o = verb();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code(o);
    fmt::print(stderr, "kith {}: standard output cannot be written\n", name);
  } catch (const std::exception& e) {
    std::fflush(stdout);
    fmt::print(stderr, "kith {}: {}\n", name, e.what());
  }
  return code(outcome::error);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Kith runs task graphs so that work stays near its data.", "kith");
  app.set_help_flag("-h,--help", "print this help and leave");
  app.set_version_flag("--version", KITH_VERSION, "print the version and leave");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.get_formatter()->label("Positionals", "Arguments");
  app.require_subcommand(1);
  app.failure_message(complaint);
  app.footer("`kith VERB --help` says more about a verb. A wrong command line ends with exit code 2.");

  std::vector<std::function<outcome()>> runs;
  for (const kith::tools::verb& v : kith::tools::verbs) {
    runs.push_back(v.add(*app.add_subcommand(v.name, v.summary)->group("Verbs")));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // Help and the version arrive here as well, as a success.
    return app.exit(e) == 0 ? code(outcome::fine) : code(outcome::error);
  }
  for (std::size_t v = 0; v < runs.size(); ++v) {
    const char* name = kith::tools::verbs[v].name;
    if (app.got_subcommand(name)) return run(name, runs[v]);
  }
  return code(outcome::error);
}
