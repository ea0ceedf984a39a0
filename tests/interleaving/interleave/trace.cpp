// Formats the events of one schedule.
#include "interleave/trace.hpp"

#include "interleave/ordering.hpp"

#include <cinttypes>
#include <cstdio>

namespace kith::interleave {
namespace {

const char* order_name(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume:
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
  }
  return "?";
}

std::string value(const place& at, std::uint64_t bits) {
  char text[32];
  if (at.as == place::shown::pointer) {
    std::snprintf(text, sizeof text, bits == 0 ? "null" : "0x%" PRIx64, bits);
  } else if (at.as == place::shown::signed_number) {
    const unsigned unused = 64 - 8u * at.size;
    std::snprintf(text, sizeof text, "%" PRId64, static_cast<std::int64_t>(bits << unused) >> unused);
  } else {
    std::snprintf(text, sizeof text, bits > 0xffffffff ? "0x%" PRIx64 : "%" PRIu64, bits);
  }
  return text;
}

std::string action(const event& e, const std::string& name) {
  using what = event::what;
  const std::string order = std::string(" (") + order_name(e.order) + ")";
  const std::string before = value(e.at, e.before);
  const std::string after = value(e.at, e.after);
  switch (e.kind) {
    case what::load: return "reads " + name + " = " + before + order;
    case what::forwarded_load: return "reads " + name + " = " + before + " from its own store buffer";
    case what::store: return "writes " + name + " = " + after + order;
    case what::buffered_store: return "writes " + name + " = " + after + order + " into its store buffer";
    case what::drain: return "(" + name + " = " + after + " reaches memory)";
    case what::modify: return "changes " + name + " from " + before + " to " + after + order;
    case what::compare_failed: return "compares " + name + ": expected " + after + ", is " + before;
    case what::full_fence: return "full fence";
    case what::process_fence: return "process-wide fence";
    case what::yield: return "pauses";
    case what::futex_returned: return "futex wait on " + name + " returns: is " + before + ", not " + after;
    case what::futex_sleep: return "sleeps on " + name + " = " + before;
    case what::futex_wake: return "futex wake on " + name;
    case what::woken: return "is woken";
    case what::spurious: return "is woken for no reason";
    case what::cell_read: return "reads cell " + name;
    case what::cell_write: return "writes cell " + name;
    case what::preempted: return "---- preempted";
    case what::ended: return "ends";
  }
  return "?";
}

}  // namespace

std::string short_name(const std::source_location& where) {
  const std::string file = where.file_name();
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where.line());
}

std::string trace::text(const std::vector<std::string>& threads) const {
  std::map<const void*, std::string> names = names_;
  std::string all;
  int step = 0;
  for (const event& e : events_) {
    std::string& name = names[e.at.address];
    if (e.at.address != nullptr && name.empty()) name.append("v").append(std::to_string(names.size()));
    char line[160];
    std::snprintf(line, sizeof line, "%4d  %-8s %-60s", ++step, threads[static_cast<std::size_t>(e.thread)].c_str(),
                  action(e, name).c_str());
    all += line;
    if (e.where.line() != 0)
      all += "  " + short_name(e.where) + "  " + source_line(e.where.file_name(), e.where.line()).substr(0, 80);
    all.erase(all.find_last_not_of(' ') + 1);
    all += '\n';
  }
  return all;
}

}  // namespace kith::interleave
