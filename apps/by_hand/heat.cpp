// places_heat by hand. Parameters: ROWS COLUMNS ITERATIONS.
//
// In each step the thread that calls MPI computes the border rows first and sends them while all threads compute the
// rest; a barrier of the process's threads ends the step. A step waits for no other processes than its neighbours.
#include "apps/heat_plate.hpp"
#include "job.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace {

using namespace kith::apps;
using by_hand::job;

class share {
 public:
  share(const plate& p, const job& j)
      : plate_(p),
        wide_(static_cast<std::size_t>(p.wide())),
        rows_(p.first_row(j.rank + 1, j.size) - p.first_row(j.rank, j.size)),
        first_(p.first_row(j.rank, j.size)),
        team_(j.threads) {
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
    if (rows_ != 0) team_.run([this, iterations](int thread) { work(thread, iterations); });
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
    const std::int64_t last = std::max<std::int64_t>(1, rows_ - 1);  // rows 1 to last - 1 are divided among the threads
    const std::int64_t begin = team_.begin(1, last, thread), end = team_.begin(1, last, thread + 1);
    for (std::int64_t t = 0; t < iterations; ++t) {
      std::array<MPI_Request, 4> open{};
      if (thread == 0) {
        update(t, 0);
        if (rows_ > 1) update(t, rows_ - 1);
        exchange(t + 1, open);
      }
      for (std::int64_t i = begin; i < end; ++i) update(t, i);
      if (thread == 0) MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
      team_.meet();
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
  by_hand::team team_;
  int up_ = 0, down_ = 0;
  std::array<std::vector<double>, 2> steps_;
};

by_hand::outcome run(const job& j, const std::vector<std::string>& words) {
  const plate p{std::stoll(words[0]), std::stoll(words[1]), 0, j.seed};
  const std::int64_t iterations = std::stoll(words[2]);
  share mine(p, j);
  by_hand::outcome o;
  o.seconds = by_hand::timed([&] { mine.solve(iterations); });
  const std::vector<double> result = mine.gather(iterations, j);
  if (j.rank == 0) std::tie(o.verified, o.what) = check_heat(p, iterations, result);
  return o;
}

}  // namespace

int main(int argc, char** argv) { return kith::apps::by_hand::main_of(argc, argv, 3, run); }
