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
/// The file of a transport's plug-in; none if this Kith was built without that plug-in.
std::optional<std::filesystem::path> find_plugin(const std::string& transport);

/// The transport's name: KITH_TRANSPORT, else that of the launcher whose variable is set, else "threads".
std::string transport_of_environment();

/// Whether the places of a new place_runtime are processes.
inline bool is_several_processes() { return transport_of_environment() != "threads"; }

/// Joins the processes that were started together with this one. `places`: the number that the program asks for, if
/// any. Throws kith::error if the job has another number of processes, or if there is no plug-in for its MPI.
std::unique_ptr<transport> join_processes(std::optional<int> places, bool spins, bool survives_losses);

/// Files in the folder of KITH_GUARD, by which a process tells `kith launch` that the others survive a loss, that it
/// waits for the others, and that it has joined the job and so finds losses itself.
inline constexpr const char* survivors_file = "survivors";
inline std::string joining_file(int place) { return "joining-" + std::to_string(place); }
inline std::string joined_file(int place) { return "joined-" + std::to_string(place); }
/// Makes a file in the folder of KITH_GUARD, if `kith launch` has started this process.
void notify_guard(const std::string& file);

/// A number that is equal in two processes exactly if they run the same executable, with the same functions.
std::uint64_t program_identity();

}  // namespace kith::distributed
