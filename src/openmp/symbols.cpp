#include "openmp/symbols.hpp"

#include "base/address.hpp"
#include "base/demangled.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

namespace kith::openmp {

namespace {

/// A file in memory; empty if it cannot be read.
class mapped_file {
 public:
  explicit mapped_file(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat about{};
    if (fstat(file, &about) == 0 && about.st_size > 0) {
      void* const map = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (map != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(map), static_cast<std::size_t>(about.st_size)};
    }
    close(file);
  }
  ~mapped_file() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  /// `count` objects from this place on; none if the file does not have all of them.
  template <class T>
  std::span<const T> at(std::uint64_t offset, std::uint64_t count) const noexcept {
    const bool fits =
        offset % alignof(T) == 0 && offset <= bytes_.size() && count <= (bytes_.size() - offset) / sizeof(T);
    if (!fits) return {};
    return {reinterpret_cast<const T*>(bytes_.data() + offset), static_cast<std::size_t>(count)};
  }

 private:
  std::span<const std::byte> bytes_;
};

/// The text that begins there; empty if it does not end inside of the table.
std::string_view text_in(std::span<const char> table, std::size_t from) noexcept {
  if (from >= table.size()) return {};
  const char* const first = table.data() + from;
  const void* const end = std::memchr(first, 0, table.size() - from);
  if (end == nullptr) return {};
  return {first, static_cast<std::size_t>(static_cast<const char*>(end) - first)};
}

/// The function that contains the address `at` of an ELF file; empty if its symbols were removed.
std::string function_in(const mapped_file& file, std::uint64_t at) {
  const auto header = file.at<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto sections = file.at<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_SYMTAB || s.sh_link >= sections.size()) continue;
    const Elf64_Shdr& names = sections[s.sh_link];
    const auto texts = file.at<char>(names.sh_offset, names.sh_size);
    for (const Elf64_Sym& symbol : file.at<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym))) {
      const bool is_there =
          ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && at >= symbol.st_value && at - symbol.st_value < symbol.st_size;
      if (is_there) return demangled(std::string(text_in(texts, symbol.st_name)).c_str());
    }
  }
  return {};
}

/// Where the program's own file begins in memory.
const void* program_base() noexcept {
  Dl_info where{};
  const auto headers = getauxval(AT_PHDR);
  return dladdr(at_address(headers), &where) != 0 ? where.dli_fbase : nullptr;
}

}  // namespace

std::string symbol_at(std::uintptr_t address) {
  Dl_info where{};
  if (dladdr(at_address(address), &where) == 0 || where.dli_fname == nullptr) return "task";
  // The program's name need not be its path; a library's is.
  const bool is_program = where.dli_fbase == program_base();
  const mapped_file file(is_program ? "/proc/self/exe" : where.dli_fname);
  const auto header = file.at<Elf64_Ehdr>(0, 1);
  const bool has_fixed_place = !header.empty() && header[0].e_type == ET_EXEC;
  const std::uint64_t offset = address - (has_fixed_place ? 0 : reinterpret_cast<std::uintptr_t>(where.dli_fbase));
  if (std::string name = function_in(file, offset); !name.empty()) return name;
  const char* const slash = std::strrchr(where.dli_fname, '/');
  char text[24];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(offset));
  return (slash != nullptr ? slash + 1 : where.dli_fname) + std::string(text);
}

}  // namespace kith::openmp
