#include "body.hpp"

#include <string>
#include <utility>

namespace kith::random_programs {

namespace {

struct weighted {
  int weight;
  action act;
};
constexpr weighted actions[] = {
    {8, task_with_accesses},
    {1, commutative_tasks},
    {2, subtree},
    {2, subtree_with_value},
    {1, value_of_one},
    {1, wait_for_one},
    {1, wait_for_elder},
    {1, wait_for_children},
    {1, filled_group},
    {1, task_after_task},
    {1, continuation},
    {1, submitted},
    {1, nested_runtime},
    {1, loop},
    {1, reduction},
    {1, keyed_grid},
    {1, static_nodes},
    {1, domain_of_exceptions},
};
constexpr int all_weights = [] {
  int sum = 0;
  for (const weighted& w : actions) sum += w.weight;
  return sum;
}();

action drawn(dice& choose) {
  int left = choose.below(all_weights);
  for (const weighted& w : actions) {
    if ((left -= w.weight) < 0) return w.act;
  }
  return actions[0].act;
}

priority urgency_of(dice& choose) {
  switch (choose.below(6)) {
    case 0: return priority::high;
    case 1: return priority::low;
    default: return priority::normal;
  }
}

void throw_or_cancel(const context& where, dice& choose) {
  if (choose.one_in(9)) throw fault{where.domain};
  if (where.depth > where.domain_depth && choose.one_in(14)) cancel();
}

}  // namespace

body::body(const context& given, word s) : where(given), seed(s), sum(mix(s)), cells(std::make_shared<data>()) {}

context body::child(bool waits) const {
  context s = where;
  ++s.depth;
  s.may_wait_for_elders = where.may_wait_for_elders && waits;
  s.elders = nullptr;
  return s;
}

context body::child_with_elders() const {
  context s = child();
  if (s.may_wait_for_elders && !where.in_model()) s.elders = std::make_shared<const std::vector<promise>>(promises);
  return s;
}

void body::promised(word value) { promises.push_back({{}, value, true}); }

void body::promised(future<word> f) {
  promise p{std::move(f)};
  if (!where.failing) {
    const auto& model = where.program->model->values;
    const auto found = model.find(seed);
    p.known = found != model.end() && promises.size() < found->second.size();
    if (p.known)
      p.expected = found->second[promises.size()];
    else
      where.complain("body ", seed, " makes a future that the model does not make");
  }
  promises.push_back(std::move(p));
}

void body::wait_for_all() const {
  if (where.in_model()) return;
  wait();
  if (where.failing) return;
  for (std::size_t i = 0; i < cells->words.size(); ++i) {
    if (cells->words[i] != expected.words[i]) where.complain("after a wait word ", i, " differs");
  }
}

draw::draw(word s)
    : seed(s),
      choose(mix(s)),  // a different sequence than that of a body with this seed
      urgency(urgency_of(choose)),
      preferred{choose.below(4) - 1},
      place{choose.below(4)} {}

word value_of(const promise& p, const context& where) {
  if (where.in_model()) return p.expected;
  const word got = p.real.get();
  if (p.known && got != p.expected) where.complain("a future's value is ", got, ", not ", p.expected);
  return got;
}

bool is_expected_in_a_domain(const error& e) {
  const std::string what = e.what();
  for (const char* text : {"cancelled before", "no stack is left", "was cancelled"}) {
    if (what.find(text) != std::string::npos) return true;
  }
  return false;
}

word run_body(const context& where, word seed) {
  dice choose(seed);
  body b(where, seed);
  const shape& size = where.program->size;
  const int number = where.depth >= size.depth ? choose.below(2) : 1 + choose.below(size.actions);
  for (int a = 0; a < number; ++a) {
    draw d(choose.next());
    const action act = drawn(d.choose);
    if (where.failing) throw_or_cancel(where, choose);
    act(b, d);
  }
  if (choose.one_in(3)) b.wait_for_all();
  if (choose.one_in(2)) {  // otherwise the values are not read
    for (const promise& p : b.promises) b.sum += value_of(p, where);
  }
  where.contribute(b.sum);
  if (where.in_model()) {
    std::vector<word>& values = where.program->values[seed];
    for (const promise& p : b.promises) values.push_back(p.expected);
  }
  return b.sum;
}

}  // namespace kith::random_programs
