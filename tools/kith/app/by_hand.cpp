// The tool is linked to no MPI, so the program by hand is an executable of its own for each MPI, beside the transports.
// Each process of the job runs it as its child, which joins the job in its place: the launcher's variables and
// descriptors are inherited. It is a child, not an exec, so that this process prints the report in the form that all
// programs have. Only the child of the first process writes a result.
#include "app/by_hand.hpp"

#include "base/environment.hpp"
#include "child.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "places/job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

/// A file that is removed at the end.
class result_file {
 public:
  result_file() : path_(fs::temp_directory_path() / "kith-by-hand-XXXXXX") {
    const int made = mkstemp(path_.data());
    if (made < 0) throw error(path_ + ": " + std::strerror(errno));
    close(made);
  }
  ~result_file() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  result_file(const result_file&) = delete;
  result_file& operator=(const result_file&) = delete;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

std::string program_by_hand(const apps::places_entry& e, const std::string& transport) {
  const std::string name = e.about.name;
  if (transport == "threads") {
    throw error(name + ": --as custom is MPI by hand and needs processes: kith launch -n 2 -- kith app " + name +
                " --as custom");
  }
  const std::optional<fs::path> plugin = distributed::find_plugin(transport);
  const std::string file = std::string("kith-") + e.by_hand + "-by-hand-" + transport;
  if (!plugin || !fs::exists(plugin->parent_path() / file)) {
    throw error(name + ": --as custom: Kith was built without the program for this MPI, " + file +
                "; install what programs of this MPI are built with, and build Kith again");
  }
  return plugin->parent_path() / file;
}

/// Refuses options for Kith's workers, which would have no effect.
void refuse_options(const std::string& name, const apps::arguments& arguments, const runtime_options& each,
                    const machine& on) {
  const std::pair<const char*, bool> given[] = {{"--waiting", arguments.has("waiting")},
                                                {"--admission", arguments.has("admission")},
                                                {"--policy", each.policy.has_value()},
                                                {"--throttle", each.throttle.has_value()},
                                                {"--memory", each.memory.has_value()}};
  for (const auto& [option, is_given] : given) {
    if (is_given)
      throw error(name + ": " + option +
                  " has no effect with --as custom, which is MPI and threads by hand; leave it out");
  }
  if (on.pretended)
    throw error(name + ": --as custom runs without Kith, so on this machine alone; leave out --machine " + on.name +
                ", and unset KITH_MACHINE");
}

/// `wanted`: the value of --places. `processes`: empty if not known.
void refuse_other_places(const std::string& name, std::optional<int> wanted, const std::string& processes) {
  if (wanted && !processes.empty() && processes != std::to_string(*wanted))
    throw error(name + ": --places " + std::to_string(*wanted) + ": each process of the job is a place, and it has " +
                processes);
}

/// The number of processes, from the variable that this MPI's launcher sets for them.
std::string number_of_processes(const std::string& transport) {
  for (const distributed::mpi_kind& k : distributed::mpi_kinds()) {
    if (transport == k.transport) return environment(k.variable).value_or("");
  }
  return "";
}

/// The number of workers that Kith would start here, so that both can be compared.
int planned_workers(const machine& on, std::optional<int> asked, bool oversubscribe) {
  return plan_workers(on, process_limits(), asked, oversubscribe, {bind_mode::off}).workers;
}

/// Reads the program's result. Its values replace those of the same name. False: there is no result.
bool read_result(const std::string& path, app_report& r, places_report& on) {
  std::ifstream in(path);
  if (!(in >> on.places >> r.workers >> r.result.seconds >> r.result.check.verified >> std::ws)) return false;
  std::getline(in, r.result.check.what);
  std::string name;
  for (double value = 0; in >> name >> value;) {
    const auto f = std::ranges::find(r.result.figures, name, &apps::figure::name);
    if (f == r.result.figures.end()) continue;
    if (std::holds_alternative<double>(f->value)) {
      f->value = value;
    } else {
      f->value = static_cast<std::int64_t>(value);
    }
  }
  return true;
}

}  // namespace

std::optional<app_report> run_by_hand(const apps::places_entry& e, const apps::arguments& arguments,
                                      std::optional<int> places, const runtime_options& each) {
  const std::string name = e.about.name;
  if (number_of(var::dry).value_or(0) != 0)
    throw error(name + " --as custom: it has no tasks that could be recorded; unset KITH_DRY");
  const machine on_machine = current_machine(each.machine);
  refuse_options(name, arguments, each, on_machine);
  const std::unique_ptr<apps::places_app> program = e.make(arguments);  // checks the parameters and has the figures
  const std::string transport = distributed::transport_of_environment();
  const std::string file = program_by_hand(e, transport);
  refuse_other_places(name, places, number_of_processes(transport));
  const std::optional<int> asked = workers_setting(each.workers);
  const int workers = planned_workers(on_machine, asked, oversubscribe_setting(each.oversubscribe));
  const result_file result;
  std::vector<std::string> words{file};
  for (const char* p : e.by_hand_takes) words.push_back(arguments.text(p));
  words.insert(words.end(), {std::to_string(arguments.seed()), std::to_string(workers), result.path()});
  if (!run_child(words, {}, false, true).clean()) throw error(name + ": " + file + " failed");
  app_report r;
  r.app = name;
  r.policy = "none";
  r.machine = on_machine.name;
  places_report on{"custom", "mpi", 0, 0, {}};
  r.result.figures = program->figures();
  if (!read_result(result.path(), r, on)) return {};
  tell_workers(r.workers, asked.value_or(0), " at each place");
  refuse_other_places(name, places, std::to_string(on.places));  // the launcher may not have told the number
  r.on_places = on;
  return r;
}

}  // namespace kith::tools
