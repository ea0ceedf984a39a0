#include "memory/pages.hpp"

#include "base/made_once.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <system_error>

namespace kith {

namespace fs = std::filesystem;

namespace {

fs::path folder() { return "/sys/kernel/mm/transparent_hugepage"; }

std::string first_line(const fs::path& file) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return line;
}
bool chosen_always(const fs::path& file) { return first_line(file).find("[always]") != std::string::npos; }
std::size_t largest_huge_page() {
  std::size_t size = 0;
  std::ifstream(folder() / "hpage_pmd_size") >> size;
  return size;
}

}  // namespace

std::size_t page_size() noexcept {
  static constinit made_once<std::size_t> bytes;
  return bytes.get([] { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); });
}

std::size_t huge_page_size() noexcept {
  static constinit made_once<std::size_t> bytes;
  return bytes.get([]() -> std::size_t {
    const std::string enabled = first_line(folder() / "enabled");
    return enabled.empty() || enabled.find("[never]") != std::string::npos ? 0 : largest_huge_page();
  });
}

std::size_t unasked_huge_page_size() noexcept {
  static constinit made_once<std::size_t> bytes;
  return bytes.get([]() -> std::size_t {
    if (chosen_always(folder() / "enabled")) return largest_huge_page();
    std::error_code none;  // newer kernels have more sizes, each with its own setting
    for (const fs::directory_entry& size : fs::directory_iterator(folder(), none)) {
      if (size.is_directory(none) && chosen_always(size.path() / "enabled")) return largest_huge_page();
    }
    return 0;
  });
}

void* map_pages(std::size_t bytes, std::size_t alignment) {
  const std::size_t slack = alignment > page_size() ? alignment : 0;
  if (bytes + slack < bytes) throw std::bad_alloc();
  void* const got =
      mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  const auto at = reinterpret_cast<std::uintptr_t>(got);
  const std::uintptr_t first = (at + alignment - 1) / alignment * alignment;
  // Unmaps what was mapped only for the alignment.
  auto* const start = static_cast<std::byte*>(got);
  const std::size_t before = first - at, behind = slack - before;
  if (before != 0) munmap(start, before);
  if (behind != 0) munmap(start + before + bytes, behind);
  return start + before;
}

void want_huge_pages(void* begin, std::size_t bytes) noexcept { madvise(begin, bytes, MADV_HUGEPAGE); }
void refuse_huge_pages(void* begin, std::size_t bytes) noexcept { madvise(begin, bytes, MADV_NOHUGEPAGE); }
void unmap_pages(void* begin, std::size_t bytes) noexcept { munmap(begin, bytes); }

}  // namespace kith
