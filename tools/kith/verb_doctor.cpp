// kith doctor: this machine, the rights of this process on it, what Kith will use, and how to improve it.
#include "verbs.hpp"

#include "base/environment.hpp"
#include "doctor/examination.hpp"
#include "doctor/recorded.hpp"
#include "numbers.hpp"
#include "terminal.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace kith::tools {

namespace {

constexpr std::size_t margin = 26;

std::string badge(verdict v) {
  switch (v) {
    case verdict::fine: return styled("ok     ", tone::good);
    case verdict::note: return "note   ";
    case verdict::limited: return styled("limited", tone::warning);
    case verdict::broken: return styled("error  ", tone::bad);
  }
  return "";
}

std::string title(std::string key) {
  for (char& c : key) {
    if (c == '_') c = ' ';
  }
  return key;
}

void print(const finding& f) {
  fmt::print("  {}  {:<14} {}\n", badge(f.is), title(f.key), folded(f.fact, margin));
  const auto more = [](const char* lead, const std::string& text) {
    if (text.empty()) return;
    fmt::print("{:{}}{}\n", "", margin, styled(lead, tone::faint) + folded(text, margin + 3));
  };
  more("-> ", f.effect);
  more("!! ", f.advice);
}

void print(const examination& e) {
  fmt::print("{}\n\n", styled("What is here (->: what Kith does because of it, !!: what you can do)", tone::strong));
  for (const finding& f : e.findings) print(f);

  fmt::print("\n{}\n", styled("How many workers: the least of", tone::strong));
  for (const worker_plan::limit& l : e.plan.limits) {
    const bool decided = l.name == e.plan.decided_by;
    fmt::print("  {} {:<20} {:>5}  {}\n", decided ? "*" : " ", l.name, l.value ? std::to_string(*l.value) : "-",
               folded(l.note, 31));
  }

  const std::size_t limited = e.count(verdict::limited), broken = e.count(verdict::broken);
  fmt::print("\nKith runs {}{}. ", counted(static_cast<std::size_t>(e.plan.workers), "worker"),
             e.here.pretended ? ", pretended" : "");
  if (broken != 0) {
    fmt::print("{}\n", styled("It does not work as it is: see 'error' above.", tone::bad));
  } else if (limited != 0) {
    fmt::print("{}\n",
               styled("It works, with " + counted(limited, "limitation") + ": see 'limited' above.", tone::warning));
  } else {
    fmt::print("{}\n", styled("All is well.", tone::good));
  }
}

nlohmann::ordered_json settings_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const variable* v : var::all)
    all.push_back({{"variable", v->name}, {"option", v->option}, {"default", v->standard}, {"meaning", v->meaning}});
  return all;
}

}  // namespace

std::function<outcome()> add_doctor(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  command.add_flag(
      "--json", *json,
      "write JSON: {\"status\", \"workers\", \"limits\", \"placement\", \"findings\", ...}; of a recording: "
      "{\"status\", \"tasks\", \"overhead_ns\" (of a task), \"overhead_share\", \"findings\"}");
  auto file = std::make_shared<std::string>();
  command
      .add_option("recording", *file,
                  "examine this recording (`kith record`) instead of the machine: are its tasks large enough?")
      ->type_name("FILE");
  auto list_settings = std::make_shared<bool>(false);
  command.add_flag("--settings", *list_settings, "list the environment variables that Kith reads, and nothing else");
  command.footer(
      "Exit code: 0, all is well; 1, Kith works, but this process is allowed less than the machine can do; 2, Kith "
      "does not work, or a setting is wrong. Of a recording: 1, a type of tasks is too small.\n"
      "A recording's overhead is the workers' time without idle times and the tasks' own code, shared out evenly "
      "among tasks. It includes what recording costs (docs/recording-format.md).\n"
      "Settings (--settings lists them) are taken from the environment, as programs take them.");
  return [json, list_settings, file] {
    if (!file->empty()) {
      if (*list_settings) throw std::runtime_error("--settings and a recording exclude each other");
      const examination_of_run e = examine_run(*file);
      if (*json) {
        fmt::print("{}\n", to_json(e).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
      } else {
        for (const finding& f : e.findings) print(f);
      }
      return e.is_limited() ? outcome::limited : outcome::fine;
    }
    if (*list_settings) {
      if (*json) {
        fmt::print("{}\n", settings_json().dump(2));
      } else {
        fmt::print("{}", table_of_variables());
      }
      return outcome::fine;
    }
    const examination e = examine();
    if (*json) {
      fmt::print("{}\n", to_json(e).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    } else {
      print(e);
    }
    const verdict worst = e.worst();
    return worst == verdict::broken ? outcome::error : worst == verdict::limited ? outcome::limited : outcome::fine;
  };
}

}  // namespace kith::tools
