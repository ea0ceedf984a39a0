#include "app.hpp"

#include <chrono>

namespace kith::apps {

result run(app& program, const target& where, bool as_one_graph) {
  if (!as_one_graph) program.prepare(where);
  where.on.reset_statistics();
  where.on.mark(as_one_graph ? "prepare and solve" : "solve");
  const auto start = std::chrono::steady_clock::now();
  if (as_one_graph) {
    std::vector<std::shared_ptr<const void>> kept;
    target inside = where;
    inside.one_graph = &kept;
    where.on.run([&] {
      program.prepare(inside);
      program.solve(inside);
    });
  } else {
    program.solve(where);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

  result r;
  r.seconds = took.count();
  r.statistics = where.on.statistics();
  if (where.on.dry()) {
    r.check = nothing_to_verify();
    return r;
  }
  r.check = program.verify();
  r.figures = program.figures();
  return r;
}

}  // namespace kith::apps
