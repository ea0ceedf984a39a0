// How the places of a program were started: as threads of this process, or as processes of an MPI job.
#pragma once

#include "places/transport.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace kith::distributed {

/// An MPI that Kith has a transport for.
struct mpi_kind {
  const char* transport;  // the value of KITH_TRANSPORT
  const char* name;
  const char* package;                   // in Debian
  const char* variable;                  // set by its launcher for the processes that it starts
  std::array<const char*, 2> libraries;  // the names of its interface; null: none
};
std::span<const mpi_kind> mpi_kinds();
/// The file of a transport's plug-in; none if this Kith was built without it.
std::optional<std::filesystem::path> find_plugin(const std::string& transport);

/// The transport's name: KITH_TRANSPORT, else what the variables of a launcher say, else "threads".
std::string transport_of_environment();

/// Whether the places of a new place_runtime are processes.
inline bool is_several_processes() { return transport_of_environment() != "threads"; }

/// Joins the processes that were started together with this one. `places`: how many the program wants, if it says so.
/// Throws kith::error if these are not the processes that there are, or if there is no plug-in for their MPI.
std::unique_ptr<transport> join_processes(std::optional<int> places, bool spins, bool survives_losses);

/// Where `kith launch` looks for what its processes say, in the folder of KITH_GUARD.
inline constexpr const char* survivors_file = "survivors";
/// Says to `kith launch`, if that has started this process, that the others go on when a place is lost.
void tell_guard();

/// A number that processes have in common exactly if they run the same executable, with the same functions.
std::uint64_t program_identity();

}  // namespace kith::distributed
