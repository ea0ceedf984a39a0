// The graph of Debian packages, in which a package links to those it depends on. For pagerank.cpp and the tests.
#pragma once

#include "graph.hpp"

#include <unordered_map>

namespace kith::apps {

/// Reads paragraphs of Debian's control format line by line, as printed by `apt-cache dumpavail` or stored
/// in dpkg's status file.
///
/// A dependence links to its first alternative that is a package; else to the first package that provides
/// one of the alternatives; else it leads out of the set and makes no link. Depends and
/// Pre-Depends make links; Recommends and weaker relations do not.
class package_reader {
 public:
  /// `installed_only`: paragraphs with a Status other than installed are skipped.
  explicit package_reader(bool installed_only) : installed_only_(installed_only) {}

  void line(std::string_view);
  /// Returns all that was read. The reader must not be used afterwards.
  link_list finish();

 private:
  void end_of_paragraph();
  page resolve(std::string_view dependence) const;

  struct paragraph {
    std::string package, status, depends, provides;
  };
  bool installed_only_;
  paragraph now_;
  std::string* field_ = nullptr;  // the field of the paragraph that is continued by lines beginning with a space
  std::vector<std::string> names_, depends_;
  std::unordered_map<std::string, page> number_of_;
  std::unordered_map<std::string, page> provider_of_;  // the first provider that was read
};

/// The packages that this machine could install, from apt. If apt has no lists, the installed packages,
/// from dpkg; `source` then says so. Throws kith::error if there are neither.
link_list read_packages();

}  // namespace kith::apps
