#include "packages.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace kith::apps {

namespace {

constexpr page none = most_pages;
constexpr const char* status_file = "/var/lib/dpkg/status";

std::string_view trimmed(std::string_view s) {
  const std::size_t begin = s.find_first_not_of(" \t\r");
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

/// Calls what(part) for each part of a list.
template <class What>
void for_each_part(std::string_view list, char separator, What what) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(separator, begin), list.size());
    if (const std::string_view part = trimmed(list.substr(begin, end - begin)); !part.empty()) what(part);
    begin = end + 1;
  }
}

/// Strips versions, architectures and qualifiers, as in "libc6:any (>= 2.36) [amd64]".
std::string_view bare_name(std::string_view s) { return s.substr(0, s.find_first_of(" (:[<\t")); }

/// Calls line(text) for each line that a command prints. False if there is no such command, or if it failed.
template <class Line>
bool for_each_line_of(const char* command, Line line) {
  FILE* out = popen(command, "r");
  if (out == nullptr) return false;
  char* text = nullptr;
  std::size_t room = 0;
  ssize_t length;
  while ((length = getline(&text, &room, out)) >= 0) {
    std::string_view l(text, static_cast<std::size_t>(length));
    if (l.ends_with('\n')) l.remove_suffix(1);
    line(l);
  }
  std::free(text);
  return pclose(out) == 0;
}

}  // namespace

void package_reader::line(std::string_view l) {
  if (l.empty()) return end_of_paragraph();
  if (l.front() == ' ' || l.front() == '\t') {
    if (field_ != nullptr) field_->append(l);
    return;
  }
  const std::size_t colon = l.find(':');
  const std::string_view name = l.substr(0, colon), value = colon == l.npos ? "" : trimmed(l.substr(colon + 1));
  field_ = nullptr;
  if (name == "Package")
    field_ = &now_.package;
  else if (name == "Status")
    field_ = &now_.status;
  else if (name == "Provides")
    field_ = &now_.provides;
  else if (name == "Depends" || name == "Pre-Depends")
    field_ = &now_.depends;
  if (field_ == nullptr) return;
  if (field_ == &now_.depends && !field_->empty()) field_->append(", ");
  field_->append(value);
}

void package_reader::end_of_paragraph() {
  field_ = nullptr;
  const paragraph p = std::move(now_);
  now_ = {};
  if (p.package.empty() || (installed_only_ && !p.status.ends_with(" installed"))) return;
  // If a package occurs for several architectures or in several versions, the first one counts.
  const auto number = static_cast<page>(names_.size());
  if (!number_of_.emplace(p.package, number).second) return;
  names_.push_back(p.package);
  depends_.push_back(p.depends);
  for_each_part(p.provides, ',', [&](std::string_view v) { provider_of_.emplace(bare_name(v), number); });
}

page package_reader::resolve(std::string_view dependence) const {
  page found = none;
  for (const auto* names : {&number_of_, &provider_of_}) {
    for_each_part(dependence, '|', [&](std::string_view alternative) {
      if (found != none) return;
      if (const auto n = names->find(std::string(bare_name(alternative))); n != names->end()) found = n->second;
    });
  }
  return found;
}

link_list package_reader::finish() {
  end_of_paragraph();
  link_list g;
  g.pages = static_cast<page>(names_.size());
  for (page p = 0; p < g.pages; ++p) {
    for_each_part(depends_[p], ',', [&](std::string_view dependence) {
      const page to = resolve(dependence);
      if (to != none && to != p) g.links.emplace_back(p, to);
    });
  }
  g.names = std::move(names_);
  normalize(g);
  return g;
}

link_list read_packages() {
  bool lists = false;
  for_each_line_of("apt-get indextargets --format '$(FILENAME)' 'Created-By: Packages' 2>/dev/null",
                   [&](std::string_view) { lists = true; });
  if (lists) {
    package_reader reader(false);
    const bool fine = for_each_line_of("apt-cache dumpavail 2>/dev/null", [&](std::string_view l) { reader.line(l); });
    link_list g = reader.finish();
    if (fine && !g.links.empty()) {
      g.source = "Debian packages that apt knows (apt-cache dumpavail)";
      return g;
    }
  }
  std::ifstream status(status_file);
  package_reader reader(true);
  for (std::string l; std::getline(status, l);) reader.line(l);
  link_list g = reader.finish();
  if (g.links.empty()) {
    throw error(std::string("--debian: neither apt-cache (are its lists there? `apt-get update` fetches them) nor ") +
                status_file +
                " has packages with dependences; give a graph by --input, or leave both out for a generated one");
  }
  g.source = std::string("installed Debian packages (") + status_file +
             "), because apt has no lists here; `apt-get update` fetches them";
  return g;
}

}  // namespace kith::apps
