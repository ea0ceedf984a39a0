#include "task/identities.hpp"

#include <kith/error.hpp>

#include <sys/mman.h>

namespace kith {

void slot_identities::reserve() {
  const std::size_t bytes = space_.slots() * sizeof(std::uint64_t);
  void* range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    throw error("no address space for the identities of tasks: the system refused " + std::to_string(bytes) +
                    " bytes; see `ulimit -v`",
                error_kind::resources);
  at_ = static_cast<std::uint64_t*>(range);
}

slot_identities::~slot_identities() {
  if (at_ != nullptr) munmap(at_, space_.slots() * sizeof(std::uint64_t));
}

}  // namespace kith
