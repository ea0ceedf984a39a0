// Messages between two processes with MPI alone, for `kith-bench places`.
//
// usage: kith-bench-places-MPI CASE COUNT     as two processes of an MPI job; process 0 prints the value and the MPI
//
// rate-8, rate-1k and bandwidth-1m: one thread in each process; the sender starts a window of MPI_Isend, the receiver
// has posted as many MPI_Irecv, adds up the messages, and answers each window. Each message is an MPI message; nothing
// is aggregated. spawn: a ping-pong between worker threads, which never call MPI. They hand over to their process's
// communicating thread and sleep until it hands back, as the threads of a place do.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using number = std::uint64_t;

void fail(const char* what) {
  std::fprintf(stderr, "kith-bench: MPI peer: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// ---- one way

/// Seconds for `count` messages, at process 0.
double messages(int rank, number count, std::size_t bytes, std::size_t window) {
  std::vector<std::vector<number>> data(window, std::vector<number>(bytes / sizeof(number)));
  std::vector<MPI_Request> open(window);
  const auto size = static_cast<int>(bytes);
  number sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (number first = 0; first < count; first += window) {
    const std::size_t n = std::min<number>(window, count - first);
    for (std::size_t m = 0; m < n; ++m) {
      if (rank == 0) {
        data[m][0] = first + m;
        MPI_Isend(data[m].data(), size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &open[m]);
      } else {
        MPI_Irecv(data[m].data(), size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &open[m]);
      }
    }
    MPI_Waitall(static_cast<int>(n), open.data(), MPI_STATUSES_IGNORE);
    if (rank == 0) {
      MPI_Recv(&sum, 1, MPI_UINT64_T, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (std::size_t m = 0; m < n; ++m) sum += data[m][0];
      MPI_Send(&sum, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
    }
  }
  const double seconds = MPI_Wtime() - began;
  if (sum != count * (count - 1) / 2) fail("the messages do not add up");
  return seconds;
}

// ---- there and back, between workers

/// A number that one thread hands over to another.
class slot {
 public:
  void put(number n) {
    value_ = n;
    full_.store(1, std::memory_order_release);
    full_.notify_one();
  }
  /// Sleeps until there is a number.
  number wait() {
    full_.wait(0, std::memory_order_acquire);
    full_.store(0, std::memory_order_relaxed);
    return value_;
  }
  bool has_one() const { return full_.load(std::memory_order_acquire) != 0; }

 private:
  number value_ = 0;
  std::atomic<int> full_{0};
};

/// Passes on `count` numbers in each direction. Yields the core while there is none, because each process has more
/// threads than cores.
void communicate(int other, number count, slot& from_worker, slot& to_worker) {
  number came = 0, goes = 0, sent = 0, received = 0;
  MPI_Request in = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL;
  if (count != 0) MPI_Irecv(&came, 1, MPI_UINT64_T, other, 0, MPI_COMM_WORLD, &in);
  while (sent < count || received < count) {
    int done = 0;
    bool did = false;
    if (received < count) {
      MPI_Test(&in, &done, MPI_STATUS_IGNORE);
      if (done != 0) {
        did = true;
        const number n = came;
        if (++received < count) MPI_Irecv(&came, 1, MPI_UINT64_T, other, 0, MPI_COMM_WORLD, &in);
        to_worker.put(n);
      }
    }
    if (from_worker.has_one()) {
      did = true;
      MPI_Wait(&out, MPI_STATUS_IGNORE);
      goes = from_worker.wait();
      ++sent;
      MPI_Isend(&goes, 1, MPI_UINT64_T, other, 0, MPI_COMM_WORLD, &out);
    }
    if (!did) sched_yield();
  }
  MPI_Wait(&out, MPI_STATUS_IGNORE);
}

double round_trips(int rank, number count) {
  slot from_worker, to_worker;
  double seconds = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  std::thread worker([&] {
    const auto began = std::chrono::steady_clock::now();
    for (number m = 0; m < count; ++m) {
      if (rank == 0) {
        from_worker.put(m);
        if (to_worker.wait() != m + 1) fail("another number came back");
      } else {
        from_worker.put(to_worker.wait() + 1);
      }
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  });
  communicate(1 - rank, count, from_worker, to_worker);
  worker.join();
  return seconds;
}

double value_of(int rank, const std::string& what, number count) {
  const auto n = static_cast<double>(count);
  if (what == "spawn") return round_trips(rank, count) / n * 1e6;
  if (what == "bandwidth-1m") return n * (1 << 20) / messages(rank, count, 1 << 20, 8) / 1e9;
  return n / messages(rank, count, what == "rate-8" ? 8 : 1 << 10, 64);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string what = argv[1];
  const number count = std::strtoull(argv[2], nullptr, 10);
  int level = 0, rank = 0, size = 0;
  MPI_Init_thread(nullptr, nullptr, what == "spawn" ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) fail("two processes are needed");
  value_of(rank, what, count / 10 + 2);  // fresh memory, first messages
  const double value = value_of(rank, what, count);
  if (rank == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(version, &length);
    std::printf("%.6g\n%s\n", value, version);
  }
  MPI_Finalize();
  return 0;
}
