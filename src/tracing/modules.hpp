// The files of a process: its program and its loaded libraries.
#pragma once

#include <link.h>
#include <unistd.h>

#include <array>

namespace kith::tracing {

/// The path of a module that dl_iterate_phdr() reports. `room` holds that of the program, which has no name there.
/// Allocates nothing.
inline const char* path_of(const dl_phdr_info& module, std::array<char, 4096>& room) noexcept {
  if (module.dlpi_name != nullptr && *module.dlpi_name != 0) return module.dlpi_name;
  const ssize_t got = ::readlink("/proc/self/exe", room.data(), room.size() - 1);
  room[got < 0 ? 0 : static_cast<std::size_t>(got)] = 0;
  return room.data();
}

}  // namespace kith::tracing
