#include "places/activity_name.hpp"

#include <algorithm>

namespace kith::distributed {

namespace {

bool opens(char c) noexcept { return c == '<' || c == '(' || c == '{' || c == '['; }
bool closes(char c) noexcept { return c == '>' || c == ')' || c == '}' || c == ']'; }

/// The first position from `from` on where is(character), outside of brackets that open after `from`; the end if there
/// is none.
template <class Is>
std::size_t find_outside(std::string_view s, std::size_t from, const Is& is) {
  int depth = 0;
  for (std::size_t i = from; i < s.size(); ++i) {
    if (depth == 0 && is(s[i])) return i;
    depth += opens(s[i]) ? 1 : closes(s[i]) ? -1 : 0;
    if (depth < 0) break;
  }
  return s.size();
}

void erase_all(std::string& s, std::string_view what) {
  for (std::size_t at = s.find(what); at != std::string::npos; at = s.find(what, at)) s.erase(at, what.size());
}

/// If `s` contains the template `of`, replaces `s` by that template's first argument.
bool take_argument(std::string& s, std::string_view of) {
  const std::size_t at = s.find(of);
  if (at == std::string::npos) return false;
  const std::size_t from = at + of.size();
  s = s.substr(from, find_outside(s, from, [](char c) { return c == ',' || c == '>'; }) - from);
  if (s.starts_with('&')) s.erase(0, 1);
  if (s.starts_with('(') && s.ends_with(')')) s = s.substr(1, s.size() - 2);
  return true;
}

/// "a(int)::{lambda(int)#2}" becomes "a::lambda#2", and "int b<int>(int)" becomes "b<int>".
std::string without_signatures(std::string s) {
  for (std::size_t at = s.find("{lambda("); at != std::string::npos; at = s.find("{lambda(", at)) {
    const std::size_t parameters = at + std::string_view("{lambda(").size();
    const std::size_t end = find_outside(s, parameters, [](char c) { return c == ')'; });
    const std::size_t brace = s.find('}', end);
    if (brace == std::string::npos) break;
    s.replace(at, brace + 1 - at, "lambda" + s.substr(end + 1, brace - end - 1));
  }
  for (std::size_t at = 0; (at = find_outside(s, at, [](char c) { return c == '('; })) < s.size();) {
    const std::size_t end = find_outside(s, at + 1, [](char c) { return c == ')'; });
    s.erase(at, end + 1 - at);
    if (std::string_view(s).substr(at).starts_with(" const")) s.erase(at, std::string_view(" const").size());
  }
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = find_outside(s, at, [](char c) { return c == ' '; })) < s.size(); ++at) begin = at + 1;
  return s.substr(begin);
}

}  // namespace

std::string activity_name(std::string_view type) {
  std::string s(type);
  erase_all(s, "(anonymous namespace)::");
  erase_all(s, "::operator()");  // of a lambda nested in another one
  while (take_argument(s, "kith::detail::run_flow_task<") || take_argument(s, "kith::detail::constant_function<")) {
  }
  std::string name = without_signatures(s);
  return name.empty() ? std::string(type) : name;
}

}  // namespace kith::distributed
