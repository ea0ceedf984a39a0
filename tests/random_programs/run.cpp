#include "run.hpp"

#include <thread>

namespace kith::random_programs {

namespace {

/// Checks what a call at the top throws: nothing, or what belongs to its domain.
template <class Call>
void checked(const context& where, const char* name, const Call& call) {
  try {
    call();
  } catch (const fault& f) {
    where.program->keep_exception();
    if (!where.failing || f.domain != where.domain) where.complain(name, " threw a fault of domain ", f.domain);
  } catch (const error& e) {
    where.program->keep_exception();
    if (!where.failing || !is_expected_in_a_domain(e)) where.complain(name, " threw: ", e.what());
  }
}

/// A thread that is no worker: runs one body by run(), and the others by submit().
void be_outside(const context& where, const setup& s, int thread) {
  std::vector<future<word>> submitted;
  for (int k = 0; k < setup::of_each_outsider; ++k) {
    const word seed = s.outside_seed(thread, k);
    if (k == 1)
      checked(where, "run() of an outside thread", [&] { where.rt->run([&] { run_body(where, seed); }); });
    else
      submitted.push_back(where.rt->submit([where, seed, held = witness()] { return run_body(where, seed); }));
  }
  for (const future<word>& f : submitted) checked(where, "a submitted body", [&] { f.get(); });
}

void wait_for_submitted(const context& where) {
  checked(where, "wait()", [&] {
    try {
      where.rt->wait();
    } catch (const fault&) {  // from a task that was submitted in some domain, and whose future was not kept
    }
  });
}

std::string run_all(const setup& s, const runtime_options& o, context where) {
  runtime rt(o);
  where.rt = &rt;
  std::vector<std::jthread> outsiders;
  outsiders.reserve(static_cast<std::size_t>(s.outsiders));
  for (int t = 0; t < s.outsiders; ++t) outsiders.emplace_back([&, t] { be_outside(where, s, t); });
  for (int r = 0; r < s.roots; ++r) checked(where, "run()", [&] { rt.run([&] { run_body(where, s.root_seed(r)); }); });
  outsiders.clear();
  wait_for_submitted(where);
  return rt.recorded_in();
}

void look_for_leaks(findings& found) {
  if (witness::alive() == 0) return;
  found.add(witness::alive(), " captures of closures are left");
  witness::forget();
}

}  // namespace

model::model(const setup& s) {
  world_.size = s.size;
  world_.found = &found_;
  context where;
  where.program = &world_;
  for (int r = 0; r < s.roots; ++r) run_body(where, s.root_seed(r));
  for (int t = 0; t < s.outsiders; ++t) {
    for (int k = 0; k < setup::of_each_outsider; ++k) run_body(where, s.outside_seed(t, k));
  }
  if (!found_.empty()) throw error("the model is no model of itself: " + found_.text());
}

std::string run_and_compare(const setup& s, const runtime_options& o, const model& expected, findings& found) {
  world w;
  w.size = s.size;
  w.found = &found;
  w.model = &expected.of();
  context where;
  where.program = &w;
  const std::string recorded = run_all(s, o, where);
  if (w.total != w.model->total) found.add("the sum of all bodies is ", w.total, ", not ", w.model->total);
  look_for_leaks(found);
  return recorded;
}

void run_failing(const setup& s, findings& found) {
  world w;
  w.size = s.size;
  w.found = &found;
  context where;
  where.program = &w;
  where.failing = true;
  where.domain = mix(s.seed);
  run_all(s, s.options, where);
  look_for_leaks(found);
}

}  // namespace kith::random_programs
