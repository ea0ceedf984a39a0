// Joins an MPI job. MPI is initialised once for a process, and finalised at its end, because it cannot be initialised
// again.
#include "places/mpi/mpi_endpoint.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace kith::distributed::mpi {

namespace {

/// Keeps UCX, which MPICH may use, from sharing memory. There each process has one queue for all its senders, and a
/// sender that is killed while it writes to the queue closes it to the others. Sockets have no such state. To be called
/// before MPI is initialised.
void avoid_shared_queues() {
#ifdef MPICH_VERSION
  setenv("UCX_TLS", "^sm", 0);
#endif
}

/// Whether MPI_Finalize may wait for ever: MPICH before 4.2 over UCX lets a process that has closed its connections
/// stop the progress of others, which may still need it (MPICH's pull request 6596).
bool may_hang_in_finalize() {
#ifdef MPICH_VERSION
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(library, &length);
  return std::string_view(library, static_cast<std::size_t>(length)).find("ch4:ucx") != std::string_view::npos;
#else
  return false;
#endif
}

/// Tells MPICH's launcher that this process ends well, as MPI_Finalize would; otherwise the launcher ends the others.
/// The commands are those of PMI-1: all processes meet, then each says that it ends. Waits for each answer for at most
/// `limit`. False, and nothing is done, if the launcher does not speak PMI-1. MPI must not be called meanwhile or
/// afterwards, because it has the same conversation with the launcher.
bool finalize_pmi(std::chrono::milliseconds limit) {
  using namespace std::string_view_literals;
  const char* const variable = std::getenv("PMI_FD");
  if (variable == nullptr) return false;
  pollfd launcher{.fd = static_cast<int>(std::strtol(variable, nullptr, 10)), .events = POLLIN, .revents = 0};
  for (const std::string_view command : {"cmd=barrier_in\n"sv, "cmd=finalize\n"sv}) {
    char answer[256];
    if (send(launcher.fd, command.data(), command.size(), MSG_NOSIGNAL) < 0) return true;
    if (poll(&launcher, 1, static_cast<int>(limit.count())) > 0) recv(launcher.fd, answer, sizeof answer, MSG_DONTWAIT);
  }
  return true;
}

/// MPI in this process. If the program has initialised it, that is left as it is.
class session {
 public:
  explicit session(bool survives_losses) {
    int there = 0, ended = 0, level = MPI_THREAD_SINGLE;
    MPI_Finalized(&ended);
    if (ended != 0) throw std::runtime_error("the program has called MPI_Finalize already");
    MPI_Initialized(&there);
    if (there != 0) {
      MPI_Query_thread(&level);
    } else {
      if (survives_losses) avoid_shared_queues();
      // The progress thread of a place is not the one that initialises MPI.
      if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        throw std::runtime_error("MPI_Init_thread failed");
      is_mine_ = true;
    }
    on_exit([](int status, void* to) { *static_cast<int*>(to) = status; }, &exit_status_);
    if (level < MPI_THREAD_SERIALIZED) {
      throw std::runtime_error(there != 0 ? "the program has initialised MPI for one thread; call MPI_Init_thread "
                                            "with MPI_THREAD_SERIALIZED or more"
                                          : "this MPI does not allow calls from several threads in turn "
                                            "(MPI_THREAD_SERIALIZED)");
    }
  }
  /// Called when the process ends. If a transport still needs MPI, transport_ended() calls this again.
  void end() {
    ends_ = true;
    if (is_inherited()) return;
    int ended = 0;
    MPI_Finalized(&ended);
    if (!is_mine_ || !in_order || ended != 0) return;
    if (!end_agreed_ && !end_together()) return;
    if (!may_hang_in_finalize())
      MPI_Finalize();
    else if (!finalize_pmi(meeting_limit))
      finalize_in_time();
  }
  /// Called when a transport has ended.
  void transport_ended(bool was_in_order) {
    in_order = was_in_order;
    if (ends_) end();
  }
  /// Collective over all processes, before they make a transport. Throws if one ends instead.
  void expect_all_join() {
    if (!end_agreed_) {
      const std::optional<bool> all = all_join(true);
      if (!all) {
        in_order = false;
        throw std::runtime_error("another process of the job has ended, so the others cannot meet again");
      }
      if (*all) return;
    }
    end_agreed_ = true;
    throw std::runtime_error(
        "another process of the job ends, and has made fewer place_runtimes than this one; expected as many in all");
  }
  /// Calls MPI_Finalize. All processes have met and the program has ended, so a process that waits too long ends
  /// without.
  void finalize_in_time() noexcept try {
    std::fflush(nullptr);  // the guard's _exit does not
    std::promise<void> finalized;
    std::thread guard([this, ended = finalized.get_future()] {
      if (ended.wait_for(finalize_limit) == std::future_status::ready) return;
      std::fputs("kith: MPI_Finalize did not return; this process leaves without it\n", stderr);
      _exit(exit_status_);
    });
    MPI_Finalize();
    finalized.set_value();
    guard.join();
  } catch (const std::exception&) {  // no thread to be had
    MPI_Finalize();
  }
  /// The processes of the job, any of which may end without the others.
  void watch(const std::vector<process_card>& cards) {
    if (others_) return;
    int here = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &here);
    others_.emplace(cards, here, std::chrono::nanoseconds(0));
  }
  /// Collective over all processes: each says whether it makes a transport or ends. Returns whether all make one; none:
  /// a process has ended without calling this.
  std::optional<bool> all_join(bool joins) {
    using namespace std::chrono_literals;
    struct ballot {
      int mine, all;
    };
    auto vote = std::make_unique<ballot>(ballot{joins ? 1 : 0, 0});
    MPI_Request r = MPI_REQUEST_NULL;
    bool fine = MPI_Iallreduce(&vote->mine, &vote->all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &r) == MPI_SUCCESS;
    std::optional<peers::clock::time_point> deadline;  // a process may have sent its vote before it ended
    for (auto delay = 5us; fine; delay = std::min(delay * 2, 1000us)) {
      int done = 0;
      fine = MPI_Test(&r, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
      if (fine && done != 0) return vote->all != 0;
      const auto now = peers::clock::now();
      if (others_ && !others_->look_near(now).empty() && !deadline) deadline = now + 1s;
      if (deadline && now > *deadline) break;
      std::this_thread::sleep_for(delay);
    }
    in_use_ = std::shared_ptr<ballot>(std::move(vote));
    return {};
  }
  /// Collective over all processes, before this one ends. Polls MPI for a while afterwards, because it makes progress
  /// on messages that are under way only while it is called. False if a process has ended without calling this.
  bool end_together() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!all_join(false)) return false;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    for (int any = 0; std::chrono::steady_clock::now() < until;)
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
    return true;
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Whether this process was forked from the one that MPI belongs to. It must not call MPI.
  bool is_inherited() const noexcept { return made_in_ != getpid(); }
  /// Whether all transports have left in order. Otherwise MPI_Finalize could wait for ever.
  bool in_order = true;

