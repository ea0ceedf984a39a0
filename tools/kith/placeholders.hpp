// The words that the help's placeholders stand for. Shell completion offers them, and names are looked up among them.
#pragma once

#include "command_line/tool.hpp"

#include <string>
#include <vector>

namespace kith::tools {

std::vector<std::string> app_names();
std::vector<std::string> policy_names();
std::vector<std::string> machine_names();
std::vector<std::string> paper_names();
std::vector<std::string> verb_names();

inline constexpr placeholder placeholders[] = {{"APP", app_names},
                                               {"POLICY", policy_names},
                                               {"MACHINE", machine_names},
                                               {"RESULT", paper_names},
                                               {"VERB", verb_names}};

}  // namespace kith::tools
