// Domains of exceptions: bodies in them throw and cancel at random. What they throw reaches only the waits
// of its domain.
#include "body.hpp"

namespace kith::random_programs {

namespace {

class thrower_when_copied {
 public:
  thrower_when_copied(word domain, bool armed) : domain_(domain), armed_(armed) {}
  thrower_when_copied(const thrower_when_copied& o) : domain_(o.domain_), armed_(o.armed_), held_(o.held_) {
    if (armed_) throw fault{domain_};
  }
  thrower_when_copied& operator=(const thrower_when_copied&) = delete;

 private:
  word domain_;
  bool armed_;
  witness held_;
};

future<word> body_of(const context& s, word seed) {
  return async([s, seed, held = witness()] { return run_body(s, seed); });
}

void in_a_future(const context& s, word seed) { static_cast<void>(body_of(s, seed).get()); }

void in_a_group(const context& s, word seed) {
  group g;
  for (word i = 0; i < 3; ++i) g.spawn([s, seed, i, held = witness()] { run_body(s, seed + i); });
  g.wait();
}

/// The closure of a grandchild cannot be copied, so its creator fails.
void by_a_closure(const context& s, word seed) {
  async([s, seed, held = witness()] {
    spawn([s, seed] { run_body(s, seed); });
    spawn([s, harmless = thrower_when_copied(s.domain, false)] {
      spawn([harmful = thrower_when_copied(s.domain, true)] {});
    });
  }).get();
  s.complain("a closure that cannot be copied was copied");
}

void through_continuations(const context& s, word seed) {
  const future<word> f = body_of(s, seed);
  const future<word> g = f.then([](word x) { return x; });
  const future<word> h = when_all(f, g).then([](word a, word b) { return a + b; });
  h.wait();
  static_cast<void>(g.get());
}

constexpr void (*ways[])(const context&, word) = {in_a_future, in_a_group, by_a_closure, through_continuations};

}  // namespace

void domain_of_exceptions(body& b, draw& d) {
  if (b.where.failing || b.where.in_model() || b.where.program->size.repeatable) return;
  context s = b.child(false);
  s.failing = true;
  s.domain = mix(d.seed);
  s.domain_depth = s.depth;
  try {
    d.choose.of(ways)(s, d.seed);
  } catch (const fault& f) {
    s.program->keep_exception();
    if (f.domain != s.domain) s.complain("a fault of domain ", f.domain, " in domain ", s.domain);
  } catch (const error& e) {
    s.program->keep_exception();
    if (!is_expected_in_a_domain(e)) s.complain("an error in a domain: ", e.what());
  }
}

}  // namespace kith::random_programs
