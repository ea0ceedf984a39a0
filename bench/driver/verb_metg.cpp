// kith-bench metg: the minimum effective task granularity of each pattern.
#include "verbs.hpp"

#include "patterns.hpp"
#include "rows.hpp"
#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace kith::bench {

namespace {

constexpr double coarsest_kernel_ns =
    1e6;  // a system that is not efficient with tasks of a millisecond is not measured

/// One system on one pattern, with the results of its rounds.
struct metg_contender {
  child* process;
  pattern kind;
  int width;
  bool prebuilt;
  double overhead_ns = 2000;  // of a task, in addition to its kernel; updated with each run, to size the samples
  double start_ns = 8000;     // the kernel to begin the search with
  std::vector<sample> at50, at75;
  int repeated = 0;                // rounds that did not find a curve
  int bounds50 = 0, bounds75 = 0;  // how many of them are upper bounds
};

request asking(verb what, const metg_contender& c, std::int64_t steps) {
  request q;
  q.what = what;
  q.subject = name_of(c.kind);
  q.width = c.width;
  q.size = steps;
  q.prebuilt = c.prebuilt;
  return q;
}

class search {
 public:
  search(metg_contender& c, int workers, double iteration_ns, double sample_ns)
      : c_(c), workers_(workers), iteration_ns_(iteration_ns), sample_ns_(sample_ns) {}

  /// Goes down from coarse tasks until less than half of the time is work. False if the child failed.
  bool run() {
    double kernel = c_.start_ns;
    std::optional<double> e = measure(kernel);
    for (double up = kernel; e && *e < 0.8 && up < coarsest_kernel_ns;) {
      up *= 2;
      e = measure(up);
    }
    e = points_.empty() ? std::nullopt : std::optional(points_.front().efficiency);
    for (int below = 0;
         e && below < 2 && kernel > 2 * iteration_ns_;) {  // twice, because once may be other work on the machine
      kernel /= 1.7;
      e = measure(kernel);
      if (e) below = *e < 0.5 ? below + 1 : 0;
    }
    return e.has_value();
  }

  const std::vector<efficiency_point>& points() const { return points_; }
  const efficiency_point& finest() const {
    return *std::min_element(points_.begin(), points_.end(), [](const efficiency_point& a, const efficiency_point& b) {
      return a.work_ns() < b.work_ns();
    });
  }

