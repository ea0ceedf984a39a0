#include "engine/native/recorder.hpp"

#include "base/access_tracer.hpp"
#include "base/environment.hpp"
#include "recording/assemble.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace kith::native {

recorder::recorder(const std::string& file, std::uint32_t seats, const std::map<std::string, std::string>& about,
                   bool has_counts)
    : parts_stay_(value_of(var::record_parts).has_value()),
      parts_(file, about, parts_stay_ ? old_parts::keep : old_parts::replace) {
  const std::string parts = parts_.path();
  // The log after the seats is for all other threads; it has the number of the last seat, the outside.
  for (std::uint32_t s = 0; s <= seats; ++s)
    logs_.emplace_back(parts + "/" + std::to_string(s) + ".log", std::min(s, seats - 1),
                       has_counts ? log_version_with_counts : log_version);
}

void recorder::trace_accesses() {
  addresses_ = the_access_tracer()->start(parts_.path().c_str());
  if (addresses_ == nullptr)
    throw error(parts_.path() + ": the file for addresses cannot be made: " + std::strerror(errno),
                error_kind::resources);
}

void recorder::keep_homes(const region_table& regions) {
  seat_log& last = logs_.back();
  for (std::uint32_t i = 1; i < regions.count(); ++i) {
    const region& r = regions[i];
    if (const node_id at = r.home_node()) last.home(r.address, r.bytes.load(relaxed), at, 0);
  }
}

void recorder::cut_off() noexcept {
  for (seat_log& l : logs_) l.cut_off();
  if (std::exchange(addresses_, nullptr) != nullptr) the_access_tracer()->resume(nullptr);
  parts_.cut_off();
}

recorder::~recorder() {
  std::uint64_t lost = 0;
  int why = 0;
  for (const seat_log& l : logs_) {
    lost += l.lost();
    if (why == 0) why = l.why();
  }
  logs_.clear();
  if (const std::uint64_t bytes = addresses_ != nullptr ? the_access_tracer()->finish(addresses_) : 0; bytes != 0)
    std::fprintf(stderr, "kith: recording %s: %llu bytes of addresses could not be written\n", file().c_str(),
                 static_cast<unsigned long long>(bytes));
  if (lost != 0)
    std::fprintf(stderr, "kith: recording %s: %s; %llu records are missing\n", file().c_str(), std::strerror(why),
                 static_cast<unsigned long long>(lost));
  parts_.release();
  if (parts_stay_) return;
  try {
    assemble_parts(file());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kith: recording: %s; its parts are kept: kith repair %s\n", e.what(), file().c_str());
  }
}

}  // namespace kith::native
