// JSON as the verbs write it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace kith::tools {

/// In ASCII alone, so that no name from a file acts on a terminal; bytes that are no UTF-8 are replaced.
template <class Json>
std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', true, Json::error_handler_t::replace);
}

}  // namespace kith::tools
