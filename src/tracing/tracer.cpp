// The recorder of addresses behind the engine's interface (base/access_tracer.hpp), and the files that it writes.
//
// In the folder of parts, `addresses.streams` has the streams: rows of three 8-byte numbers (the task's name in the
// logs, touches, bytes) and the bytes. A task may have several rows; they are in order. `addresses.tables` is written
// at the end, as text, a line for each module, site and block.
#include "base/access_tracer.hpp"

#include "base/spin_mutex.hpp"
#include "tracing/modules.hpp"
#include "tracing/trace.hpp"

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>

namespace kith::tracing {

struct address_recording {
  spin_mutex lock;
  int file = -1;
  growing<std::uint8_t> waiting;  // to be written
  std::uint64_t lost = 0;
  char folder[4096];
};

namespace {

constexpr std::size_t write_at_once = std::size_t{1} << 20;

/// Returns the bytes that could not be written.
std::size_t write_all(int file, const std::uint8_t* at, std::size_t bytes) noexcept {
  while (bytes != 0) {
    const ssize_t done = ::write(file, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return bytes;
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return 0;
}

int open_part(const char* folder, const char* name) noexcept {
  char path[4200];
  std::snprintf(path, sizeof path, "%s/%s", folder, name);
  return ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/// The text of the tables.
class table_text {
 public:
  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) noexcept {
    char text[4400];
    std::va_list with;
    va_start(with, format);
    const int n = std::vsnprintf(text, sizeof text, format, with);
    va_end(with);
    for (int i = 0; i < n && i < static_cast<int>(sizeof text) - 1; ++i) bytes.push(static_cast<std::uint8_t>(text[i]));
    bytes.push('\n');
  }
  growing<std::uint8_t> bytes;
  const address_recording* recording = nullptr;
};

int add_module(dl_phdr_info* info, std::size_t, void* text) {
  std::array<char, 4096> room;
  const char* const path = path_of(*info, room);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + p.p_vaddr;
    static_cast<table_text*>(text)->line("module %zx %zx %zx %s", begin, begin + p.p_memsz,
                                         static_cast<std::size_t>(info->dlpi_addr), path);
  }
  return 0;
}

}  // namespace

address_recording* open_recording(const char* folder) noexcept {
  static const bool once = (add_variables(), true);
  static_cast<void>(once);
  const int file = open_part(folder, "addresses.streams");
  if (file < 0) return nullptr;
  auto* const made = ::new (system_memory(sizeof(address_recording))) address_recording;
  made->file = file;
  std::snprintf(made->folder, sizeof made->folder, "%s", folder);
  return made;
}

void append(address_recording& to, std::uint64_t task, std::uint64_t touches, const std::uint8_t* data,
            std::size_t bytes) noexcept {
  const std::uint64_t head[] = {task, touches, bytes};
  const recorder_section section;
  const std::lock_guard guard(to.lock);
  const auto* const h = reinterpret_cast<const std::uint8_t*>(head);
  for (std::size_t i = 0; i < sizeof head; ++i) to.waiting.push(h[i]);
  for (std::size_t i = 0; i < bytes; ++i) to.waiting.push(data[i]);
  if (to.waiting.size() < write_at_once) return;
  to.lost += write_all(to.file, to.waiting.data(), to.waiting.size());
  to.waiting.clear();
}

std::uint64_t close_recording(address_recording* r) noexcept {
  r->lost += write_all(r->file, r->waiting.data(), r->waiting.size());
  ::close(r->file);
  table_text text;
  text.recording = r;
  dl_iterate_phdr(add_module, &text);
  for_each_site(
      [](void* with, const site_key& k) {
        static_cast<table_text*>(with)->line("site %zx %zx %x %x", k.pc, k.caller, static_cast<unsigned>(k.kind),
                                             k.bytes);
      },
      &text);
  for_each_touched(
      [](void* with, const block& b) {
        auto* const t = static_cast<table_text*>(with);
        const bool mine = b.recording == t->recording;
        t->line("block %x %zx %zx %llx %llx %zx %zx %s", static_cast<unsigned>(b.kind), b.origin, b.bytes,
                static_cast<unsigned long long>(mine ? b.task : 0), static_cast<unsigned long long>(b.ordinal), b.pc,
                b.caller, b.name == nullptr ? "-" : b.name);
      },
      &text);
  const int file = open_part(r->folder, "addresses.tables");
  r->lost += file < 0 ? text.bytes.size() : write_all(file, text.bytes.data(), text.bytes.size());
  if (file >= 0) ::close(file);
  const std::uint64_t lost = r->lost;
  text.bytes.release();
  r->waiting.release();
  give_back(r, sizeof *r);
  return lost;
}

namespace {

spin_mutex spare_lock;
task_trace* spare = nullptr;

task_trace* take_trace() noexcept {
  {
    const recorder_section section;
    const std::lock_guard guard(spare_lock);
    if (task_trace* const t = spare) {
      spare = t->next_spare;
      return t;
    }
  }
  return ::new (system_memory(sizeof(task_trace))) task_trace;
}
void keep_trace(task_trace* t) noexcept {
  const recorder_section section;
  const std::lock_guard guard(spare_lock);
  t->next_spare = spare;
  spare = t;
}

}  // namespace

spin_mutex& lock_of_traces() noexcept { return spare_lock; }

namespace {

void* start(const char* folder) { return open_recording(folder); }
std::uint64_t finish(void* recording) { return close_recording(static_cast<address_recording*>(recording)); }

void* enter(void* recording, std::uint64_t task) {
  task_trace* const outer = now;
  now = nullptr;
  if (task == 0 || recording == nullptr) return outer;
  add_this_thread();
  task_trace* const t = take_trace();
  t->begin(static_cast<address_recording*>(recording), task,
           reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  now = t;
  return outer;
}
void leave(void* outer) {
  task_trace* const t = now;
  now = nullptr;
  if (t != nullptr) {
    t->end();
    keep_trace(t);
  }
  now = static_cast<task_trace*>(outer);
}
void* current() { return now; }
void resume(void* what) { now = static_cast<task_trace*>(what); }

void allocated(const void* at, std::size_t bytes) {
  made_block(block::what::allocated, at, bytes, __builtin_return_address(0));
}
void released(const void* at) { remove_block(at, block::what::allocated); }

constexpr access_tracer functions{start, finish, enter, leave, current, resume, allocated, released};

}  // namespace

}  // namespace kith::tracing

// Every instrumented file calls this when its static objects are constructed, before a runtime can exist.
extern "C" void __tsan_init() { kith::set_access_tracer(kith::tracing::functions); }
