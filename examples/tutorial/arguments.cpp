// Tasks that start when their arguments have come: a sum of squares by blocks, in a tree that builds itself.
#include <kith/pending_tasks.hpp>
#include <kith/runtime.hpp>

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

// Delivers the sum of squares of `v` as argument `number` of `to`.
void sum_squares(kith::pending_tasks& tasks, std::span<const double> v, kith::pending_task to, std::size_t number) {
  if (v.size() <= 1000) {
    const auto leaf = tasks.schedule([to, number](std::span<const double> block) {  // one parameter, one argument
      to.deliver(number, std::inner_product(block.begin(), block.end(), block.begin(), 0.0));
    });
    leaf.deliver(0, kith::in(v.data(), v.size()));  // a reference to data: policies see it
    return;
  }
  const auto add = tasks.schedule([to, number](double left, double right) { to.deliver(number, left + right); });
  sum_squares(tasks, v.first(v.size() / 2), add, 0);
  sum_squares(tasks, v.subspan(v.size() / 2), add, 1);
}

int main() {
  kith::runtime rt;
  std::vector<double> numbers(100000, 0.5);
  rt.run([&] {
    kith::pending_tasks tasks;
    double sum = 0;
    const auto last = tasks.schedule([&sum](double all) { sum = all; });
    sum_squares(tasks, numbers, last, 0);
    tasks.wait();  // for all of them; an error if an argument is missing
    std::printf("%g\n", sum);
  });
}
