// heat: diffusion on a plate with a fixed border, Jacobi steps with a 5-point stencil.
//
// NabbitC paper, table I (655360 rows of 16384 cells in blocks of 32 rows, 5 steps). Verified as described
// in five_point.hpp.
#include "five_point.hpp"
#include "list.hpp"

namespace kith::apps {

namespace {

constexpr parameter heat_parameters[] = {
    {"size", "2048", "384", "columns of the plate", "16384"},
    rows_parameter,
    {"iterations", "200", "30", "steps", "5"},
    {"block", "64", "24", "rows of a task", "32"},
    as_parameter,
    colors_parameter,
};

class heat final : public five_point {
 public:
  explicit heat(const arguments& a) : five_point(a, {0.5, 0.125}) {}

 private:
  const task_type& initial_type() const override {
    static const task_type type{"heat_initial"};
    return type;
  }
  std::unique_ptr<node_program> sweep() const override {
    static const task_type type{"heat"};
    return sweep_as(type, 5.4);  // from the serial time in the paper's table I, less the time for the bytes
  }
};

}  // namespace

const entry heat_entry = {"heat", "NabbitC", "diffusion on a plate: 5-point stencil on blocks of rows", heat_parameters,
                          make<heat>};

}  // namespace kith::apps
