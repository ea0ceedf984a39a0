// kith policies: the policies that KITH_POLICY and --policy accept.
#include "verbs.hpp"

#include "named.hpp"
#include "policy_library.hpp"
#include "replay/choose.hpp"
#include "terminal.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

void policies_print_json(const std::vector<policy_entry>& entries) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const policy_entry& p : entries) {
    nlohmann::ordered_json options = nlohmann::ordered_json::array();
    for (const policy_option& o : p.options)
      options.push_back({{"key", o.key}, {"values", text_of(o).substr(o.key.size() + 1)}, {"help", o.help}});
    all.push_back({{"name", p.name},
                   {"paper", p.paper},
                   {"section", p.section},
                   {"summary", p.summary},
                   {"options", std::move(options)},
                   {"priorities", p.priorities},
                   {"needs_file", p.needs_file()}});
  }
  fmt::print("{}\n", all.dump(1));
}

/// "RIP, 4.1; "; empty for a policy of no paper.
std::string source_of(const policy_entry& p) {
  if (*p.paper == '\0') return "";
  return *p.section == '\0' ? fmt::format("{}; ", p.paper) : fmt::format("{}, {}; ", p.paper, p.section);
}

void policies_print_table(const std::vector<policy_entry>& entries) {
  for (const policy_entry& p : entries) {
    fmt::print("{} {}\n", styled(fmt::format("{:<8}", p.name), tone::strong),
               folded(p.summary, std::max<std::size_t>(9, std::string_view(p.name).size() + 1)));
    fmt::print("{:9}{}\n", "",
               styled(fmt::format("{}{} priorities", source_of(p), p.priorities ? "honours" : "ignores"), tone::faint));
    for (const policy_option& o : p.options) {
      const std::string text = text_of(o);
      fmt::print("{:9}{:<34} {}\n", "", text, folded(o.help, std::max<std::size_t>(44, 10 + text.size())));
    }
  }
  fmt::print("\n{}\n", folded("Of an option's values the first is the default. Options follow a colon: "
                              "\"steal:victim=cyclic,end=fifo\".",
                              0));
}

}  // namespace

std::function<outcome()> add_policies(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  auto libraries = std::make_shared<std::vector<std::string>>();
  auto names = std::make_shared<std::vector<std::string>>();
  command.add_option("policies", *names, "only these")->type_name("POLICY");
  add_policy_library(command, *libraries);
  command.add_flag("--json", *json, "write JSON");
  command.footer(
      "JSON: [{\"name\", \"paper\", \"section\", \"summary\", \"options\": [{\"key\", \"values\", \"help\"}], "
      "\"priorities\", "
      "\"needs_file\"}]\n"
      "Exit code: 0, or 2 if there is no policy of a name.");
  return [json, libraries, names] {
    load_policy_libraries(*libraries);
    const std::vector<policy_entry> entries = chosen("policy", choosable_policies(), &policy_entry::name, *names);
    if (*json) {
      policies_print_json(entries);
    } else {
      policies_print_table(entries);
    }
    return outcome::fine;
  };
}

}  // namespace kith::tools
