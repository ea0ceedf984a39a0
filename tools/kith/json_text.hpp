// JSON as the verbs write it.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace kith::tools {

/// In ASCII only, so that no text from a file can control a terminal. Bytes that are not UTF-8 are replaced.
template <class Json>
std::string json_text(const Json& value, int indent) {
  return value.dump(indent, ' ', true, Json::error_handler_t::replace);
}

}  // namespace kith::tools
