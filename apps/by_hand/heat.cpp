// places_heat by hand: MPI between processes, threads inside, no Kith. For `kith app places_heat --as custom`, which
// runs it and reports what it says.
//
// usage: kith-heat-by-hand-MPI ROWS COLUMNS ITERATIONS SEED THREADS RESULT    as a process of an MPI job
//
// In each step the thread that talks to MPI computes the border rows first and sends them while all threads compute the
// rest; a barrier of the process's threads ends the step. No step waits for other processes than its neighbours.
// Process 0 writes into the file RESULT: processes, threads, seconds, 1 if verified, and what was checked.
#include "apps/heat_plate.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace {

using kith::apps::plate;
using kith::apps::weight_here;
using kith::apps::weight_side;

struct job {
  int rank = 0, size = 1;
};

class share {
 public:
  share(const plate& p, const job& j, int threads)
      : plate_(p),
        wide_(static_cast<std::size_t>(p.wide())),
        rows_(p.first_row(j.rank + 1, j.size) - p.first_row(j.rank, j.size)),
        first_(p.first_row(j.rank, j.size)),
        threads_(threads),
        end_of_step_(threads) {
    const auto neighbour = [&](int step) {  // the nearest process that has rows
      for (int at = j.rank + step; at >= 0 && at < j.size; at += step) {
        if (p.first_row(at, j.size) != p.first_row(at + 1, j.size)) return at;
      }
      return MPI_PROC_NULL;
    };
    up_ = neighbour(-1);
    down_ = neighbour(1);
    for (std::vector<double>& s : steps_) {
      s.reserve(static_cast<std::size_t>(rows_ + 2) * wide_);
      for (std::int64_t i = -1; i <= rows_; ++i) {
        for (std::int64_t j2 = -1; j2 <= p.columns; ++j2) s.push_back(p.initial(first_ + i, j2));
      }
    }
  }

  void solve(std::int64_t iterations) {
    if (rows_ == 0) return;
    std::vector<std::jthread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back([this, t, iterations] { work(t, iterations); });
    work(0, iterations);
  }

  /// The rows of all processes, at process 0.
  std::vector<double> gather(std::int64_t t, const job& j) {
    std::vector<double> all;
    if (j.rank != 0) {
      for (std::int64_t i = 0; i < rows_; ++i) MPI_Send(row(t, i), width(), MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      return all;
    }
    all.insert(all.end(), row(t, 0), row(t, rows_));
    std::vector<double> one(wide_);
    for (int from = 1; from < j.size; ++from) {
      for (std::int64_t i = plate_.first_row(from, j.size); i < plate_.first_row(from + 1, j.size); ++i) {
        MPI_Recv(one.data(), width(), MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        all.insert(all.end(), one.begin(), one.end());
      }
    }
    return all;
  }

 private:
  /// Row -1 and row rows_ are the neighbours'.
  double* row(std::int64_t t, std::int64_t i) {
    return steps_[t % 2 == 0 ? 0 : 1].data() + static_cast<std::size_t>(i + 1) * wide_;
  }
  int width() const { return static_cast<int>(wide_); }

  /// Computes row `i` of the step after `t`.
  void update(std::int64_t t, std::int64_t i) {
    const double *const above = row(t, i - 1), *const at = row(t, i), *const below = row(t, i + 1);
    double* const next = row(t + 1, i);
    for (std::size_t c = 1; c + 1 < wide_; ++c)
      next[c] = weight_here * at[c] + weight_side * (above[c] + below[c] + at[c - 1] + at[c + 1]);
  }

  void work(int thread, std::int64_t iterations) {
    const std::int64_t inner = std::max<std::int64_t>(0, rows_ - 2);  // rows 1 to rows_ - 2, shared out to the threads
    const std::int64_t begin = 1 + inner * thread / threads_, end = 1 + inner * (thread + 1) / threads_;
    for (std::int64_t t = 0; t < iterations; ++t) {
      std::array<MPI_Request, 4> open{};
      if (thread == 0) {
        update(t, 0);
        if (rows_ > 1) update(t, rows_ - 1);
        exchange(t + 1, open);
      }
      for (std::int64_t i = begin; i < end; ++i) update(t, i);
      if (thread == 0) MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
      if (threads_ > 1) end_of_step_.arrive_and_wait();
    }
  }

  /// Starts to send the border rows of step `t`, and to receive the neighbours'.
  void exchange(std::int64_t t, std::array<MPI_Request, 4>& open) {
    MPI_Irecv(row(t, -1), width(), MPI_DOUBLE, up_, 0, MPI_COMM_WORLD, open.data());
    MPI_Irecv(row(t, rows_), width(), MPI_DOUBLE, down_, 0, MPI_COMM_WORLD, &open[1]);
    MPI_Isend(row(t, 0), width(), MPI_DOUBLE, up_, 0, MPI_COMM_WORLD, &open[2]);
    MPI_Isend(row(t, rows_ - 1), width(), MPI_DOUBLE, down_, 0, MPI_COMM_WORLD, &open[3]);
  }

  plate plate_;
  std::size_t wide_;
  std::int64_t rows_, first_;
  int threads_;
  std::barrier<> end_of_step_;
  int up_ = 0, down_ = 0;
  std::array<std::vector<double>, 2> steps_;
};

int run(const plate& p, std::int64_t iterations, int threads, const char* file) {
  job j;
  MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j.size);
  share mine(p, j, threads);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  mine.solve(iterations);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - began;
  const std::vector<double> result = mine.gather(iterations, j);
  if (j.rank != 0) return 0;
  const auto [same, what] = kith::apps::check_heat(p, iterations, result);
  std::ofstream out(file);
  out.precision(17);
  out << j.size << ' ' << threads << ' ' << seconds << ' ' << same << ' ' << what << '\n';
  return out.flush() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [argv](int at) { return std::strtoll(argv[at], nullptr, 10); };
  if (argc != 7 || number(5) < 1) return 2;
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
  const plate p{number(1), number(2), 0, static_cast<std::uint64_t>(number(4))};
  const int code = run(p, number(3), static_cast<int>(number(5)), argv[6]);
  MPI_Finalize();
  return code;
}
