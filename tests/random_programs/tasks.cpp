// Tasks that create tasks, and every way to wait for them.
#include "body.hpp"

#include <chrono>
#include <cstdint>

namespace kith::random_programs {

namespace {

/// Needs more alignment than memory has by default.
struct alignas(64) aligned_words {
  word x[8];
};

void spawn_aligned(const context& s, word seed, priority urgency) {
  const aligned_words words{{seed}};
  spawn(
      [s, seed, words, held = witness()] {
        if (reinterpret_cast<std::uintptr_t>(&words) % alignof(aligned_words) != 0 || words.x[0] != seed)
          s.complain("a closure lies at a wrong address, or was changed");
        run_body(s, seed);
      },
      urgency);
}

/// The tasks of a group: some at its top, each with leaves that it creates itself or through a child.
struct filling {
  context where;
  word seed;
  int leaves;
  bool recurses;
  group* tasks = nullptr;  // null: in the model
  std::atomic<int>* ran = nullptr;
  witness held{};

  void top(int i) const {
    count(seed + static_cast<word>(i));
    for (int j = 0; j < leaves; ++j) {
      if (tasks == nullptr)
        leaf(i, j);
      else if (j % 2 != 0)
        spawn([self = *this, i, j] { self.tasks->spawn([self, i, j] { self.leaf(i, j); }); });
      else
        tasks->spawn([self = *this, i, j] { self.leaf(i, j); }, priority::high);
    }
  }
  void leaf(int i, int j) const {
    count(seed + static_cast<word>(i * 7 + j));
    if (recurses && j == 0) run_body(where, seed + static_cast<word>(i));
  }
  void count(word x) const {
    where.contribute(mix(x));
    if (ran != nullptr) ++*ran;
  }
};

void fill(group& g, const filling& f, int tops, priority urgency) {
  for (int i = 0; i < tops; ++i) g.spawn([f, i] { f.top(i); }, urgency);
}

const promise* one_of(const std::vector<promise>& all, dice& choose) { return all.empty() ? nullptr : &choose.of(all); }

std::chrono::microseconds short_time(dice& choose) { return std::chrono::microseconds(choose.below(300)); }

}  // namespace

void subtree(body& b, draw& d) {
  const context s = b.child_with_elders();
  if (s.in_model())
    run_body(s, d.seed);
  else if (d.choose.one_in(5))
    spawn_aligned(s, d.seed, d.urgency);
  else
    spawn([s, seed = d.seed, held = witness()] { run_body(s, seed); }, d.urgency, d.preferred);
}

void subtree_with_value(body& b, draw& d) {
  const context s = b.child_with_elders();
  if (s.in_model())
    b.promised(run_body(s, d.seed));
  else
    b.promised(async([s, seed = d.seed, held = witness()] { return run_body(s, seed); }, d.urgency));
}

void value_of_one(body& b, draw& d) {
  if (const promise* p = one_of(b.promises, d.choose)) b.sum += value_of(*p, b.where);
}

void wait_for_one(body& b, draw& d) {
  const promise* const p = one_of(b.promises, d.choose);
  if (p == nullptr || b.where.in_model()) return;
  if (b.where.program->size.repeatable || d.choose.one_in(2))  // how long a wait takes is not repeatable
    p->real.wait();
  else
    static_cast<void>(p->real.wait_for(short_time(d.choose)));
}

/// Waits for a task that its creator made earlier.
void wait_for_elder(body& b, draw& d) {
  const context& s = b.where;
  if (s.in_model() || !s.elders || s.elders->empty() || !s.may_wait_for_elders) return;
  const promise& p = d.choose.of(*s.elders);
  switch (d.choose.below(s.program->size.repeatable ? 2 : 3)) {
    case 0: static_cast<void>(value_of(p, s)); break;
    case 1: p.real.wait(); break;
    default: static_cast<void>(p.real.wait_for(short_time(d.choose))); break;
  }
}

void wait_for_children(body& b, draw& /*d*/) { b.wait_for_all(); }

void filled_group(body& b, draw& d) {
  const int tops = 1 + d.choose.below(5);
  filling f{b.child(), d.seed, d.choose.below(4), d.choose.one_in(3)};
  if (f.where.in_model()) {
    for (int i = 0; i < tops; ++i) f.top(i);
    return;
  }
  std::atomic<int> ran{0};
  f.ran = &ran;
  {
    group g;
    f.tasks = &g;
    fill(g, f, tops, d.urgency);
    if (d.choose.one_in(2)) g.wait();  // otherwise the end of the block waits
  }
  if (!f.where.failing && ran != tops * (1 + f.leaves))
    f.where.complain("a group ran ", ran, " of ", tops * (1 + f.leaves), " tasks");
}

/// A task after the end of another task, which includes that task's descendants.
void task_after_task(body& b, draw& d) {
  const context s = b.child();
  const word seed = d.seed;
  if (s.in_model()) {
    run_body(s, seed);
    s.contribute(seed);
    return;
  }
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const task_ref before = spawn(
      [s, seed, ended, held = witness()] {
        run_body(s, seed);
        spawn([ended] { spawn([ended] { *ended = true; }); });
      },
      d.urgency);
  spawn(
      [s, seed, ended, held = witness()] {
        if (!s.failing && !*ended) s.complain("a task started before the end of the one that it comes after");
        s.contribute(seed);
      },
      after{before});
}

void continuation(body& b, draw& d) {
  if (b.promises.size() < 2) return;
  const promise p = d.choose.of(b.promises), q = d.choose.of(b.promises);
  const bool of_both = d.choose.one_in(2), recurses = d.choose.one_in(3);
  const auto value = [s = b.child(), seed = d.seed, recurses, held = witness()](word x) {
    return x + 1 + (recurses ? run_body(s, seed) : 0);
  };
  if (b.where.in_model())
    b.promised(value(of_both ? p.expected + q.expected : p.expected));
  else if (of_both)
    b.promised(when_all(p.real, q.real).then([value](word x, word y) { return value(x + y); }));
  else
    b.promised(p.real.then([value](word x) { return value(x); }, d.urgency));
}

/// A task of this runtime that has no parent.
void submitted(body& b, draw& d) {
  if (b.where.program->size.repeatable) return;  // tasks that several tasks submit have no fixed order
  const context s = b.child(false);
  const bool asked = d.choose.one_in(2);
  if (s.in_model()) {
    const word value = run_body(s, d.seed);
    if (asked) b.sum += value;
    return;
  }
  const future<word> f = s.rt->submit([s, seed = d.seed, held = witness()] { return run_body(s, seed); }, d.urgency);
  if (asked)
    b.sum += f.get();
  else if (s.failing)
    f.wait();  // its exception must not leave the domain
}

void nested_runtime(body& b, draw& d) {
  if (b.where.depth == 0 || !d.choose.one_in(4)) return;
  context s = b.child(false);
  if (s.in_model()) {
    b.sum += run_body(s, d.seed);
    return;
  }
  constexpr const char* policies[] = {"steal", "dep", "numa", "auto"};
  runtime_options o;
  o.workers = 1 + d.choose.below(2);
  o.oversubscribe = true;
  o.policy = d.choose.of(policies);
  o.throttle = d.choose.one_in(2) ? 3 : 100;
  runtime inner(o);
  s.rt = &inner;
  if (d.choose.one_in(2))
    b.sum += inner.submit([s, seed = d.seed, held = witness()] { return run_body(s, seed); }).get();
  else
    b.sum += inner.run([&] { return run_body(s, d.seed); });
}

}  // namespace kith::random_programs
