// Tasks with accesses. Each task checks the words against the values that the model has for its turn.
#include "body.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

namespace kith::random_programs {

namespace {

enum class way : std::uint8_t { in, out, inout, concurrent, commutative };

/// One access of one task: to a single word, or to a part of the array.
struct use {
  way how = way::in;
  int first = 0, count = 1;
  word seed = 0;                         // seed of what is written
  std::array<word, data::array> before;  // what the words are when the task starts

  word* begin(data& d) const { return d.words.data() + first; }
  bool writes_in_order() const { return how == way::out || how == way::inout; }
  bool adds() const { return how == way::concurrent || how == way::commutative; }
  word written(int i) const { return mix(before[static_cast<std::size_t>(i)] ^ mix(seed + static_cast<word>(i))); }
  word added() const { return mix(seed); }
};

use drawn_use(dice& choose, word seed) {
  use u;
  u.how = static_cast<way>(choose.below(5));
  u.seed = mix(seed);
  u.first = choose.below(data::singles + 2);
  if (u.first >= data::singles) {  // parts of the array overlap only if one contains the other
    u.count = 1 << choose.below(5);
    u.first = data::singles + choose.below(data::array / u.count) * u.count;
  }
  return u;
}

/// One to three accesses of different words; of the array, at most one part.
std::vector<use> drawn_uses(dice& choose, word seed) {
  std::vector<use> all;
  const int most = 1 + choose.below(3);
  for (int k = 0; k < most; ++k) {
    const use u = drawn_use(choose, seed + static_cast<word>(k));
    const auto clashes = [&](const use& o) {
      return u.first == o.first || (u.first >= data::singles && o.first >= data::singles);
    };
    if (std::ranges::none_of(all, clashes)) all.push_back(u);
  }
  return all;
}

/// The access's turn in the order of creation. The words after it are what the next access finds.
void take_turn(data& model, use& u) {
  word* const p = u.begin(model);
  for (int i = 0; i < u.count; ++i) {
    u.before[static_cast<std::size_t>(i)] = p[i];
    if (u.writes_in_order()) p[i] = u.written(i);
    if (u.adds()) p[i] += u.added();
  }
}

template <class Make>
void declare(access_list& list, data& d, const use& u, const Make& make) {
  if (u.first == 0)
    list.add(make(d.first));
  else if (u.first == 1)
    list.add(make(d.second));
  else if (u.first < data::singles)
    list.add(make(*u.begin(d)));
  else
    list.add(make(u.begin(d), static_cast<std::size_t>(u.count)));
}

void declare(access_list& list, data& d, const use& u) {
  switch (u.how) {
    case way::in: declare(list, d, u, in); break;
    case way::out: declare(list, d, u, out); break;
    case way::inout: declare(list, d, u, inout); break;
    case way::concurrent: declare(list, d, u, concurrent); break;
    case way::commutative: declare(list, d, u, commutative); break;
  }
}

/// Reads the word, and writes it some time later. If two tasks did so at the same time, one sum would be lost.
void add_slowly(word& w, word x) {
  volatile word* const q = &w;
  const word v = *q;
  if (x % 2 == 0) std::this_thread::yield();
  *q = v + x;
}

void write(data& d, const use& u, const context& where) {
  word* const p = u.begin(d);
  for (int i = 0; i < u.count; ++i) {
    switch (u.how) {
      case way::in: break;
      case way::out:
      case way::inout: p[i] = where.failing ? 1 : u.written(i); break;
      case way::concurrent: std::atomic_ref<word>(p[i]).fetch_add(u.added()); break;
      case way::commutative: add_slowly(p[i], u.added()); break;
    }
  }
}

enum class moment : std::uint8_t { at_once, in_a_child, in_a_grandchild, in_a_group };

struct accessing_task {
  context where;
  std::shared_ptr<data> cells;
  std::vector<use> uses;
  word seed;
  bool recurses;
  moment when;
  witness held{};

