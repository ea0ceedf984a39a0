#include "parameters.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace kith::apps {

namespace {

std::string names_of(std::span<const parameter> parameters) {
  std::string names;
  for (const parameter& p : parameters) names += (names.empty() ? "--" : ", --") + std::string(p.name);
  return names.empty() ? "none" : names;
}

const parameter& look_up(std::string_view app, std::span<const parameter> parameters, std::string_view name) {
  const auto p = std::ranges::find_if(parameters, [&](const parameter& q) { return q.name == name; });
  if (p != parameters.end()) return *p;
  throw error(std::string(app) + ": no parameter --" + std::string(name) + "; it takes " + names_of(parameters));
}

bool is_flag(const parameter& p) { return p.standard == flag; }

}  // namespace

arguments::arguments(std::string_view app, std::span<const parameter> parameters, const given& values, preset otherwise,
                     std::uint64_t seed)
    : app_(app), parameters_(parameters), otherwise_(otherwise), seed_(seed) {
  for (const auto& [name, value] : values) {
    declared(name);
    if (find(name) != nullptr) throw error(app_ + ": --" + name + " is given twice");
    values_.emplace_back(name, value);
  }
}

std::int64_t arguments::number(std::string_view name, std::int64_t least, std::int64_t most) const {
  const std::string value = text(name);
  std::int64_t n = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, failure] = std::from_chars(value.data(), end, n);
  if (!has(name)) return std::clamp(n, least, most);
  if (failure != std::errc{} || stop != end || n < least || n > most) {
    throw error(app_ + ": --" + std::string(name) + " '" + value + "'; expected a whole number from " +
                std::to_string(least) + " to " + std::to_string(most));
  }
  return n;
}

std::string arguments::text(std::string_view name) const {
  if (const std::string* value = find(name)) return *value;
  const parameter& p = declared(name);
  switch (otherwise_) {
    case preset::standard: break;
    case preset::small: return p.small;
    case preset::paper: return p.paper != nullptr ? p.paper : p.standard;
  }
  return p.standard;
}

bool arguments::on(std::string_view name) const { return find(name) != nullptr; }
bool arguments::has(std::string_view name) const { return find(name) != nullptr; }

void arguments::exclude(std::string_view one, std::string_view other) const {
  if (!has(one) || !has(other)) return;
  throw error(app_ + ": --" + std::string(one) + " and --" + std::string(other) + " exclude each other; give one");
}

const parameter& arguments::declared(std::string_view name) const { return look_up(app_, parameters_, name); }

const std::string* arguments::find(std::string_view name) const {
  const auto v = std::ranges::find(values_, name, [](const auto& pair) { return std::string_view(pair.first); });
  return v == values_.end() ? nullptr : &v->second;
}

arguments::given read_arguments(std::string_view app, std::span<const parameter> parameters,
                                const std::vector<std::string>& words) {
  arguments::given values;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const std::string_view word = words[w];
    if (!word.starts_with("--") || word.size() == 2) {
      throw error(std::string(app) + ": '" + words[w] + "' is no parameter; it takes " + names_of(parameters));
    }
    const std::size_t equals = word.find('=');
    const std::string name(word.substr(2, equals == word.npos ? word.npos : equals - 2));
    const parameter& p = look_up(app, parameters, name);
    if (is_flag(p)) {
      if (equals != word.npos) throw error(std::string(app) + ": --" + name + " takes no value");
      values.emplace_back(name, "");
    } else if (equals != word.npos) {
      values.emplace_back(name, word.substr(equals + 1));
    } else if (w + 1 < words.size()) {
      values.emplace_back(name, words[++w]);
    } else {
      throw error(std::string(app) + ": --" + name + " needs a value (" + p.what + ")");
    }
  }
  return values;
}

}  // namespace kith::apps
