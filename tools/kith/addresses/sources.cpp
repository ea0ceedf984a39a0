#include "addresses/sources.hpp"

#include <kith/error.hpp>

#include <cxxabi.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

/// A function that contains the code at an address; inlined ones come first.
struct frame {
  std::string function, file;
  std::uint32_t line = 0;
};
using frames = std::vector<frame>;

/// The program's standard output for the given `input`. Throws kith::error.
std::string output_of(std::vector<std::string> words, const std::string& input) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::tmpfile(), std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::tmpfile(), std::fclose);
  if (!in || !out) throw error(std::string("no temporary file: ") + std::strerror(errno), error_kind::resources);
  if (std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() || std::fflush(in.get()) != 0 ||
      std::fseek(in.get(), 0, SEEK_SET) != 0)
    throw error(std::string("a temporary file cannot be written: ") + std::strerror(errno), error_kind::resources);
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in.get()), 0);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv.front(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw error(words.front() + " cannot be run: " + std::strerror(failed) +
                    "; it finds the source lines of addresses. Install binutils, then: kith repair",
                error_kind::resources);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::string text;
  if (std::fseek(out.get(), 0, SEEK_SET) != 0)
    throw error(std::string("a temporary file cannot be read: ") + std::strerror(errno), error_kind::resources);
  char piece[65536];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, out.get())) != 0;) text.append(piece, got);
  return text;
}

/// "FILE:LINE (discriminator N)"; unknown ones are "??". "/PATH:?" is code of several lines, such as two branches that
/// the compiler has joined, and "NAME:?" code without line numbers.
void read_place(const std::string& text, frame& f) {
  const std::size_t colon = text.rfind(':', text.find(" (") == std::string::npos ? text.size() : text.find(" ("));
  if (colon == std::string::npos || text.starts_with("??")) return;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), f.line);
  if (f.line != 0 || text.front() == '/') f.file = std::filesystem::path(text.substr(0, colon)).lexically_normal();
}

/// Addresses in modules, as MODULE+0xOFFSET, and the frames of each.
class symbols {
 public:
  void want(const std::string& place) {
    const std::size_t plus = place.rfind("+0x");
    if (plus != std::string::npos && place.front() == '/') wanted_[place.substr(0, plus)][place.substr(plus + 1)];
  }
  void find() {
    for (auto& [module, places] : wanted_) {
      std::string input;
      for (const auto& [offset, none] : places) input += offset + "\n";
      std::istringstream lines(output_of({"addr2line", "-a", "-i", "-f", "-C", "-e", module}, input));
      frames* to = nullptr;
      auto next = places.begin();
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("0x")) {
          if (next == places.end()) break;
          to = &next++->second;
          continue;
        }
        std::string place;
        if (to == nullptr || !std::getline(lines, place)) break;
        frame f{line == "??" ? std::string() : line, {}, 0};
        read_place(place, f);
        to->push_back(std::move(f));
      }
    }
  }
  const frames& of(const std::string& place) const {
    static const frames none;
    const std::size_t plus = place.rfind("+0x");
    if (plus == std::string::npos) return none;
    const auto module = wanted_.find(place.substr(0, plus));
    if (module == wanted_.end()) return none;
    const auto at = module->second.find(place.substr(plus + 1));
    return at == module->second.end() ? none : at->second;
  }

 private:
  std::map<std::string, std::map<std::string, frames>> wanted_;  // by module, by offset
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Whether the frame is in Kith's headers, or in its library, which may be built without line numbers. A function of
/// the headers may have lines of the user's code: those of a task's body that was inlined into it.
bool is_kith(const frame& f) {
  if (has(f.file, "/include/kith/")) return true;
  if (has(f.function, "<kith::task*")) return true;  // a container of the library, whose traced copy the linker kept
  const std::string_view function = std::string_view(f.function).substr(0, f.function.find_first_of("(<"));
  const bool named = function.starts_with("kith::") || has(function, " kith::");
  return named && (f.file.empty() || f.file.starts_with(KITH_SOURCES));
}
/// Whether the frame is in a library that is not the user's: the compiler's, an installed one, or one without line
/// numbers. A program may be anywhere else below /usr.
bool is_foreign(const frame& f) {
  constexpr std::string_view installed[] = {"/usr/include/", "/usr/lib", "/usr/local/include/", "/usr/local/lib"};
  const auto is_in = [&](std::string_view folder) { return f.file.starts_with(folder); };
  return f.file.empty() || std::ranges::any_of(installed, is_in) || has(f.file, "/include/c++/") ||
         has(f.file, "/lib/clang/");
}

/// The first frame that is the user's or Kith's; else the first one; null if there is none.
const frame* telling(const frames& here, const frames& caller) {
  for (const frames* all : {&here, &caller}) {
    for (const frame& f : *all) {
      if (is_kith(f) || !is_foreign(f)) return &f;
    }
  }
  return here.empty() ? nullptr : &here.front();
}

std::string readable(const std::string& symbol) {
  int status = -1;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : symbol;
}

}  // namespace

void add_sources(recording& r) {
  symbols known;
  for (const recorded_site& s : r.sites) {
    known.want(s.at);
    known.want(s.caller);
  }
  for (const recorded_block& b : r.blocks) {
    known.want(b.at);
    known.want(b.caller);
  }
  known.find();
  for (recorded_site& s : r.sites) {
    const frame* const f = telling(known.of(s.at), known.of(s.caller));
    if (f == nullptr) continue;
    s.own = is_kith(*f);
    s.file = f->file;
    s.line = f->line;
    s.function = f->function.substr(0, 1000);
  }
  for (recorded_block& b : r.blocks) {
    if (!b.name.empty()) b.name = readable(b.name).substr(0, 1000);
    const frame* const f = telling(known.of(b.at), known.of(b.caller));
    if (f == nullptr) continue;
    b.own = b.kind != recorded_block::allocated && is_kith(*f);
    b.file = f->file;
    b.line = f->line;
  }
}

}  // namespace kith::tools
