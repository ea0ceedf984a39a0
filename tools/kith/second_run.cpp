#include "second_run.hpp"

#include "addresses/sources.hpp"
#include "analysis/address_comparison.hpp"
#include "base/printable.hpp"
#include "progress.hpp"
#include "recording/assemble.hpp"
#include "recording/file.hpp"
#include "recording/parts.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <exception>
#include <filesystem>

namespace kith::tools {

namespace {

/// Whether the child, or a program that it ran, was ended by a signal that users send.
bool was_stopped(const child_result& r) {
  const int signal = r.signal() != 0       ? r.signal()
                     : WIFEXITED(r.status) ? WEXITSTATUS(r.status) - 128  // as a shell reports it
                                           : 0;
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/// Whether the program has no symbols and lines. Then Kith's own touches are not recognised, and these differ.
bool is_stripped(const recording& r) {
  return !r.sites.empty() && std::ranges::all_of(r.sites, [](const recorded_site& s) { return s.file.empty(); });
}

recording read_folder(const std::string& folder) {
  recording r = read_parts(folder);
  add_sources(r);
  return r;
}

/// The recordings of both runs that have no like in the other one, by their numbers; as many of each.
struct unmatched {
  std::vector<std::size_t> first, second;
};

/// Looks for each recording for one of the second run in which the tasks touched the same addresses. Runtimes of
/// several threads or processes get their numbers in any order, so the number only determines which is tried first.
unmatched match(const std::vector<std::string>& files, const std::vector<std::string>& folders) {
  unmatched alone;
  std::vector<bool> taken(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const recording first = read_recording(files[i]);
    bool found = false;
    for (std::size_t k = 0; k < files.size() && !found; ++k) {
      const std::size_t other = (i + k) % files.size();
      if (taken[other] || !analysis::compare_addresses(first, read_folder(folders[other]), 1).empty()) continue;
      found = taken[other] = true;
    }
    if (!found) alone.first.push_back(i);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) alone.second.push_back(i);
  }
  return alone;
}

void print_differences(const unmatched& alone, const std::string& program, const std::vector<std::string>& files,
                       const std::vector<std::string>& folders) {
  for (std::size_t i = 0; i < alone.first.size(); ++i) {
    const std::string& file = files[alone.first[i]];
    const recording first = read_recording(file);
    if (is_stripped(first)) {
      fmt::print(stderr,
                 "kith record: {} has no source lines, so its touches cannot be told from Kith's; build it with "
                 "kith::trace_accesses, and do not strip it\n",
                 program);
      return;
    }
    const recording second = read_folder(folders[alone.second[i]]);
    for (const analysis::address_difference& d : analysis::compare_addresses(first, second, 5)) {
      const std::string name = d.task < 0 ? program
                                          : "task " + std::to_string(d.task) + " (" +
                                                printable(first.types[first.task(d.task).type], 200) + ")";
      fmt::print(stderr, "kith record: {}{}: under another schedule its addresses are others: {}\n",
                 files.size() == 1 ? "" : file + ": ", name, d.what);
    }
  }
}

/// Compares the recordings of the first run with what the second one, which has ended as in `done`, has recorded.
comparison compare(const child_result& done, const std::string& program, const std::vector<std::string>& files,
                   const std::vector<std::string>& folders) {
  if (was_stopped(done)) return comparison::stopped;
  if (!done.clean()) {
    fmt::print(stderr, "kith record: {} failed when it was run again under random on two workers, and not before\n",
               program);
    return comparison::different;
  }
  if (folders.size() != files.size()) {
    fmt::print(stderr, "kith record: {} started {} runtimes, and {} when it was run again\n", program, files.size(),
               folders.size());
    return comparison::different;
  }
  const unmatched alone = match(files, folders);
  print_differences(alone, program, files, folders);
  return alone.first.empty() ? comparison::same : comparison::different;
}

}  // namespace

input_of_two::input_of_two() : begin_(::lseek(0, 0, SEEK_CUR)) {
  if (begin_ >= 0 || errno == EBADF) return;
  original_ = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  if (original_ < 0) throw error(std::string("standard input: ") + std::strerror(errno));
  refuse_data();
  const int empty = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (empty < 0 || ::dup2(empty, 0) < 0) throw error(std::string("/dev/null: ") + std::strerror(errno));
  ::close(empty);
}

input_of_two::~input_of_two() {
  if (original_ >= 0) ::close(original_);
}

void input_of_two::again() const {
  if (begin_ >= 0) ::lseek(0, begin_, SEEK_SET);
}

void input_of_two::refuse_data() const {
  struct stat about{};
  int bytes = 0;
  if (original_ < 0 || ::fstat(original_, &about) != 0 || S_ISCHR(about.st_mode)) return;
  if (::ioctl(original_, FIONREAD, &bytes) == 0 && bytes > 0)
    throw error(
        "--addresses runs the program twice, and what comes from a pipe can be read only once; keep the input "
        "in a file and add `< FILE`, or `< /dev/null` if the program reads none");
}

further_run::further_run(const std::string& file) : file_(file + ".again") { remove_parts(file_); }

further_run::~further_run() {
  if (removed_) return;
  try {
    remove_parts(file_);
  } catch (const std::exception&) {  // what is on its way already says more
  }
}

child_result further_run::run(const std::string& what, const std::vector<std::string>& program,
                              const std::pair<std::string, std::string>& variable) const {
  progress bar;
  bar.wait_for(what);
  const child_result done = run_child(
      program, {{"KITH_RECORD", std::filesystem::absolute(file_)}, {"KITH_RECORD_PARTS", "1"}, variable}, true);
  bar.clear();
  return done;
}

std::vector<std::string> further_run::folders() const {
  std::vector<std::string> all;
  for (const std::string& file : files_with_parts(file_)) all.push_back(parts_of(file));
  return all;
}

void further_run::remove() {
  remove_parts(file_);
  removed_ = true;
}

comparison under_another_schedule(const std::string& file, const std::vector<std::string>& program,
                                  const std::vector<std::string>& files) {
  further_run second(file);
  const child_result done = second.run("running it again, under random", program, {"KITH_RECORD_ADDRESSES", "2"});
  const comparison result = compare(done, program.front(), files, second.folders());
  second.remove();
  return result;
}

}  // namespace kith::tools
