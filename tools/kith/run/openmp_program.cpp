#include "run/openmp_program.hpp"

#include <kith/error.hpp>

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

/// A library of Kith's, and the name by which it takes another one's place.
struct openmp_library {
  const char* file;
  std::string_view name;
};
constexpr openmp_library for_gcc{"libkith_gomp.so", "libgomp.so.1"}, for_llvm{"libkith_omp.so", "libomp.so.5"};

/// Throws unless `file` can be executed.
void refuse_not_executable(const std::string& file) {
  if (fs::is_directory(file)) throw error(file + ": is a folder; expected a program");
  if (!fs::is_regular_file(file)) throw error(file + ": is no regular file; expected a program");
  if (::access(file.c_str(), X_OK) == 0) return;
  throw error(file + ": cannot be run: " + std::strerror(errno) +
              (errno == EACCES ? "; chmod +x makes it executable, if it is a program" : ""));
}

/// The parts of an executable that are asked for. Offsets come from the file, so each read checks them.
class elf_file {
 public:
  explicit elf_file(const std::string& file) : in_(file, std::ios::binary) {
    if (!read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return;
    is_elf_ = true;
    if (!is_native() || header_.e_phentsize != sizeof(Elf64_Phdr)) return;
    parts_.resize(header_.e_phnum);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!read(header_.e_phoff + i * sizeof(Elf64_Phdr), parts_[i])) parts_[i] = {};
    }
  }

  bool is_elf() const noexcept { return is_elf_; }
  bool is_native() const noexcept { return header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_machine == EM_X86_64; }
  /// Whether a dynamic linker loads it.
  bool is_dynamic() const noexcept { return part(PT_INTERP) != nullptr; }

  /// The names of the libraries that it is linked with (DT_NEEDED), or its own as a library (DT_SONAME).
  std::vector<std::string> names_of(std::int64_t kind) {
    std::vector<std::string> names;
    const Elf64_Phdr* const dynamic = part(PT_DYNAMIC);
    if (dynamic == nullptr) return names;
    std::vector<std::uint64_t> offsets;
    std::optional<std::uint64_t> strings;
    Elf64_Dyn entry{};
    for (std::uint64_t at = 0; at + sizeof entry <= dynamic->p_filesz; at += sizeof entry) {
      if (!read(dynamic->p_offset + at, entry) || entry.d_tag == DT_NULL) break;
      if (entry.d_tag == kind) offsets.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = offset_of(entry.d_un.d_ptr);
    }
    if (!strings) return names;
    for (const std::uint64_t offset : offsets) names.push_back(text(*strings + offset));
    return names;
  }

 private:
  template <class T>
  bool read(std::uint64_t offset, T& to) {
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(in_.read(reinterpret_cast<char*>(&to), sizeof to));
  }
  std::string text(std::uint64_t offset) {
    std::string s;
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    for (char c = 0; s.size() < 4096 && in_.get(c) && c != '\0';) s.push_back(c);
    return s;
  }
  const Elf64_Phdr* part(std::uint32_t type) const noexcept {
    for (const Elf64_Phdr& p : parts_) {
      if (p.p_type == type) return &p;
    }
    return nullptr;
  }
  /// Where in the file an address of the program is.
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const noexcept {
    for (const Elf64_Phdr& p : parts_) {
      if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
        return p.p_offset + (address - p.p_vaddr);
    }
    return {};
  }

  std::ifstream in_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> parts_;
  bool is_elf_ = false;
};

}  // namespace

std::string file_of_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!fs::exists(name)) throw error(name + ": no such file; expected a program");
    refuse_not_executable(name);
    return name;
  }
  const char* const set = std::getenv("PATH");
  const std::string path = set != nullptr ? set : "/bin:/usr/bin";
  std::string found;  // but not executable
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    const std::string file = (fs::path(folder.empty() ? "." : folder) / name).string();
    if (fs::is_regular_file(file)) {
      if (::access(file.c_str(), X_OK) == 0) return file;
      if (found.empty()) found = file;
    }
    begin = end + 1;
  }
  if (!found.empty()) refuse_not_executable(found);
  throw error(name + ": no such program in the folders of PATH" +
              (fs::exists(name) ? "; for the one in this folder, write ./" + name : ""));
}

void refuse_other_programs(const std::string& file) {
  struct stat s{};
  if (::stat(file.c_str(), &s) == 0 && (s.st_mode & (S_ISUID | S_ISGID)) != 0)
    throw error(file +
                ": has the set-user-ID or set-group-ID bit, so the system loads no library in front of its own; "
                "run a copy without the bit");
  elf_file program(file);
  if (!program.is_elf()) return;
  if (!program.is_native())
    throw error(
        file +
        ": is no program for x86-64 with 64 bits, and libkith_gomp.so and libkith_omp.so are libraries for those");
  if (!program.is_dynamic())
    throw error(file +
                ": is linked statically, so no library can be loaded in front of its own; link it without "
                "-static");
}

std::vector<const char*> replacements_for(const std::string& file) {
  bool gcc = false, llvm = false;
  for (const std::string& library : elf_file(file).names_of(DT_NEEDED)) {
    gcc = gcc || library.starts_with("libgomp.so");
    for (const std::string_view name : {"libomp.so", "libomp5.so", "libiomp5.so"})
      llvm = llvm || library.starts_with(name);
  }
  if (llvm && !gcc) return {for_llvm.file, for_gcc.file};
  return {for_gcc.file, for_llvm.file};
}

void refuse_other_library(const std::string& file) {
  elf_file library(file);
  if (library.is_elf() && library.is_native()) {
    for (const std::string& name : library.names_of(DT_SONAME)) {
      if (name == for_gcc.name || name == for_llvm.name) return;
    }
  }
  throw error("--library " + file +
              ": stands in for no OpenMP library; expected libkith_gomp.so or libkith_omp.so of Kith");
}

}  // namespace kith::tools