 private:
  static constexpr std::chrono::seconds finalize_limit{15}, meeting_limit{15};
  int exit_status_ = 0;
  const pid_t made_in_ = getpid();
  std::optional<peers> others_;
  std::shared_ptr<void> in_use_;  // MPI may write there as long as the process lives
  bool is_mine_ = false;
  bool ends_ = false;
  bool end_agreed_ = false;  // all_join() has said that a process ends: it is not called again
};

/// Never destroyed, because a place_runtime of static storage may end after main() has returned.
session& this_session(bool survives_losses = false) {
  static session* only = nullptr;  // one thread at a time makes transports
  if (only == nullptr) {
    only = new session(survives_losses);
    std::atexit([] { only->end(); });
  }
  return *only;
}

class mpi_transport final : public transport {
 public:
  mpi_transport(MPI_Comm job, std::vector<process_card> cards, const join_options& o)
      : end_(std::in_place, job, std::move(cards), o) {
    this_session().in_order = false;
  }
  ~mpi_transport() override {
    const bool in_order = end_->in_order();
    end_.reset();
    this_session().transport_ended(in_order);
  }
  mpi_transport(const mpi_transport&) = delete;
  mpi_transport& operator=(const mpi_transport&) = delete;

  const char* name() const noexcept override { return "mpi"; }
  int places() const noexcept override { return end_->places(); }
  std::optional<int> own_place() const noexcept override { return end_->here(); }
  endpoint& endpoint_of(int /*place*/) override { return *end_; }
  std::optional<refusal> agree(const std::string* why) override { return end_->agree(why); }

 private:
  std::optional<mpi_endpoint> end_;
};

std::vector<process_card> exchange_cards(MPI_Comm job, const join_options& o) {
  process_card mine = process_card::of_this_process();
  mine.program = o.program;
  mine.version = o.version;
  mine.survives_losses = o.survives_losses ? 1 : 0;
  int all = 0;
  MPI_Comm_size(job, &all);
  std::vector<process_card> cards(static_cast<std::size_t>(all));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, job);
  for (std::size_t p = 1; p < cards.size(); ++p) {
    if (cards[p].version == cards[0].version && cards[p].program == cards[0].program) {
      if (cards[p].survives_losses == cards[0].survives_losses) continue;
      throw std::runtime_error("place " + std::to_string(p) +
                               " has another place_options::on_loss than place 0; expected the same in all processes");
    }
    throw std::runtime_error("place " + std::to_string(p) + " (process " + std::to_string(cards[p].pid) + " on " +
                             cards[p].host + ") does not run the same program as place 0 (process " +
                             std::to_string(cards[0].pid) + " on " + cards[0].host +
                             "); start the same executable, built with the same Kith, everywhere");
  }
  return cards;
}

}  // namespace

}  // namespace kith::distributed::mpi

kith::distributed::transport* kith_make_transport(const kith::distributed::join_options& o) {
  using namespace kith::distributed;
  if (o.version != join_options::current) {
    throw std::runtime_error("the plug-in is of version " + std::to_string(join_options::current) +
                             ", this Kith needs " + std::to_string(o.version) + "; build and install both together");
  }
  mpi::session& s = mpi::this_session(o.survives_losses);
  if (s.is_inherited()) {
    throw std::runtime_error(
        "this process was forked from one that is a place of the job; with KITH_TRANSPORT=threads it can "
        "have places of its own");
  }
  if (!s.in_order) throw std::runtime_error("a place of this job was lost, so its processes cannot meet again");
  s.expect_all_join();
  MPI_Comm job = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &job);
  std::vector<mpi::process_card> cards;
  try {
    cards = mpi::exchange_cards(job, o);
  } catch (...) {
    MPI_Comm_free(&job);
    throw;
  }
  s.watch(cards);
  return new mpi::mpi_transport(job, std::move(cards), o);
}
