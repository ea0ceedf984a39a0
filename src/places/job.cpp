#include "places/job.hpp"

#include "base/address.hpp"
#include "base/environment.hpp"
#include "places/message.hpp"
#include "places/plugin.hpp"

#include <kith/error.hpp>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>

namespace kith::distributed {

namespace {

namespace fs = std::filesystem;

constexpr mpi_kind kinds[] = {
    {"openmpi", "Open MPI", "libopenmpi-dev", "OMPI_COMM_WORLD_SIZE", {"libmpi.so.40"}},
    {"mpich", "MPICH", "libmpich-dev", "PMI_SIZE", {"libmpich.so.12", "libmpi.so.12"}},  // the first is Debian's
};

/// glibc gives large blocks back to the kernel when they are freed. Each large message is such a block, and to map its
/// pages anew takes several times as long as to send it. A value that the user has set is kept.
void keep_freed_memory() {
#ifdef __GLIBC__
  for (const char* set : {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"}) {
    if (environment(set)) return;
  }
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

std::string path_of_plugin(const std::string& transport) {
  if (const std::optional<fs::path> file = find_plugin(transport)) return *file;
  std::string package = "that MPI";
  for (const mpi_kind& k : kinds) {
    if (transport == k.transport) package = std::string(k.name) + " (Debian: " + k.package + ")";
  }
  throw error("places: this process is one of a job under " + transport + ", but its transport, libkith_" + transport +
                  ".so, is neither in " + KITH_BUILT_TRANSPORTS + " nor in " + KITH_INSTALLED_TRANSPORTS +
                  ": install " + package +
                  " and build Kith again, or set KITH_TRANSPORT=threads, which keeps all places in each process",
              error_kind::setting);
}

/// Throws if the program has loaded another MPI than the transport's: the transport would call that one's functions.
void refuse_other_mpi(const std::string& transport) {
  const auto own = std::ranges::find(kinds, transport, &mpi_kind::transport);
  if (own == std::end(kinds)) return;
  for (const mpi_kind& k : kinds) {
    if (&k == &*own) continue;
    for (const char* library : k.libraries) {
      if (library == nullptr || dlopen(library, RTLD_LAZY | RTLD_NOLOAD) == nullptr) continue;
      throw error(std::string("places: this process is one of a job under ") + own->name +
                      ", and the program uses the library of " + k.name + ", " + library +
                      "; start it by the launcher of " + k.name + ", or by `kith launch --mpi " + k.transport + "`",
                  error_kind::setting);
    }
  }
}

/// The linker's build id of the executable; empty if there is none.
std::string build_id() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        for (int h = 0; h < object->dlpi_phnum; ++h) {
          const ElfW(Phdr)& part = object->dlpi_phdr[h];
          if (part.p_type != PT_NOTE) continue;
          const char* at = static_cast<const char*>(at_address(object->dlpi_addr + part.p_vaddr));
          const char* const end = at + part.p_memsz;
          const auto padded = [](std::size_t n) { return (n + 3) / 4 * 4; };
          while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
            const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* const name = at + sizeof *note;
            const char* const contents = name + padded(note->n_namesz);
            at = contents + padded(note->n_descsz);
            if (at > end) break;
            if (note->n_type != NT_GNU_BUILD_ID ||
                std::string_view(name, note->n_namesz) != std::string_view("GNU\0", 4))
              continue;
            static_cast<std::string*>(out)->assign(contents, note->n_descsz);
          }
        }
        return 1;  // the first object is the executable
      },
      &id);
  return id;
}

}  // namespace

std::span<const mpi_kind> mpi_kinds() { return kinds; }

std::optional<fs::path> find_plugin(const std::string& transport) {
  if (transport.find('/') != std::string::npos) return transport;
  for (const char* folder : {KITH_BUILT_TRANSPORTS, KITH_INSTALLED_TRANSPORTS}) {
    fs::path file = fs::path(folder) / ("libkith_" + transport + ".so");
    if (fs::exists(file)) return file;
  }
  return {};
}

