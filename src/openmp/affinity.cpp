// OpenMP's functions about places, and the format in which affinity is shown.
//
// There are no places: which CPUs a worker may use is decided by KITH_BIND, and OMP_PROC_BIND and OMP_PLACES have no
// effect.
#include "openmp/affinity.hpp"

#include "base/spin_mutex.hpp"
#include "openmp/icv.hpp"
#include "openmp/omp.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace kith::openmp {

namespace {

constinit spin_mutex format_mutex;
/// What the program has set; null: nothing. Lives as long as the process.
std::string* format_set = nullptr;

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "node";
  return name.data();
}

/// The CPUs that the thread may use, as "0-3,8".
std::string cpus_of_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0) return "";
  std::string text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &mask)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(cpu);
    if (last > cpu) text += "-" + std::to_string(last);
    cpu = last;
  }
  return text;
}

std::string native_thread() {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%lx", static_cast<unsigned long>(pthread_self()));
  return text.data();
}

struct field {
  char letter;
  const char* name;
  std::string (*value)();
};

constexpr std::array<field, 10> fields{{
    {'t', "team_num", [] { return std::to_string(omp_get_team_num()); }},
    {'T', "num_teams", [] { return std::to_string(omp_get_num_teams()); }},
    {'L', "nesting_level", [] { return std::to_string(omp_get_level()); }},
    {'n', "thread_num", [] { return std::to_string(omp_get_thread_num()); }},
    {'N', "num_threads", [] { return std::to_string(omp_get_num_threads()); }},
    {'a', "ancestor_tnum", [] { return std::to_string(omp_get_ancestor_thread_num(omp_get_level() - 1)); }},
    {'H', "host", host_name},
    {'P', "process_id", [] { return std::to_string(getpid()); }},
    {'i', "native_thread_id", native_thread},
    {'A', "thread_affinity", cpus_of_thread},
}};

/// Takes the field's name, a letter or a word in braces, from the front.
std::string take_field(std::string_view& rest) {
  if (rest.empty()) return "";
  std::string_view name = rest.substr(0, 1);
  std::size_t length = 1;
  if (rest.front() == '{') {
    const std::size_t close = rest.find('}');
    length = close == rest.npos ? rest.size() : close + 1;
    name = rest.substr(1, length - (close == rest.npos ? 1 : 2));
  }
  const bool is_word = rest.front() == '{';
  rest.remove_prefix(length);
  const auto* const found =
      std::ranges::find_if(fields, [&](const field& f) { return is_word ? name == f.name : name.front() == f.letter; });
  return found == fields.end() ? "undefined" : found->value();
}

/// Takes "[0][.][width]FIELD" from the front, which follows a '%'.
std::string take_formatted(std::string_view& rest) {
  const auto take = [&](char c) {
    const bool is_next = rest.starts_with(c);
    if (is_next) rest.remove_prefix(1);
    return is_next;
  };
  const bool zeros = take('0');
  const bool to_right = take('.') || zeros;
  std::size_t width = 0;
  while (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
    width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(rest.front() - '0'), 1000);
    rest.remove_prefix(1);
  }
  std::string value = take_field(rest);
  if (value.size() >= width) return value;
  const std::size_t missing = width - value.size();
  if (!to_right) return value.append(missing, ' ');
  const bool negative = zeros && value.starts_with('-');
  return value.insert(negative ? 1 : 0, missing, zeros ? '0' : ' ');
}

/// Copies as much as there is room for, and a zero. Returns the bytes of the whole text.
std::size_t give(const std::string& text, char* to, std::size_t bytes) {
  if (bytes == 0) return text.size();
  const std::size_t fitting = std::min(text.size(), bytes - 1);
  std::memcpy(to, text.data(), fitting);
  to[fitting] = '\0';
  return text.size();
}

std::string_view view_of(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

std::string affinity_format() {
  const std::string& first = the_settings().affinity_format;
  const std::lock_guard lock(format_mutex);
  return format_set == nullptr ? first : *format_set;
}

void set_affinity_format(std::string_view format) {
  auto copy = std::make_unique<std::string>(format);
  const std::lock_guard lock(format_mutex);
  if (format_set == nullptr) {
    format_set = copy.release();
  } else {
    format_set->swap(*copy);
  }
}

std::string affinity_text(std::string_view format) {
  const std::string current = format.empty() ? affinity_format() : std::string(format);
  std::string text;
  for (std::string_view rest = current; !rest.empty();) {
    const std::size_t percent = std::min(rest.find('%'), rest.size());
    text += rest.substr(0, percent);
    rest.remove_prefix(percent);
    if (rest.empty()) break;
    rest.remove_prefix(1);
    if (rest.starts_with('%')) {
      text += '%';
      rest.remove_prefix(1);
    } else {
      text += take_formatted(rest);
    }
  }
  return text;
}

void display_affinity(std::string_view format) { std::fputs((affinity_text(format) + '\n').c_str(), stderr); }

}  // namespace kith::openmp

using namespace kith::openmp;

int omp_get_proc_bind() { return 0; }  // omp_proc_bind_false
int omp_get_num_places() { return 0; }
int omp_get_place_num_procs(int) { return 0; }
void omp_get_place_proc_ids(int, int*) {}
int omp_get_place_num() { return -1; }
int omp_get_partition_num_places() { return 0; }
void omp_get_partition_place_nums(int*) {}

void omp_set_affinity_format(const char* format) { set_affinity_format(view_of(format)); }
std::size_t omp_get_affinity_format(char* to, std::size_t bytes) { return give(affinity_format(), to, bytes); }
void omp_display_affinity(const char* format) { display_affinity(view_of(format)); }

std::size_t omp_capture_affinity(char* to, std::size_t bytes, const char* format) {
  return give(affinity_text(view_of(format)), to, bytes);
}
