// jacobi: stationary heat by Jacobi's method. Each cell becomes the mean of itself and its four neighbours.
//
// RIP paper, section 5.2 (5-element stencil, blocks of rows, two buffers; MIR paper: Jacobi). A task names the
// whole blocks beside its own and touches one row of each. The expert placement deals blocks round robin. Windows:
// two iterations, of which one stays. The RIP paper does not print sizes; two blocks for each of 32 cores are
// assumed. Verified as described in five_point.hpp. `heat` is the same stencil with NabbitC's weights and sizes.
#include "five_point.hpp"
#include "list.hpp"
#include "rates.hpp"

namespace kith::apps {

namespace {

constexpr parameter jacobi_parameters[] = {
    {"size", "2048", "384", "columns of the plate", "16384"},
    {"rows", "", "", "rows (as many as columns)"},
    {"iterations", "50", "30", "steps", "30"},
    {"block", "64", "24", "rows of a task", "256"},
    as_parameter,
    colors_parameter,
};

class jacobi final : public five_point {
 public:
  explicit jacobi(const arguments& a) : five_point(a, {0.2, 0.2}, node_choice::round_robin) {}

 private:
  const task_type& initial_type() const override {
    static const task_type type{"jacobi_initial"};
    return type;
  }
  std::unique_ptr<node_program> sweep() const override {
    static const task_type type{"jacobi"};
    return sweep_as(type, work_of(6, rate::streamed).nanoseconds);
  }
};

window_hint jacobi_windows(const arguments& a) {
  const std::int64_t columns = a.number("size", 1, 1 << 20);
  const std::int64_t rows = a.text("rows").empty() ? columns : a.number("rows", 1, 1 << 20);
  const std::int64_t tasks = blocks{rows, a.number("block", 1, 1 << 20)}.count();
  return {.first = tasks, .window = 2 * tasks, .intersection = tasks};
}

}  // namespace

const entry jacobi_entry = {"jacobi",          "RIP",        "stationary heat by Jacobi's method, on blocks of rows",
                            jacobi_parameters, make<jacobi>, false,
                            jacobi_windows};

}  // namespace kith::apps