  word operator()() const {
    for (const use& u : uses) {
      if (!u.adds()) check(u, "when its task starts");
    }
    word value = mix(seed);
    where.contribute(value);
    if (recurses) value += run_body(where, seed + 1);
    check_what_is_read();
    if (where.in_model())
      write_all();
    else
      write_later();
    return value;
  }

  void write_later() const {
    switch (when) {
      case moment::at_once: write_all(); break;
      case moment::in_a_child:
        spawn([self = *this] {
          self.check_what_is_read();
          self.write_all();
        });
        break;
      case moment::in_a_grandchild:
        spawn([self = *this] {
          spawn([self] {
            self.check_what_is_read();
            self.write_all();
          });
        });
        break;
      case moment::in_a_group: {
        group g;
        g.spawn([&] { g.spawn([&] { write_all(); }); });
        g.wait();
        break;
      }
    }
  }
  void write_all() const {
    for (const use& u : uses) write(*cells, u, where);
  }
  /// No task writes it before the task and all its children have ended.
  void check_what_is_read() const {
    for (const use& u : uses) {
      if (u.how == way::in) check(u, "while it is read");
    }
  }
  void check(const use& u, const char* moment) const {
    if (where.failing) return;
    const word* const p = u.begin(*cells);
    for (int i = 0; i < u.count; ++i) {
      if (p[i] == u.before[static_cast<std::size_t>(i)]) continue;
      where.complain("word ", u.first + i, " of the access ", u.first, "+", u.count, " is of another time ", moment);
      return;
    }
  }
};

/// Uses a closure of many bytes.
void spawn_large(const accessing_task& task, const access_list& list, const draw& d) {
  struct large {
    unsigned char bytes[3000];
  } filling;
  std::memset(filling.bytes, 7, sizeof filling.bytes);
  spawn(
      [task, filling] {
        if (filling.bytes[0] != 7 || filling.bytes[2999] != 7) task.where.complain("a large closure was changed");
        task();
      },
      list, d.preferred, d.place);
}

}  // namespace

void task_with_accesses(body& b, draw& d) {
  std::vector<use> uses = drawn_uses(d.choose, d.seed);
  for (use& u : uses) take_turn(b.expected, u);
  const auto when = static_cast<moment>(d.choose.below(4));
  const bool large = d.choose.one_in(8), recurses = d.choose.one_in(3);
  // A task that waits while it has a commutative access keeps others from theirs.
  const bool commutes = std::ranges::any_of(uses, [](const use& u) { return u.how == way::commutative; });
  const bool has_value = d.choose.one_in(3) && !commutes;
  const context s = commutes ? b.child(false) : b.child_with_elders();
  const accessing_task task{s, b.cells, uses, d.seed, recurses, when};
  if (b.where.in_model()) {
    const word value = task();
    if (has_value) b.promised(value);
    return;
  }
  access_list list;
  for (const use& u : uses) declare(list, *b.cells, u);
  if (has_value)
    b.promised(async(task, list, d.urgency));
  else if (large)
    spawn_large(task, list, d);
  else
    spawn(task, list, d.urgency, d.place);
}

/// Many tasks on one word, which they write themselves or in a child.
void commutative_tasks(body& b, draw& d) {
  const int number = 2 + d.choose.below(8);
  const bool later = d.choose.one_in(2);
  for (int k = 0; k < number; ++k) {
    use u;
    u.how = way::commutative;
    u.first = 3;
    u.seed = d.seed + static_cast<word>(k);
    take_turn(b.expected, u);
    const context s = b.child(false);
    if (s.in_model()) {
      write(*b.cells, u, s);
      continue;
    }
    spawn(
        [=, cells = b.cells, held = witness()] {
          if (later)
            spawn([=] { write(*cells, u, s); });
          else
            write(*cells, u, s);
        },
        commutative(b.cells->words[3]), d.urgency);
  }
}

}  // namespace kith::random_programs