std::string transport_of_environment() {
  if (const std::optional<std::string> set = value_of(var::transport)) {
    if (*set == "threads" || set->find('/') != std::string::npos) return *set;
    for (const mpi_kind& k : kinds) {
      if (*set == k.transport) return *set;
    }
    std::string names = "threads";
    for (const mpi_kind& k : kinds) names += std::string(", ") + k.transport;
    throw error("KITH_TRANSPORT=" + *set + ": expected " + names + " or the path of a plug-in", error_kind::setting);
  }
  for (const mpi_kind& k : kinds) {
    if (environment(k.variable)) return k.transport;
  }
  return "threads";
}

void notify_guard(const std::string& file) {
  if (const std::optional<std::string> folder = value_of(var::guard)) std::ofstream(fs::path(*folder) / file);
}

std::uint64_t program_identity() {
  std::string all = build_id();
  if (all.empty()) {
    std::ifstream self("/proc/self/exe", std::ios::binary);
    all.assign(std::istreambuf_iterator<char>(self), {});
  }
  const std::uint32_t functions = number_functions();
  for (std::uint32_t f = 1; f <= functions; ++f) all.append(function_of(f).name).push_back('\0');
  return std::hash<std::string>()(all);
}

std::unique_ptr<transport> join_processes(std::optional<int> places, bool spins, bool survives_losses) {
  const std::string name = transport_of_environment();
  const std::string path = path_of_plugin(name);
  refuse_other_mpi(name);
  // The library stays loaded: MPI runs until the process ends.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw error("places: " + path + " cannot be loaded: " + dlerror() +
                    "; build Kith again where this MPI is installed, or set KITH_TRANSPORT=threads",
                error_kind::resources);
  auto* const make = reinterpret_cast<make_transport_function*>(dlsym(library, "kith_make_transport"));
  if (make == nullptr)
    throw error("places: " + path + " is no transport of Kith: " + dlerror() +
                    "; set KITH_TRANSPORT to threads, a known MPI, or a plug-in that has kith_make_transport()",
                error_kind::setting);
  std::unique_ptr<transport> net;
  try {
    const join_options o{
        .program = program_identity(),
        .silence_seconds = static_cast<double>(number_of(var::silence).value_or(standard_number(var::silence))),
        .spins = spins,
        .survives_losses = survives_losses};
    for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
      if (const std::optional<std::string> here = environment(rank))
        notify_guard(joining_file(static_cast<int>(std::strtol(here->c_str(), nullptr, 10))));
    }
    net.reset(make(o));
    if (const std::optional<int> place = net->own_place()) notify_guard(joined_file(*place));
  } catch (const std::exception& e) {
    throw error("places: " + fs::path(path).filename().string() + ": " + e.what(), error_kind::resources);
  }
  for (const mpi_kind& k : kinds) {
    const std::optional<std::string> started = environment(k.variable);
    if (net->places() != 1 || !started || std::strtol(started->c_str(), nullptr, 10) <= 1) continue;
    throw error("places: the launcher has started " + *started + " processes (" + k.variable + "), and " + name +
                    " finds only this one: it is the launcher of another MPI; unset KITH_TRANSPORT, or use the "
                    "launcher of that MPI",
                error_kind::setting);
  }
  if (places && *places != net->places()) {
    const int there = net->places();
    const error mismatch("places: " + std::to_string(*places) +
                             " are asked for (place_options::places, KITH_PLACES), but the job has " +
                             std::to_string(there) + " processes, and each is a place; start it with -n " +
                             std::to_string(*places) + ", or leave out the number of places",
                         error_kind::setting);
    const std::string why = mismatch.what();
    static_cast<void>(net->agree(&why));
    throw mismatch;
  }
  keep_freed_memory();
  return net;
}

}  // namespace kith::distributed
