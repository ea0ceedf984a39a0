// The variables of the program and its libraries, from their symbol tables; constant data; stacks.
#include "base/address.hpp"
#include "tracing/arena.hpp"
#include "tracing/blocks.hpp"
#include "tracing/modules.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace kith::tracing {

namespace {

const char* kept(const char* text) noexcept {
  static arena memory;  // add_variables() runs once
  const std::size_t bytes = std::strlen(text) + 1;
  return static_cast<const char*>(std::memcpy(memory.take(bytes), text, bytes));
}

/// A file of the program, mapped for reading. Its contents are trusted: the process runs them.
class mapped_file {
 public:
  explicit mapped_file(const char* path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat about{};
    if (::fstat(file, &about) == 0) {
      bytes_ = static_cast<std::size_t>(about.st_size);
      const long at = ::syscall(SYS_mmap, nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      if (at != -1) at_ = static_cast<const char*>(at_address(static_cast<std::uintptr_t>(at)));
    }
    ::close(file);
  }
  ~mapped_file() {
    if (at_ != nullptr) give_back(const_cast<char*>(at_), bytes_);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  template <class T>
  const T* at(std::uint64_t offset) const noexcept {
    return at_ == nullptr || offset + sizeof(T) > bytes_ ? nullptr : reinterpret_cast<const T*>(at_ + offset);
  }

 private:
  const char* at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Registers the objects of the file's symbol table that `covers` accepts.
template <class Covers>
void add_symbols(const char* path, std::uintptr_t base, const Covers& covers) noexcept {
  const mapped_file file(path);
  const auto* const head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return;
  for (unsigned i = 0; i < head->e_shnum; ++i) {
    const auto* const s = file.at<ElfW(Shdr)>(head->e_shoff + std::uint64_t{i} * head->e_shentsize);
    if (s == nullptr || s->sh_type != SHT_SYMTAB) continue;
    const auto* const names = file.at<ElfW(Shdr)>(head->e_shoff + std::uint64_t{s->sh_link} * head->e_shentsize);
    for (std::uint64_t at = 0; names != nullptr && at + sizeof(ElfW(Sym)) <= s->sh_size; at += sizeof(ElfW(Sym))) {
      const auto* const symbol = file.at<ElfW(Sym)>(s->sh_offset + at);
      if (symbol == nullptr) break;
      if ((symbol->st_info & 15) != STT_OBJECT || symbol->st_size == 0 || symbol->st_shndx == SHN_UNDEF) continue;
      const char* const name = file.at<char>(names->sh_offset + symbol->st_name);
      if (name == nullptr || !covers(base + symbol->st_value)) continue;
      add_block({.begin = base + symbol->st_value,
                 .end = base + symbol->st_value + symbol->st_size,
                 .kind = block::what::variable,
                 .name = kept(name)});
    }
  }
}

int add_module(dl_phdr_info* info, std::size_t, void*) noexcept {
  std::array<char, 4096> room;
  const char* const path = path_of(*info, room);
  const char* const slash = std::strrchr(path, '/');
  const char* const name = kept(slash == nullptr ? path : slash + 1);
  std::uintptr_t constant_begin = 0, constant_end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_GNU_RELRO) continue;
    constant_begin = info->dlpi_addr + p.p_vaddr;
    constant_end = constant_begin + p.p_memsz;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + p.p_vaddr, end = begin + p.p_memsz;
    const auto add = [&](std::uintptr_t from, std::uintptr_t to, block::what kind) {
      if (from < to) add_block({.begin = from, .end = to, .kind = kind, .name = name});
    };
    if ((p.p_flags & PF_W) == 0) {
      add(begin, end, block::what::constant);
      continue;
    }
    add(begin, std::clamp(constant_begin, begin, end), block::what::global);
    add(std::clamp(constant_begin, begin, end), std::clamp(constant_end, begin, end), block::what::constant);
    add(std::clamp(constant_end, begin, end), end, block::what::global);
    add_symbols(path, info->dlpi_addr, [&](std::uintptr_t address) {
      return address >= begin && address < end && (address < constant_begin || address >= constant_end);
    });
  }
  return 0;
}

using range_call = void(std::uintptr_t begin, std::uintptr_t end);

/// Calls **each, a range_call, for the calling thread's data of a module.
int for_thread_data(dl_phdr_info* info, std::size_t, void* each) noexcept {
  if (info->dlpi_tls_data == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_TLS) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
    (*static_cast<range_call**>(each))(begin, begin + p.p_memsz);
  }
  return 0;
}
void for_all_thread_data(range_call* each) noexcept { dl_iterate_phdr(for_thread_data, &each); }

/// Where the first thread's stack ends, with the program's arguments and environment above its frames; 0: not known.
std::uintptr_t end_of_first_stack() noexcept {
  const recorder_section section;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), std::fclose);
  char line[4200];
  while (maps != nullptr && std::fgets(line, sizeof line, maps.get()) != nullptr) {
    const char* const dash = std::strchr(line, '-');
    if (dash != nullptr && std::strstr(line, "[stack]") != nullptr) return std::strtoull(dash + 1, nullptr, 16);
  }
  return 0;
}

constinit thread_local std::uintptr_t stack_begin [[gnu::tls_model("initial-exec")]] = 0;
constinit thread_local std::uintptr_t stack_end [[gnu::tls_model("initial-exec")]] = 0;

}  // namespace

void add_variables() { dl_iterate_phdr(add_module, nullptr); }

void add_this_thread() {
  static constinit thread_local bool known [[gnu::tls_model("initial-exec")]] = false;
  if (known) return;
  known = true;
  pthread_attr_t about;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &about) == 0) {
    if (pthread_attr_getstack(&about, &lowest, &bytes) == 0) {
      stack_begin = reinterpret_cast<std::uintptr_t>(lowest);
      stack_end = stack_begin + bytes;
      add_block({.begin = stack_begin, .end = stack_end, .kind = block::what::stack});
      if (const std::uintptr_t end = ::gettid() == ::getpid() ? end_of_first_stack() : 0; end > stack_end)
        add_block({.begin = stack_end, .end = end, .kind = block::what::constant, .name = "arguments and environment"});
    }
    pthread_attr_destroy(&about);
  }
  for_all_thread_data([](std::uintptr_t begin, std::uintptr_t end) {
    add_block({.begin = begin, .end = end, .kind = block::what::thread_local_data});
  });
}

void remove_this_thread() {
  for_all_thread_data(remove_of_thread);
  remove_of_thread(stack_begin, stack_end);
}

}  // namespace kith::tracing
