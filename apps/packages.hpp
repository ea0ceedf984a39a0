// The graph of Debian packages: a package links to those it depends on. For pagerank.cpp and the tests.
#pragma once

#include "graph.hpp"

#include <unordered_map>

namespace kith::apps {

/// Reads paragraphs of Debian's control format line by line, as `apt-cache dumpavail` and dpkg's status file have them.
///
/// A dependence links to its first alternative that is a package; else to the first package that provides one of them;
/// else it leads out of the set and is counted as such. Links by Depends and Pre-Depends; Recommends and weaker ones do
/// not count.
class package_reader {
 public:
  /// Whether paragraphs with a Status other than installed are skipped.
  explicit package_reader(bool installed_only) : installed_only_(installed_only) {}

  void line(std::string_view);
  /// All that was read. The reader is used up.
  link_list finish();
  std::size_t unresolved() const noexcept { return unresolved_; }

 private:
  void end_of_paragraph();
  page resolve(std::string_view dependence) const;

  struct paragraph {
    std::string package, status, depends, provides;
  };
  bool installed_only_;
  paragraph now_;
  std::string* field_ = nullptr;  // of the paragraph, that lines beginning with a space continue
  std::vector<std::string> names_, depends_;
  std::unordered_map<std::string, page> number_of_;
  std::unordered_map<std::string, page> provider_of_;  // the first one that was read
  std::size_t unresolved_ = 0;
};

/// The packages that this machine could install, from apt; if apt has no lists, those that are installed, from dpkg
/// (and `source` says so). Throws kith::error if there are neither.
link_list read_packages();

}  // namespace kith::apps
