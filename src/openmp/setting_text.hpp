// The values of OpenMP's settings as text in the environment. Letter case and spaces around a value do not matter.
#pragma once

#include "openmp/icv.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::openmp {

/// What omp_set_schedule(), OMP_SCHEDULE and schedule(runtime) share.
struct schedule_setting {
  schedule_kind kind;
  bool monotonic;
  std::int64_t chunk;  // 0: the default of a static loop
};
/// Without OMP_SCHEDULE.
schedule_setting usual_schedule() noexcept;

/// Without spaces at the ends, in lower case.
std::string plain(std::string_view text);

// Each reads a plain text; none: it is no such value.
std::optional<bool> read_bool(const std::string&);
std::optional<std::int64_t> read_number(const std::string&, std::int64_t least, std::int64_t most);
/// "4,3,2": numbers from 1.
std::optional<std::vector<int>> read_numbers(const std::string&);
/// Kilobytes, or with b, k, m or g at the end.
std::optional<std::int64_t> read_bytes(const std::string&);
/// "monotonic:guided,4"
std::optional<schedule_setting> read_schedule(const std::string&);
/// The name of a predefined allocator.
std::optional<std::uintptr_t> read_allocator(const std::string&);
/// Whether it is a value of OMP_PROC_BIND, or of OMP_PLACES.
bool is_binding(const std::string&);
bool is_places(const std::string&);

std::string to_text(bool);
std::string to_text(std::int64_t);
std::string to_text(const std::vector<int>&);
std::string to_text(const schedule_setting&);
std::string allocator_text(std::uintptr_t);

}  // namespace kith::openmp
