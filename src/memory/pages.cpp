#include "memory/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <new>
#include <string>

namespace kith {

std::size_t page_size() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t huge_page_size() noexcept {
  static const std::size_t bytes = []() -> std::size_t {
    const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
    std::string enabled;
    std::getline(std::ifstream(folder + "enabled"), enabled);
    if (enabled.empty() || enabled.find("[never]") != std::string::npos) return 0;
    std::size_t size = 0;
    std::ifstream(folder + "hpage_pmd_size") >> size;
    return size;
  }();
  return bytes;
}

void* map_pages(std::size_t bytes, std::size_t alignment) {
  const std::size_t slack = alignment > page_size() ? alignment : 0;
  if (bytes + slack < bytes) throw std::bad_alloc();
  void* const got =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  const auto at = reinterpret_cast<std::uintptr_t>(got);
  const std::uintptr_t first = (at + alignment - 1) / alignment * alignment;
  // What was mapped for the alignment alone goes back.
  auto* const start = static_cast<std::byte*>(got);
  const std::size_t before = first - at, behind = slack - before;
  if (before != 0) munmap(start, before);
  if (behind != 0) munmap(start + before + bytes, behind);
  return start + before;
}

void want_huge_pages(void* begin, std::size_t bytes) noexcept { madvise(begin, bytes, MADV_HUGEPAGE); }
void unmap_pages(void* begin, std::size_t bytes) noexcept { munmap(begin, bytes); }

}  // namespace kith
