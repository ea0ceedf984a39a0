// OpenMP's functions about devices, of which there is none but the host (number 0), and about leagues of teams.
#include "base/atomic.hpp"
#include "openmp/context.hpp"
#include "openmp/icv.hpp"
#include "openmp/league.hpp"
#include "openmp/omp.hpp"
#include "openmp/team.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace kith::openmp {

namespace {

constexpr int initial_device = -1;  // omp_initial_device

bool is_host(int device) noexcept { return device == 0 || device == initial_device; }

/// What a program has set, else the environment's value.
int current(const atomic<int>& set, int first) noexcept {
  const int value = set.load(relaxed);
  return value >= 0 ? value : first;
}

constinit atomic<int> teams_set{-1};
constinit atomic<int> teams_thread_limit_set{-1};

/// A box of elements within two arrays, from its outermost dimension inwards.
struct box {
  std::size_t element_bytes;
  const std::size_t* volume;
  const std::size_t* to_offsets;
  const std::size_t* from_offsets;
  const std::size_t* to_extents;
  const std::size_t* from_extents;

  box inner() const noexcept {
    return {element_bytes, volume + 1, to_offsets + 1, from_offsets + 1, to_extents + 1, from_extents + 1};
  }
};

std::size_t bytes_below(const box& b, const std::size_t* extents, int dimensions) noexcept {
  std::size_t bytes = b.element_bytes;
  for (int i = 1; i < dimensions; ++i) bytes *= extents[i];
  return bytes;
}

void copy(char* to, const char* from, const box& b, int dimensions) noexcept {
  const std::size_t to_step = bytes_below(b, b.to_extents, dimensions);
  const std::size_t from_step = bytes_below(b, b.from_extents, dimensions);
  to += b.to_offsets[0] * to_step;
  from += b.from_offsets[0] * from_step;
  if (dimensions == 1) {
    std::memcpy(to, from, b.volume[0] * b.element_bytes);
    return;
  }
  for (std::size_t i = 0; i < b.volume[0]; ++i) copy(to + i * to_step, from + i * from_step, b.inner(), dimensions - 1);
}

}  // namespace

int league_size_setting() noexcept { return current(teams_set, the_settings().teams); }
int league_thread_limit_setting() noexcept {
  return current(teams_thread_limit_set, the_settings().teams_thread_limit);
}

}  // namespace kith::openmp

using namespace kith::openmp;

void omp_set_default_device(int device) { here().own_icv().default_device = std::max(device, 0); }
int omp_get_default_device() { return here().icv().default_device; }
int omp_get_num_devices() { return 0; }
int omp_get_device_num() { return 0; }
int omp_get_initial_device() { return 0; }
int omp_is_initial_device() { return 1; }

// Nothing is kept between regions that a program could want back.
int omp_pause_resource(int, int device) { return is_host(device) && here().team->level == 0 ? 0 : -1; }
int omp_pause_resource_all(int kind) { return omp_pause_resource(kind, 0); }

int omp_get_num_teams() { return here().icv().teams; }
int omp_get_team_num() { return here().icv().team_number; }

void omp_set_num_teams(int teams) {
  if (teams >= 0) teams_set.store(teams, kith::relaxed);
}

int omp_get_max_teams() { return league_size_setting(); }

void omp_set_teams_thread_limit(int limit) {
  if (limit >= 0) teams_thread_limit_set.store(limit, kith::relaxed);
}

int omp_get_teams_thread_limit() { return league_thread_limit_setting(); }

void* omp_target_alloc(std::size_t bytes, int device) { return is_host(device) ? std::malloc(bytes) : nullptr; }

void omp_target_free(void* memory, int device) {
  if (is_host(device)) std::free(memory);
}

int omp_target_is_present(const void* memory, int device) { return memory == nullptr || is_host(device) ? 1 : 0; }

int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset, std::size_t from_offset,
                      int to_device, int from_device) {
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
  return 0;
}

int omp_target_memcpy_rect(void* to, const void* from, std::size_t element_bytes, int dimensions,
                           const std::size_t* volume, const std::size_t* to_offsets, const std::size_t* from_offsets,
                           const std::size_t* to_extents, const std::size_t* from_extents, int to_device,
                           int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;  // asks for the most dimensions
  if (!is_host(to_device) || !is_host(from_device) || dimensions < 1) return EINVAL;
  copy(static_cast<char*>(to), static_cast<const char*>(from),
       {element_bytes, volume, to_offsets, from_offsets, to_extents, from_extents}, dimensions);
  return 0;
}

int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) { return EINVAL; }
int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }
