#include "launch/guard_folder.hpp"

#include "places/job.hpp"

#include <fstream>
#include <system_error>

namespace kith::tools {

namespace fs = std::filesystem;

namespace {

constexpr auto start_file = "started", failure_file = "failed";
std::string ended_file(int place) { return "ended-" + std::to_string(place); }

/// The number in a file; none: there is no such file, or no number in it.
std::optional<int> read_number(const fs::path& file) {
  std::ifstream in(file);
  int number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

}  // namespace

bool guard_folder::has(const std::string& file) const {
  std::error_code ignored;
  return fs::exists(folder_ / file, ignored);
}
void guard_folder::mark(const std::string& file) const { std::ofstream(folder_ / file) << '\n'; }

std::optional<int> guard_folder::status(int place) const { return read_number(folder_ / std::to_string(place)); }
void guard_folder::write_status(int place, int status) const {
  const fs::path part = folder_ / ("part-" + std::to_string(place));
  std::ofstream(part) << status << '\n';
  fs::rename(part, folder_ / std::to_string(place));
}

bool guard_folder::is_started() const { return has(start_file); }
void guard_folder::mark_started() const { mark(start_file); }

bool guard_folder::is_ended(int place) const { return has(ended_file(place)); }
void guard_folder::mark_ended(int place) const { mark(ended_file(place)); }

bool guard_folder::any_failed() const { return has(failure_file); }
void guard_folder::name_failed(int place) const {
  const fs::path part = folder_ / ("failed-" + std::to_string(place));
  std::ofstream(part) << place << '\n';
  std::error_code failed, ignored;
  fs::create_hard_link(part, folder_ / failure_file, failed);  // fails if there is one, and where there are no links
  if (failed && !any_failed()) fs::rename(part, folder_ / failure_file, ignored);
}
std::string guard_folder::failed_place() const {
  const std::optional<int> place = read_number(folder_ / failure_file);
  return place ? "place " + std::to_string(*place) : "another place";
}

bool guard_folder::has_joined(int place) const { return has(distributed::joined_file(place)); }
bool guard_folder::waits_in_vain(int place, int places) const {
  if (!has(distributed::joining_file(place)) || has_joined(place)) return false;
  for (int p = 0; p < places; ++p) {
    if (!status(p) || has_joined(p)) continue;
    name_failed(p);
    return true;
  }
  return false;
}
bool guard_folder::survivors_go_on() const { return has(distributed::survivors_file) && status(0).value_or(0) == 0; }

}  // namespace kith::tools