 private:
  std::optional<double> measure(double kernel_ns) {
    request q = asking(verb::metg, c_, 0);
    q.iterations = std::max<std::int64_t>(1, std::llround(kernel_ns / iteration_ns_));
    const double step_ns = (kernel_ns + c_.overhead_ns) * c_.width / workers_;
    q.size = std::clamp<std::int64_t>(std::llround(sample_ns_ / step_ns), 12, 100'000);
    double best = 0;
    for (int attempt = 0; attempt < 2;
         ++attempt) {  // takes the better of two, so that a preemption does not decide where the curve goes
      const reply r = c_.process->ask(q);
      if (!r.ok) {
        std::fprintf(stderr, "kith-bench: %s in %s: %s\n", c_.process->system().c_str(), q.subject.c_str(),
                     r.text.c_str());
        return std::nullopt;
      }
      const double each = r.nanoseconds * workers_ / static_cast<double>(r.tasks);
      best = attempt == 0 ? each : std::min(best, each);
    }
    const double granularity = best;
    const double work = static_cast<double>(q.iterations) * iteration_ns_;
    c_.overhead_ns = std::max(50.0, granularity - work);
    points_.push_back({granularity, work / granularity});
    return points_.back().efficiency;
  }

  metg_contender& c_;
  int workers_;
  double iteration_ns_, sample_ns_;
  std::vector<efficiency_point> points_;
};

/// One round. False if no curve was found, because of other work on the machine or because there is none.
bool measure(metg_contender& c, const std::vector<int>& cores, int workers, double sample_ns) {
  sample s{0, measure_machine(cores), {}};
  search found(c, workers, s.before.iteration_ns, sample_ns);
  {
    child::turn now(*c.process);
    if (!found.run()) return false;
  }
  s.after = measure_machine(cores);
  const double drift = s.after.iteration_ns / s.before.iteration_ns;
  if (drift > 1.1 || drift < 0.9) return false;  // the peak changed during the round, so efficiencies mean nothing

  const efficiency_point finest = found.finest();
  auto level = [&](double efficiency) {
    const std::optional<double> g = granularity_at(efficiency, found.points());
    // Even tasks of a few instructions may reach that efficiency.
    return g || finest.efficiency < efficiency ? g : finest.granularity_ns;
  };
  const std::optional<double> at50 = level(0.5), at75 = level(0.75);
  if (!at50 || !at75) return false;
  s.value = *at50 / 1000;
  c.at50.push_back(s);
  s.value = *at75 / 1000;
  c.at75.push_back(s);
  c.bounds50 += finest.efficiency >= 0.5;
  c.bounds75 += finest.efficiency >= 0.75;
  c.start_ns = std::clamp(*at75 * 1.3, 200.0, coarsest_kernel_ns / 2);
  return true;
}

void add_row(std::vector<nlohmann::ordered_json>& rows, const metg_contender& c, const options& o, int workers,
             const char* metric, const std::vector<sample>& samples, int bounds) {
  if (samples.empty()) {
    std::fprintf(stderr, "kith-bench: %s in %s, width %d: %s not found in any round (other work on the machine?)\n",
                 c.process->system().c_str(), std::string(name_of(c.kind)).c_str(), c.width, metric);
    return;
  }
  nlohmann::ordered_json row{{"system", c.process->system()},
                             {"version", c.process->version()},
                             {"pattern", name_of(c.kind)},
                             {"width", c.width},
                             {"metric", metric},
                             {"prebuilt", c.prebuilt},
                             {"workers", workers}};
  add_summary(row, samples, o);
  row["upper_bounds"] = bounds;
  row["repeated"] = c.repeated;
  row["unit"] = "us";
  rows.push_back(std::move(row));
}

}  // namespace

void run_metg(const options& o) {
  const std::vector<int> cores = allowed_cores();
  const int workers = workers_of(o, cores.size());
  const auto children = start_systems(o, workers);
  const double sample_ns = o.quick ? 3e6 : 8e6;

  std::vector<metg_contender> contenders;
  for (int width : {workers, 4 * workers}) {
    for (pattern kind : all_patterns) {
      for (const auto& process : children) {
        for (bool prebuilt : {false, true}) {
          metg_contender c{process.get(), kind, width, prebuilt, 2000, 8000, {}, {}, 0, 0, 0};
          show_progress("checking " + process->system() + " on " + std::string(name_of(kind)));
          child::turn now(*process);
          const reply checked = process->ask(asking(verb::check, c, 200));
          if (checked.ok) {
            contenders.push_back(std::move(c));
          } else if (checked.text != "not offered by this system") {
            std::fprintf(stderr, "kith-bench: %s is left out of %s: %s\n", process->system().c_str(),
                         std::string(name_of(kind)).c_str(), checked.text.c_str());
          }
        }
      }
    }
  }
  for (int round = 0; round < o.rounds; ++round) {
    for (metg_contender& c : contenders) {
      show_progress("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds) + ": " +
                    c.process->system() + " " + std::string(name_of(c.kind)) + ", width " + std::to_string(c.width));
      for (int attempt = 0; attempt < 3 && c.process->alive() && !measure(c, cores, workers, sample_ns); ++attempt)
        ++c.repeated;
    }
  }
  end_progress();

  std::vector<nlohmann::ordered_json> rows;
  for (const metg_contender& c : contenders) {
    add_row(rows, c, o, workers, "metg50", c.at50, c.bounds50);
    add_row(rows, c, o, workers, "metg75", c.at75, c.bounds75);
  }
  print(rows, o);
  if (rows.empty()) throw std::runtime_error("no system could be measured: see above");
}

}  // namespace kith::bench
