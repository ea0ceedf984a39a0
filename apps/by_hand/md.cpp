// places_md by hand. Parameters: MOLECULES ITERATIONS.
//
// In each step the process's threads divide its molecules equally, and compute forces and the motion of each; then one
// thread sends those that have left the region to the processes of their new regions. With many processes regions are
// thin, and a fast molecule may fly past some of them, so all processes exchange with all.
#include "apps/md_serial.hpp"
#include "job.hpp"

#include <tuple>

namespace {

using namespace kith::apps;
using by_hand::job;

class region {
 public:
  region(const box& b, const job& j) : box_(b), job_(j), team_(j.threads) {
    for (std::int64_t n = 0; n < b.molecules; ++n) {
      if (const molecule m = b.initial(n); box::region_of(m.position, j.size) == j.rank) mine_.push_back(m);
    }
  }

  void solve() {
    team_.run([this](int thread) {
      for (std::int64_t t = 0; t <= box_.iterations; ++t) {
        if (thread == 0) moved_.resize(mine_.size());
        team_.meet();
        const auto count = static_cast<std::int64_t>(mine_.size());
        for (std::int64_t i = team_.begin(0, count, thread); i < team_.begin(0, count, thread + 1); ++i) {
          const molecule& m = mine_[static_cast<std::size_t>(i)];
          moved_[static_cast<std::size_t>(i)] = box_.advanced(m, force_on(m, mine_), t);
        }
        team_.meet();
        if (thread == 0) migrate();
      }
    });
  }

  /// The molecules of all processes, at process 0, and the number of migrations.
  std::pair<std::vector<molecule>, std::int64_t> gather() const {
    const int bytes = bytes_of(mine_.size());
    std::vector<int> counts(static_cast<std::size_t>(job_.size));
    MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    const std::vector<int> begins = begins_of(counts);
    std::vector<molecule> all(static_cast<std::size_t>(begins.back()) / sizeof(molecule));
    MPI_Gatherv(mine_.data(), bytes, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
    std::int64_t migrations = 0;
    MPI_Reduce(&migrations_, &migrations, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return {std::move(all), migrations};
  }

 private:
  static int bytes_of(std::size_t molecules) { return static_cast<int>(molecules * sizeof(molecule)); }
  /// Before each count the sum of those before it, and at the end the sum of all.
  static std::vector<int> begins_of(const std::vector<int>& counts) {
    std::vector<int> begins{0};
    for (const int c : counts) begins.push_back(begins.back() + c);
    return begins;
  }

  void migrate() {
    std::vector<std::vector<molecule>> leaving(static_cast<std::size_t>(job_.size));
    mine_.clear();
    for (const molecule& m : moved_) {
      const int to = box::region_of(m.position, job_.size);
      (to == job_.rank ? mine_ : leaving[static_cast<std::size_t>(to)]).push_back(m);
    }
    std::vector<molecule> out;
    std::vector<int> sent, received(static_cast<std::size_t>(job_.size));
    for (const std::vector<molecule>& to : leaving) {
      sent.push_back(bytes_of(to.size()));
      out.insert(out.end(), to.begin(), to.end());
    }
    migrations_ += static_cast<std::int64_t>(out.size());
    MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const std::vector<int> from = begins_of(received);
    const std::size_t stayed = mine_.size();
    mine_.resize(stayed + static_cast<std::size_t>(from.back()) / sizeof(molecule));
    MPI_Alltoallv(out.data(), sent.data(), begins_of(sent).data(), MPI_BYTE, mine_.data() + stayed, received.data(),
                  from.data(), MPI_BYTE, MPI_COMM_WORLD);
  }

  box box_;
  job job_;
  by_hand::team team_;
  std::vector<molecule> mine_, moved_;
  std::int64_t migrations_ = 0;
};

by_hand::outcome run(const job& j, const std::vector<std::string>& words) {
  const box b{std::stoll(words[0]), std::stoll(words[1]), 0, j.seed};
  region mine(b, j);
  by_hand::outcome o;
  o.seconds = by_hand::timed([&] { mine.solve(); });
  auto [result, migrations] = mine.gather();
  if (j.rank != 0) return o;
  std::tie(o.verified, o.what) = check_md(b, j.size, std::move(result), migrations);
  o.values = {{"migrations", static_cast<double>(migrations)}};
  return o;
}

}  // namespace

int main(int argc, char** argv) { return kith::apps::by_hand::main_of(argc, argv, 2, run); }
