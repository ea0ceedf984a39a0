// Keys whose hash, comparison or copy throws, at every place where one is made. The exception must reach the code that
// explores, and the exploration must leave nothing behind.
#include "support/matrix.hpp"

#include <atomic>
#include <stdexcept>
#include <string>

namespace {

using kith::keys;

enum operation : std::uint8_t { hashing, comparing, copying, operations };
constexpr const char* names[operations] = {"hash", "comparison", "copy"};

/// A number. One operation of one kind throws, after a given number of such operations.
struct fragile {
  static inline std::atomic<int> until[operations];
  static inline std::atomic<int> alive{0};
  static void set(operation what, int n) {
    for (std::atomic<int>& u : until) u = -1;
    until[what] = n;
  }
  static void count(operation what) {
    if (until[what] >= 0 && until[what].fetch_sub(1) == 0) throw std::runtime_error(names[what]);
  }

  explicit fragile(int v) : value(v) { ++alive; }
  fragile(const fragile& o) : value(o.value) {
    count(copying);
    ++alive;
  }
  fragile(fragile&& o) noexcept : value(o.value) { ++alive; }
  fragile& operator=(fragile&&) = default;
  ~fragile() { --alive; }
  bool operator==(const fragile& o) const {
    count(comparing);
    return value == o.value;
  }
  int value;
};

}  // namespace

template <>
struct std::hash<fragile> {
  std::size_t operator()(const fragile& k) const {
    fragile::count(hashing);
    return std::hash<int>()(k.value);
  }
};

namespace {

/// The paths through a small lattice, from its corner.
struct lattice {
  using key = fragile;
  static constexpr int side = 3, corner = side * side - 1;
  void predecessors(const key& k, keys<key>& all) const {
    if (k.value % side > 0) all.add(key(k.value - 1));
    if (k.value >= side) all.add(key(k.value - side));
  }
};
struct lattice_without_values : lattice {
  void compute(const key&) {}
};
struct lattice_with_values : lattice {
  using value = int;
  int compute(const key&, kith::values<int> ways) const {
    int sum = ways.empty() ? 1 : 0;
    for (int w : ways) sum += w;
    return sum;
  }
};
/// Nodes that are named by the computation of other nodes.
struct growing : lattice {
  void predecessors(const key&, keys<key>&) const {}
  void compute(const key& k, keys<key>& further) const {
    if (k.value < corner) further.add(key(k.value + 1));
    further.add(key(k.value / 2));
  }
};

class fragile_keys : public testing::TestWithParam<kith::test::setup> {
 protected:
  /// Repeats the run with the throwing operation later each time, until a run is over before it.
  template <class G>
  void throw_everywhere(int start) {
    kith::runtime rt(GetParam().options());
    G g;
    for (operation what : {hashing, comparing, copying}) {
      const fragile wanted(start);
      int thrown = 0;
      for (bool throws = true; throws; thrown += throws) {
        fragile::set(what, thrown);
        try {
          rt.run([&] { kith::explore(g, wanted); });
          throws = false;
        } catch (const std::runtime_error& e) {
          EXPECT_STREQ(e.what(), names[what]);
        }
        fragile::set(what, -1);
        ASSERT_EQ(fragile::alive, 1) << names[what] << " " << thrown;
      }
      EXPECT_GT(thrown, 5) << names[what];
    }
  }
};
KITH_FOR_ALL_POLICIES(fragile_keys);

TEST_P(fragile_keys, throw_where_nodes_have_no_values) { throw_everywhere<lattice_without_values>(lattice::corner); }
TEST_P(fragile_keys, throw_where_nodes_have_values) { throw_everywhere<lattice_with_values>(lattice::corner); }
TEST_P(fragile_keys, throw_where_nodes_are_generated) { throw_everywhere<growing>(0); }

}  // namespace
