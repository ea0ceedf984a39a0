// kith policies: the policies that KITH_POLICY and --policy know.
#include "verbs.hpp"

#include "policy/list.hpp"
#include "terminal.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string_view>

namespace kith::tools {

namespace {

void print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const policy_entry& p : policy_list()) {
    all.push_back({{"name", p.name},
                   {"paper", p.paper},
                   {"section", p.section},
                   {"summary", p.summary},
                   {"options", p.options},
                   {"priorities", p.priorities},
                   {"needs_file", p.needs_file}});
  }
  fmt::print("{}\n", all.dump(1));
}

void print_table() {
  for (const policy_entry& p : policy_list()) {
    fmt::print("{} {}\n", styled(fmt::format("{:<8}", p.name), tone::strong),
               folded(p.summary, std::max<std::size_t>(9, std::string_view(p.name).size() + 1)));
    fmt::print("{:9}{}\n", "",
               styled(fmt::format("{}, {}; {} priorities", p.paper, p.section, p.priorities ? "honours" : "ignores"),
                      tone::faint));
    if (*p.options != '\0') fmt::print("{:9}options: {}\n", "", folded(p.options, 18));
  }
  fmt::print("\n{}\n", folded("Of an option's values the first is the default. Options follow a colon: "
                              "\"steal:victim=cyclic,end=fifo\".",
                              0));
}

}  // namespace

std::function<outcome()> add_policies(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "write JSON");
  command.footer(
      "JSON: [{\"name\", \"paper\", \"section\", \"summary\", \"options\", \"priorities\", \"needs_file\"}]\n"
      "Exit code: 0.");
  return [json] {
    if (*json) {
      print_json();
    } else {
      print_table();
    }
    return outcome::fine;
  };
}

}  // namespace kith::tools
