// nqueens: counts the ways to place n queens on a board of n x n so that none attacks another.
//
// Nested tasks: one for each safe square of the first `depth` rows; each task waits for its children and
// adds up their counts. As in BOTS, with which the MIR thesis measures (n = 14, depth 3). Property checked:
//  N1  the count is the known one (OEIS A000170).
#include "list.hpp"

#include <array>
#include <bit>

namespace kith::apps {

namespace {

constexpr parameter nqueens_parameters[] = {
    {"size", "15", "10", "queens"},
    {"depth", "5", "3", "rows placed by tasks; below them a task goes on alone"},
    {"joins", flag, flag, "joins in place of tasks"},
};

constexpr std::array<std::int64_t, 19> known = {
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624};

/// A set of columns; the lowest is column 0.
using columns = std::uint32_t;

/// The columns that the queens above a row attack in it.
struct attacked {
  columns straight = 0, left = 0, right = 0;
  columns any() const noexcept { return straight | left | right; }
  attacked below(columns queen) const noexcept { return {straight | queen, (left | queen) << 1, (right | queen) >> 1}; }
};

std::int64_t count_alone(columns board, attacked a, int rows) {
  if (rows == 0) return 1;
  std::int64_t found = 0;
  for (columns free = board & ~a.any(); free != 0; free &= free - 1) {
    found += count_alone(board, a.below(free & (~free + 1)), rows - 1);
  }
  return found;
}

std::int64_t count(columns board, attacked a, int rows, int by_tasks) {
  static const task_type type{"nqueens"};
  if (by_tasks == 0 || rows == 0) return count_alone(board, a, rows);
  std::array<std::int64_t, known.size()> found{};
  std::size_t children = 0;
  for (columns free = board & ~a.any(); free != 0; free &= free - 1) {
    const attacked next = a.below(free & (~free + 1));
    spawn([=, result = &found[children++]] { *result = count(board, next, rows - 1, by_tasks - 1); }, type);
  }
  wait();
  std::int64_t sum = 0;
  for (std::int64_t f : found) sum += f;
  return sum;
}

std::int64_t count_joined(columns board, attacked a, int rows, int by_joins);

/// The solutions with a queen on one of these squares of the next row. Joins split the squares by halves.
std::int64_t count_squares(columns board, attacked a, int rows, int by_joins, columns free) {
  if ((free & (free - 1)) == 0) return count_joined(board, a.below(free), rows - 1, by_joins - 1);
  columns upper = free;
  for (int i = std::popcount(free) / 2; i > 0; --i) upper &= upper - 1;
  const auto [x, y] = join([=] { return count_squares(board, a, rows, by_joins, free & ~upper); },
                           [=] { return count_squares(board, a, rows, by_joins, upper); });
  return x + y;
}

std::int64_t count_joined(columns board, attacked a, int rows, int by_joins) {
  if (by_joins == 0 || rows == 0) return count_alone(board, a, rows);
  const columns free = board & ~a.any();
  return free == 0 ? 0 : count_squares(board, a, rows, by_joins, free);
}

class nqueens final : public app {
 public:
  explicit nqueens(const arguments& a)
      : size_(static_cast<int>(a.number("size", 1, known.size() - 1))),
        depth_(static_cast<int>(a.number("depth", 0, 30))),
        joins_(a.on("joins")) {}

  void prepare(const target&) override { found_ = -1; }
  void solve(const target& where) override {
    const columns board = (columns{1} << size_) - 1;
    found_ =
        where.on.run([&] { return joins_ ? count_joined(board, {}, size_, depth_) : count(board, {}, size_, depth_); });
  }
  verdict verify() override {
    const std::int64_t expected = known[static_cast<std::size_t>(size_)];
    return {found_ == expected, std::to_string(found_) + " solutions for " + std::to_string(size_) +
                                    " queens; known are " + std::to_string(expected)};
  }
  std::vector<figure> figures() const override { return {{"solutions", found_}}; }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(&found_, 1)); }

 private:
  int size_, depth_;
  bool joins_;
  std::int64_t found_ = -1;
};

}  // namespace

const entry nqueens_entry = {"nqueens", "MIR", "n queens on a board of n x n: nested tasks", nqueens_parameters,
                             make<nqueens>};

}  // namespace kith::apps
