// The tool is linked to no MPI, so the program by hand is an executable of its own for each MPI, beside the transports.
// Each process of the job runs it as its child, which joins the job in its place: the launcher's variables and
// descriptors are inherited. A child, and not exec, so that what is printed comes from here, in the form that all
// programs have. Only the child of the first process writes a result.
#include "app/by_hand.hpp"

#include "base/environment.hpp"
#include "child.hpp"
#include "machine/machine.hpp"
#include "places/job.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace kith::tools {

namespace {

namespace fs = std::filesystem;

/// A file that is removed in the end.
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
  const std::string file = "kith-" + std::string(e.by_hand) + "-by-hand-" + transport;
  if (!plugin || !fs::exists(plugin->parent_path() / file)) {
    throw error(name + ": --as custom: Kith was built without the program for this MPI, " + file +
                "; install what programs of this MPI are built with, and build Kith again");
  }
  return plugin->parent_path() / file;
}

}  // namespace

std::optional<app_report> run_by_hand(const apps::places_entry& e, const apps::arguments& arguments,
                                      std::optional<int> places, const runtime_options& each) {
  const std::string name = e.about.name;
  if (number_of(var::dry).value_or(0) != 0)
    throw error(name + ": a program on places cannot be recorded dry; unset KITH_DRY");
  const std::unique_ptr<apps::places_app> program = e.make(arguments);  // checks the parameters, has the figures
  const std::string file = program_by_hand(e, distributed::transport_of_environment());
  const std::int64_t workers = each.workers ? *each.workers : number_of(var::workers).value_or(0);
  const result_file result;
  std::vector<std::string> words{file};
  for (const char* p : {"rows", "columns", "iterations"}) words.push_back(arguments.text(p));
  words.insert(words.end(), {std::to_string(arguments.seed()), std::to_string(workers), result.path()});
  if (!run_child(words, {}, false, true).clean()) throw error(name + ": " + file + " failed");
  app_report r;
  r.app = name;
  r.policy = "none";
  r.machine = current_machine(each.machine).name;
  places_report on{"custom", "mpi", 0, 0, {}};
  std::ifstream in(result.path());
  if (!(in >> on.places >> r.workers >> r.result.seconds >> r.result.check.verified >> std::ws)) return {};
  std::getline(in, r.result.check.what);
  if (places && *places != on.places) {
    throw error(name + ": --places " + std::to_string(*places) + ": the job has " + std::to_string(on.places) +
                " processes, and each is a place");
  }
  r.result.figures = program->figures();
  r.on_places = on;
  return r;
}

}  // namespace kith::tools
