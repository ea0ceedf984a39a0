// The parts that the programs by hand share: their calls, their threads, and their reports. For `kith app NAME --as
// custom`, which runs them as processes of an MPI job and prints their results. They use MPI and threads, and nothing
// of Kith but its error class.
//
// usage: kith-NAME-by-hand-MPI PARAMETERS... SEED THREADS RESULT
//
// Only the process's first thread calls MPI. Process 0 writes the file RESULT: processes, threads, seconds and 1 if
// verified; on the next line what was checked; then the values of the program, `name value` each on a line.
#pragma once

#include <mpi.h>

#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kith::apps::by_hand {

struct job {
  int rank = 0, size = 1;
  int threads = 1;
  std::uint64_t seed = 0;

  /// The bounds of this process's share of `count` items.
  std::int64_t first(std::int64_t count) const noexcept { return count * rank / size; }
  std::int64_t end(std::int64_t count) const noexcept { return count * (rank + 1) / size; }
};

/// The report of process 0; empty in the others.
struct outcome {
  double seconds = 0;
  bool verified = false;
  std::string what;  // what was checked
  std::vector<std::pair<std::string, double>> values = {};
};

/// The threads of a process. All call the same function, and meet at barriers.
class team {
 public:
  explicit team(int threads) : threads_(threads), barrier_(threads) {}

  int threads() const noexcept { return threads_; }
  /// Calls f(thread) in every thread, 0 in the caller's. Returns when all have returned.
  template <class F>
  void run(const F& f) {
    std::vector<std::jthread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back([&f, t] { f(t); });
    f(0);
  }
  /// Waits for all threads. Only inside run().
  void meet() {
    if (threads_ > 1) barrier_.arrive_and_wait();
  }
  /// The begin of a thread's share of [from, to); for thread `threads()`, the end.
  std::int64_t begin(std::int64_t from, std::int64_t to, int thread) const noexcept {
    return from + (to - from) * thread / threads_;
  }

 private:
  int threads_;
  std::barrier<> barrier_;
};

/// Calls solve() between barriers of all processes. Returns the seconds between them.
template <class F>
double timed(const F& solve) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  solve();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - began;
}

/// Calls `body` with the job and the words of the parameters, of which there are `parameters`. Returns main's exit
/// code. If one process fails, all are ended.
template <class Body>
int main_of(int argc, char** argv, int parameters, const Body& body) {
  const auto number = [argv](int at) { return std::strtoll(argv[at], nullptr, 10); };
  if (argc != parameters + 4 || number(parameters + 2) < 1) {
    std::cerr << argv[0] << ": expected " << parameters << " parameters, SEED THREADS RESULT; run `kith app` with "
              << "--as custom, which starts this program\n";
    return 2;
  }
  job j;
  j.seed = std::strtoull(argv[parameters + 1], nullptr, 10);
  j.threads = static_cast<int>(number(parameters + 2));
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j.size);
  int code = 0;
  try {
    const outcome o = body(j, std::vector<std::string>(argv + 1, argv + 1 + parameters));
    if (j.rank == 0) {
      std::ofstream out(argv[parameters + 3]);
      out.precision(17);
      out << j.size << ' ' << j.threads << ' ' << o.seconds << ' ' << o.verified << '\n' << o.what << '\n';
      for (const auto& [name, value] : o.values) out << name << ' ' << value << '\n';
      code = out.flush() ? 0 : 1;
    }
  } catch (const std::exception& e) {
    std::cerr << argv[0] << ": process " << j.rank << ": " << e.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}

}  // namespace kith::apps::by_hand
