// The tables of a recording's file in SQL: their definitions, and the names of their columns.
#pragma once

#include "recording/columns.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::columns {

/// The type of a column of T, with a blank before it.
template <class T>
constexpr const char* type_of() {
  return std::same_as<T, std::string> ? " TEXT" : std::same_as<T, std::vector<std::uint8_t>> ? " BLOB" : " INTEGER";
}

/// The text after CREATE TABLE that defines the table in a file of this version, from the table's name on.
template <class Table>
std::string definition(int version = recording_version) {
  std::string text = std::string(Table::name) + "(";
  if (Table::begins == leads::own_number) text += "id INTEGER PRIMARY KEY";
  if (Table::begins == leads::task) text += "task INTEGER";
  typename Table::row none{};
  Table::list(none, [&]<class T>(const char* name, const T&, holds, int since = 1) {
    if (since > version) return;
    text += std::string(text.back() == '(' ? "" : ", ") + name + type_of<T>();
  });
  return text + ")";
}
/// The table's column names in a file of this version.
template <class Table>
std::string names(int version = recording_version) {
  std::string text = Table::begins == leads::own_number ? "id" : Table::begins == leads::task ? "task" : "";
  typename Table::row none{};
  Table::list(none, [&](const char* name, const auto&, holds, int since = 1) {
    if (since <= version) text += (text.empty() ? "" : ", ") + std::string(name);
  });
  return text;
}

}  // namespace kith::columns
