// kith check: compares what the tasks of a recorded run touched with what they declared.
#include "verbs.hpp"

#include "analysis/addresses.hpp"
#include "analysis/touch_check.hpp"
#include "base/printable.hpp"
#include "json_text.hpp"
#include "progress.hpp"
#include "recording/counts.hpp"
#include "recording/file.hpp"

#include <kith/access.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

constexpr std::size_t most_shown = 20;  // of each kind, as text

struct check_options {
  std::string file;
  bool json = false;
};

const char* kind_name(std::uint8_t kind) {
  constexpr const char* names[] = {"stack",    "unknown",  "heap",         "allocated", "variable",
                                   "variable", "constant", "thread-local", "stack",     "mapped"};
  return names[kind];
}

const char* mode_name(std::uint8_t how) {
  constexpr const char* names[] = {"in", "out", "inout", "concurrent", "commutative"};
  return names[how];
}

/// "gemm:12", as `kith why` takes it.
class task_names {
 public:
  explicit task_names(const recording& r) : number_(r.tasks.size()) {
    std::map<std::string, std::uint32_t> of_type;  // types may share a name
    for (std::size_t t = 0; t < r.tasks.size(); ++t) {
      const recorded_task& k = r.tasks[t];
      if (!k.has(recorded_task::root) && !k.has(recorded_task::fence)) number_[t] = of_type[r.types[k.type]]++;
    }
  }
  std::string name_of(const recording& r, std::int32_t task) const {
    return printable(r.types[r.task(task).type], 200) + ":" + std::to_string(number_[static_cast<std::size_t>(task)]);
  }

 private:
  std::vector<std::uint32_t> number_;
};

/// A block's name for people: a variable, or where it was made.
std::string block_name(const recorded_block& b) {
  if (!b.name.empty()) return "variable " + printable(b.name, 200);
  if (b.kind == recorded_block::unknown) return "memory of no known block";
  std::string text = fmt::format("{} bytes", b.bytes);
  if (b.line != 0) text += fmt::format(", made at {}:{}", printable(b.file, 400), b.line);
  return text;
}

std::string memory_name(const recording& r, const analysis::undeclared_touch& u) {
  if (u.region < 0) return block_name(r.blocks[u.block]);
  return fmt::format("region {} ({} bytes)", u.region, r.regions[static_cast<std::size_t>(u.region)].bytes);
}

/// The range, counted from the beginning of the region, or of the block if there is no region.
std::pair<std::uint64_t, std::uint64_t> range_of(const recording& r, const analysis::undeclared_touch& u) {
  if (u.region < 0) return {u.begin, u.end};
  const std::uint64_t back = r.regions[static_cast<std::size_t>(u.region)].address - r.blocks[u.block].address;
  return {u.begin - back, u.end - back};
}

void print_undeclared(const recording& r, const task_names& names, const analysis::undeclared_touch& u) {
  const recorded_site& s = r.sites[u.site];
  const auto [begin, end] = range_of(r, u);
  fmt::print("{} {}: {} {} bytes {} to {} of {}, {} times\n", printable(analysis::location_of(s), 400),
             names.name_of(r, u.task), u.writes ? "writes" : "reads",
             u.declared_in ? "(declared in)" : "(not declared)", static_cast<std::int64_t>(begin),
             static_cast<std::int64_t>(end), memory_name(r, u), u.touches);
}

void print_report(const recording& r, const analysis::touch_report& found) {
  const task_names names(r);
  for (std::size_t i = 0; i < found.undeclared.size() && i < most_shown; ++i)
    print_undeclared(r, names, found.undeclared[i]);
  if (found.undeclared.size() > most_shown) fmt::print("and {} more (--json)\n", found.undeclared.size() - most_shown);
  for (std::size_t i = 0; i < found.constants.size() && i < most_shown; ++i) {
    const analysis::constant_read& c = found.constants[i];
    fmt::print("note: {} tasks read bytes {} to {} of {}, which no task writes or declares; first {} at {}\n", c.tasks,
               c.begin, c.end, block_name(r.blocks[c.block]), names.name_of(r, c.task),
               printable(analysis::location_of(r.sites[c.site]), 400));
  }
  if (found.constants.size() > most_shown)
    fmt::print("note: and {} more (--json)\n", found.constants.size() - most_shown);
  for (std::size_t i = 0; i < found.untouched.size() && i < most_shown; ++i) {
    const analysis::untouched_access& u = found.untouched[i];
    fmt::print("note: {}: declared {} of region {}, and never touched it\n", names.name_of(r, u.task),
               mode_name(u.mode), u.region);
  }
  if (found.untouched.size() > most_shown)
    fmt::print("note: and {} more (--json)\n", found.untouched.size() - most_shown);
  if (const std::string unseen = r.meta_or("addresses_unseen", ""); !unseen.empty())
    fmt::print("note: what {} libraries touch is seen only where they call memcpy and its like (--json names them)\n",
               std::ranges::count(unseen, ' ') + 1);
  std::size_t tasks = 0;
  for (std::size_t i = 0; i < found.undeclared.size(); ++i)
    tasks += i == 0 || found.undeclared[i].task != found.undeclared[i - 1].task;
  const auto verdict = [&]() -> std::string {
    if (tasks != 0) return fmt::format("{} tasks touch what they did not declare", tasks);
    if (found.tasks == 0) return "no task ran, so nothing was checked";
    return found.constants.empty() ? "all of them declared" : "all of them declared, but for constants";
  };
  fmt::print("{} tasks, {} touches{}: {}\n", found.tasks, found.touches,
             r.counts.empty() ? "" : fmt::format(", {} instructions", instructions_of(r.counts)), verdict());
}

