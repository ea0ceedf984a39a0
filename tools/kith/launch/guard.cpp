#include "launch/guard.hpp"

#include "base/environment.hpp"
#include "child.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

namespace kith::tools {

namespace fs = std::filesystem;

namespace {

/// How long a place may go on after another one has failed. One that has joined the job finds the loss itself, within
/// 5 s, and then writes its recording. The others wait for the lost one in MPI_Init, which does not return.
constexpr std::chrono::seconds patience{10}, patience_at_start{4};

/// The children of a process, theirs and so on. A place's program may run below a shell.
std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> all{process};
  std::error_code ignored;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Threads and processes may end meanwhile.
    const std::string threads = "/proc/" + std::to_string(all[i]) + "/task";
    for (fs::directory_iterator at(threads, ignored), end; at != end; at.increment(ignored)) {
      std::ifstream children(at->path() / "children");
      for (pid_t child = 0; children >> child;) all.push_back(child);
    }
  }
  all.erase(all.begin());
  return all;
}

/// Ends a place's process if it runs for too long after another one has failed, unless survivors go on.
class patient_end {
 public:
  patient_end(pid_t process, const guard_folder& folder, int place, int places)
      : process_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
        thread_([this, process, folder, place, places](const std::stop_token& stop) {
          if (process_ < 0) return;
          // A place may be lost before place 0 has said that the others go on.
          const auto now = [] { return std::chrono::steady_clock::now(); };
          bool finds_losses = false;
          for (auto failed = now(); now() - failed < (finds_losses ? patience : patience_at_start);) {
            if (!folder.should_end() && !folder.waits_in_vain(place, places)) failed = now();
            finds_losses = folder.has_joined(place);
            if (sleep(stop, std::chrono::milliseconds(500))) return;
          }
          fmt::print(stderr, "kith launch: place {} is ended, because {} has failed{}\n", place, folder.failed_place(),
                     finds_losses ? "" : " before all had joined the job");
          folder.mark_ended(place);
          const std::vector<pid_t> below = descendants_of(process);
          signal(SIGTERM);
          for (const pid_t p : below) kill(p, SIGTERM);
          if (sleep(stop, std::chrono::seconds(3))) return;
          signal(SIGKILL);
          for (const pid_t p : below) kill(p, SIGKILL);
        }) {}
  ~patient_end() {
    thread_.request_stop();
    thread_.join();
    if (process_ >= 0) ::close(process_);
  }
  patient_end(const patient_end&) = delete;
  patient_end& operator=(const patient_end&) = delete;

 private:
  /// True if the thread was stopped meanwhile.
  static bool sleep(const std::stop_token& stop, std::chrono::milliseconds time) {
    std::mutex guard;
    std::unique_lock lock(guard);
    std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
    return stop.stop_requested();
  }
  /// Signals by the process's descriptor, which stays valid when its number is reused.
  void signal(int number) const { syscall(SYS_pidfd_send_signal, process_, number, nullptr, 0); }

  int process_;
  std::jthread thread_;
};

int number_of_variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const std::optional<std::string> value = environment(name))
      return static_cast<int>(std::strtol(value->c_str(), nullptr, 10));
  }
  throw error("launch: --guard is for `kith launch` itself");
}

}  // namespace

outcome guard_place(const guard_folder& folder, const std::vector<std::string>& program) {
  const int place = number_of_variable({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  const int places = number_of_variable({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  const pid_t launcher = getppid();
  folder.mark_started();
  child_result ended;
  std::optional<patient_end> end;
  try {
    ended = run_child(program, {{var::guard.name, folder.path()}}, false, true,
                      [&](pid_t process) { end.emplace(process, folder, place, places); });
  } catch (const error& e) {
    if (place == 0) fmt::print(stderr, "kith launch: {}\n", e.what());
    ended.status = 127 << 8;
  }
  end.reset();
  folder.write_status(place, ended.status);
  if (!ended.clean()) {
    folder.name_failed(place);
  } else if (!folder.any_failed()) {
    return outcome::fine;
  }
  // The guard of a survivor waits too: the survivor has not finalised MPI, for which mpirun would end the others.
  auto deadline = std::chrono::steady_clock::now() + patience;
  for (int p = 0; p < places;) {
    if (getppid() != launcher) return outcome::error;  // it was killed, so the results are not read
    if (!folder.should_end()) deadline = std::chrono::steady_clock::now() + patience;
    if (std::chrono::steady_clock::now() > deadline) return outcome::error;  // mpirun ends the others
    if (folder.status(p)) {
      ++p;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  return outcome::fine;  // `kith launch` prints the messages
}

}  // namespace kith::tools
