#include "recording/address_parts.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace kith {

namespace {

/// Where code lies: the parts of the program and its libraries, by address.
class modules {
 public:
  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t base, std::string path) {
    parts_[begin] = {end, base, std::move(path)};
  }
  /// PATH+0xOFFSET, as symbol tables count; empty if the address is in no module.
  std::string name(std::uint64_t address) const {
    auto at = parts_.upper_bound(address);
    if (at == parts_.begin()) return {};
    const part& p = (--at)->second;
    if (address >= p.end) return {};
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(address - p.base));
    return p.path + offset;
  }

 private:
  struct part {
    std::uint64_t end, base;
    std::string path;
  };
  std::map<std::uint64_t, part> parts_;
};

class tables {
 public:
  tables(recording& r, std::string path, const std::unordered_map<std::uint64_t, std::int32_t>& tasks)
      : r_(r), path_(std::move(path)), tasks_(tasks) {
    recorded_block stack, unknown;
    stack.kind = recorded_block::own_stack;
    r_.blocks = {stack, unknown};
  }

  void read() {
    std::ifstream in(path_);
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      std::istringstream words(line);
      words >> std::hex;
      std::string what;
      words >> what;
      const bool known = what == "module"  ? module(words)
                         : what == "site"  ? site(words)
                         : what == "block" ? block(words)
                                           : false;
      if (!known || words.fail())
        throw error(path_ + ": damaged: line " + std::to_string(number) + ", expected a module, site or block",
                    error_kind::input);
    }
    std::string& unseen = r_.meta["addresses_unseen"];
    for (const std::string& name : unseen_) unseen += (unseen.empty() ? "" : " ") + name;
  }

 private:
  static std::string rest_of(std::istringstream& words) {
    std::string text;
    std::getline(words >> std::ws, text);
    return text;
  }
  bool module(std::istringstream& words) {
    std::uint64_t begin = 0, end = 0, base = 0;
    words >> begin >> end >> base;
    const std::string path = rest_of(words);
    const std::string name = std::filesystem::path(path).filename();
    if (program_.empty()) program_ = path;  // the program is the first module
    if (path != program_ && path.front() == '/' && !unseen_.contains(name)) unseen_.insert(name);
    modules_.add(begin, end, base, path);
    return true;
  }
  /// A return address is that of the byte after the call, so the byte before it is named.
  std::string point(std::uint64_t pc) const { return pc == 0 ? std::string() : modules_.name(pc - 1); }

  bool site(std::istringstream& words) {
    std::uint64_t pc = 0, caller = 0;
    unsigned mode = 0;
    recorded_site s;
    words >> pc >> caller >> mode >> s.bytes;
    s.mode = static_cast<std::uint8_t>(std::min(mode, unsigned{recorded_site::both}));
    s.at = point(pc);
    s.caller = point(caller);
    r_.sites.push_back(std::move(s));
    return true;
  }
  bool block(std::istringstream& words) {
    unsigned kind = 0;
    std::uint64_t task = 0, pc = 0, caller = 0;
    recorded_block b;
    words >> kind >> b.address >> b.bytes >> task >> b.ordinal >> pc >> caller;
    b.kind = static_cast<std::uint8_t>(std::min<unsigned>(kind + recorded_block::heap, recorded_block::mapped));
    b.name = rest_of(words);
    if (b.name == "-") b.name.clear();
    b.at = point(pc);
    b.caller = point(caller);
    if (const auto at = tasks_.find(task); task != 0 && at != tasks_.end()) b.task = at->second;
    r_.blocks.push_back(std::move(b));
    return true;
  }

  recording& r_;
  const std::string path_;
  const std::unordered_map<std::uint64_t, std::int32_t>& tasks_;
  modules modules_;
  std::string program_;
  std::set<std::string> unseen_;  // libraries
};

void read_streams(recording& r, const std::string& path, const std::unordered_map<std::uint64_t, std::int32_t>& tasks) {
  std::vector<std::vector<recorded_stream>> by_task(r.tasks.size());
  std::ifstream in(path, std::ios::binary);
  const std::uint64_t size = std::filesystem::file_size(path);
  std::uint64_t head[3], at = 0;
  while (in.read(reinterpret_cast<char*>(head), sizeof head)) {
    at += sizeof head;
    if (head[2] > size - std::min(size, at))
      throw error(path + ": damaged: a stream of " + std::to_string(head[2]) + " bytes at byte " + std::to_string(at) +
                      ", behind which there are " + std::to_string(size - at) + "; record the run again",
                  error_kind::input);
    recorded_stream s{head[1], std::vector<std::uint8_t>(head[2])};
    in.read(reinterpret_cast<char*>(s.bytes.data()), static_cast<std::streamsize>(s.bytes.size()));
    at += head[2];
    if (const auto task = tasks.find(head[0]); task != tasks.end())
      by_task[static_cast<std::size_t>(task->second)].push_back(std::move(s));
  }
  r.first_stream.assign(1, 0);
  for (std::vector<recorded_stream>& mine : by_task) {
    for (recorded_stream& s : mine) r.streams.push_back(std::move(s));
    r.first_stream.push_back(r.streams.size());
  }
}

}  // namespace

void add_address_parts(recording& r, const std::string& folder,
                       const std::unordered_map<std::uint64_t, std::int32_t>& tasks) {
  const std::string streams = folder + "/addresses.streams", about = folder + "/addresses.tables";
  if (!std::filesystem::exists(streams)) return;
  if (!std::filesystem::exists(about)) {
    std::fprintf(stderr, "kith: %s: the run was cut off, and its addresses are lost\n", folder.c_str());
    return;
  }
  tables(r, about, tasks).read();
  read_streams(r, streams, tasks);
}

}  // namespace kith
