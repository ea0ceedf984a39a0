#include "recording/provenance.hpp"

#include "base/printable.hpp"

#include <unistd.h>
#include <array>
#include <ctime>
#include <fstream>

namespace kith {

namespace {

constexpr std::size_t most_command = 2000;

/// The word, in quotes if a shell would read it differently.
std::string quoted(const std::string& word) {
  static constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string made = "'";
  for (const char c : word) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

std::string command() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string made;
  for (std::string word; made.size() <= most_command && std::getline(in, word, '\0');)
    made += (made.empty() ? "" : " ") + quoted(word);
  return printable(made, most_command);
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &parts) == nullptr) return {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : std::string();
}

}  // namespace

std::map<std::string, std::string> provenance() {
  std::map<std::string, std::string> made{
      {"host", host()}, {"date", date()}, {"command", command()}, {"library", KITH_VERSION}};
  std::erase_if(made, [](const auto& entry) { return entry.second.empty(); });
  return made;
}

}  // namespace kith