/// Adds the row's description of a block and of a site in the source.
void add_memory(nlohmann::ordered_json& row, const recorded_block& b) {
  row["memory"] = kind_name(b.kind);
  row["variable"] = b.name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(b.name);
  row["made_at"] =
      b.line == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(b.file + ":" + std::to_string(b.line));
}

void add_site(nlohmann::ordered_json& row, const recorded_site& s) {
  row["file"] = s.file;
  row["line"] = s.line;
  row["function"] = s.function;
}

nlohmann::ordered_json to_json(const recording& r, const analysis::touch_report& found) {
  const task_names names(r);
  nlohmann::ordered_json undeclared = nlohmann::ordered_json::array(), untouched = nlohmann::ordered_json::array();
  for (const analysis::undeclared_touch& u : found.undeclared) {
    const auto [begin, end] = range_of(r, u);
    nlohmann::ordered_json row;
    row["task"] = u.task;
    row["name"] = names.name_of(r, u.task);
    row["access"] = u.writes ? "write" : "read";
    row["declared"] = u.declared_in ? nlohmann::ordered_json("in") : nlohmann::ordered_json();
    row["region"] = u.region < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(u.region);
    add_memory(row, r.blocks[u.block]);
    row["begin"] = static_cast<std::int64_t>(begin);
    row["end"] = static_cast<std::int64_t>(end);
    row["touches"] = u.touches;
    add_site(row, r.sites[u.site]);
    undeclared.push_back(std::move(row));
  }
  nlohmann::ordered_json constants = nlohmann::ordered_json::array();
  for (const analysis::constant_read& c : found.constants) {
    nlohmann::ordered_json row;
    row["task"] = c.task;
    row["name"] = names.name_of(r, c.task);
    add_memory(row, r.blocks[c.block]);
    row["begin"] = c.begin;
    row["end"] = c.end;
    row["tasks"] = c.tasks;
    row["touches"] = c.touches;
    add_site(row, r.sites[c.site]);
    constants.push_back(std::move(row));
  }
  for (const analysis::untouched_access& u : found.untouched)
    untouched.push_back(
        {{"task", u.task}, {"name", names.name_of(r, u.task)}, {"region", u.region}, {"mode", mode_name(u.mode)}});
  return {
      {"unseen", r.meta_or("addresses_unseen", "")},
      {"tasks", found.tasks},
      {"touches", found.touches},
      {"instructions", r.counts.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(instructions_of(r.counts))},
      {"unknown", found.unknown},
      {"undeclared", std::move(undeclared)},
      {"constants", std::move(constants)},
      {"untouched", std::move(untouched)}};
}

outcome run_check(const check_options& o) {
  progress bar;
  const recording r = read_recording(o.file, [&](const char* what, double share) { bar.share(what, share); });
  analysis::expect_addresses(r, o.file);
  bar.wait_for("checking");
  const analysis::touch_report found = analysis::check_touches(r);
  bar.clear();
  if (o.json) {
    fmt::print("{}\n", json_text(to_json(r, found), 2));
  } else {
    print_report(r, found);
  }
  return found.undeclared.empty() ? outcome::fine : outcome::limited;
}

}  // namespace

std::function<outcome()> add_check(CLI::App& command) {
  auto o = std::make_shared<check_options>();
  command.add_option("file", o->file, "a recording with addresses (`kith record --addresses`)")
      ->required()
      ->type_name("FILE");
  command.add_flag("--json", o->json, "write JSON");
  command.footer(
      "Names each task that touched what it did not declare: the source line, the region (or variable, or where the "
      "memory was allocated), and the range of bytes, which touches from that line lie in. Need not be declared: the "
      "stack, thread-local data, constants and variables that no task writes, what the task itself has allocated, and "
      "Kith's own memory. Reads of other memory that no task writes or declares are noted, as accesses that were "
      "declared and never touched are. docs/check.md has an example.\n"
      "JSON: {\"unseen\" (libraries without access callbacks), \"tasks\", \"touches\", \"unknown\" (touches in memory "
      "of no known block), \"undeclared\": [{\"task\", "
      "\"name\", \"access\" (read, write), \"declared\" (in: only for reading; null: not at all), \"region\" (null: "
      "none), \"memory\", \"variable\", \"made_at\", \"begin\", \"end\" (bytes, in the region or the memory), "
      "\"touches\", \"file\", \"line\", \"function\"}], \"constants\" (read, and neither written nor declared by any "
      "task): [{\"task\" (the first), \"name\", \"memory\", \"variable\", \"made_at\", \"begin\", \"end\", \"tasks\", "
      "\"touches\", \"file\", \"line\", \"function\"}], \"untouched\": [{\"task\", \"name\", \"region\", \"mode\"}]}\n"
      "Exit code: 0; 1 if a task touched what it did not declare; 2 for a wrong command line or recording.");
  return [o] { return run_check(*o); };
}

}  // namespace kith::tools
