// kmeans_list: clusters points around centres, in linked lists.
//
// Token and Reference scheduling, section 5.1.5 (kmeans-l). As `kmeans`, but points and centres are lists: each point
// has a cache line of its own, as from an allocator, and the order of a list has nothing to do with its addresses. The
// lists of a chunk's points are in one piece of memory, so that a task can name it. The number of iterations is fixed,
// so that all schedules do the same work. The paper prints no sizes; with the standard ones three chunks fit a
// first-level cache of 64 KiB, and all of them fit 32 such caches, but not 16. The expert placement gives each node an
// equal share of neighbouring chunks. Property checked:
//  K1  centres and sizes of the clusters equal those of a serial program that walks all points in order. Coordinates
//      are integers and centres are rounded down to integers, so they are equal to the last digit.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter kmeans_list_parameters[] = {
    {"points", "27648", "12288", "how many; a multiple of the chunks"},
    {"chunks", "96", "12", "tasks of an iteration"},
    {"clusters", "8", "8", "how many centres"},
    {"iterations", "10", "3", "moves of the centres"},
};

constexpr std::int64_t coordinates = 4;
using vector_of_numbers = std::array<std::int64_t, coordinates>;

struct alignas(64) point_in_list {
  point_in_list* next;
  vector_of_numbers at;
};
struct alignas(64) centre_in_list {
  centre_in_list* next;
  std::int64_t size;
  vector_of_numbers at;
};
/// A task's sum for a centre.
struct alignas(64) sum_of_points {
  std::int64_t size;
  vector_of_numbers sum;
};

class kmeans_list final : public app {
 public:
  explicit kmeans_list(const arguments& a)
      : chunks_(a.number("chunks", 1, 1 << 20)),
        each_(a.number("points", 1, std::int64_t{1} << 32) / chunks_),
        clusters_(a.number("clusters", 1, 4096)),
        rounds_(a.number("iterations", 1, 1 << 20)),
        seed_(a.seed()),
        points_(chunks_, std::max<std::int64_t>(each_, 1)),
        sums_(chunks_, clusters_),
        centres_(1, clusters_) {
    if (each_ == 0 || a.number("points", 1, std::int64_t{1} << 32) % chunks_ != 0)
      throw error("kmeans_list: --points " + a.text("points") + " is no multiple of --chunks " +
                  std::to_string(chunks_));
  }

  void prepare(const target& where) override {
    static const task_type type{"kmeans_list_initial"}, first{"kmeans_list_first_centres"};
    where.on.run([&] {
      for (std::int64_t c = 0; c < chunks_; ++c)
        spawn([this, c] { link(c); }, type, where.of(c, chunks_), points_.out(c), work{0});
      const auto body = [this] {
        for (std::int64_t k = 0; k < clusters_; ++k) {
          centre_in_list& one = centres_[0][k];
          one = {k + 1 < clusters_ ? &one + 1 : nullptr, 0, {}};
          for (std::int64_t d = 0; d < coordinates; ++d) one.at[static_cast<std::size_t>(d)] = first_centre(k, d);
        }
      };
      spawn(body, first, where.of(0, chunks_), centres_.out(0), work{0});
    });
  }

  void solve(const target& where) override {
    static const task_type assign{"kmeans_list_assign"}, evaluate{"kmeans_list_evaluate"};
    const work assigning = work_of(static_cast<double>(3 * each_ * clusters_ * coordinates), rate::chained);
    const work moving = work_of(static_cast<double>(chunks_ * clusters_ * coordinates), rate::chained);
    where.on.run([&] {
      for (std::int64_t round = 0; round < rounds_; ++round) {
        for (std::int64_t c = 0; c < chunks_; ++c)
          spawn([this, c] { add_up(points_[c], centres_[0], sums_[c]); }, assign, where.of(c, chunks_), points_.in(c),
                centres_.in(0), sums_.out(c), assigning);
        const auto all_sums = kith::in(sums_[0], sums_.bytes().size() / sizeof(sum_of_points));
        spawn([this] { move_centres(); }, evaluate, where.of(0, chunks_), all_sums, centres_.inout(0), moving);
      }
    });
  }

  verdict verify() override {
    const auto count = static_cast<std::size_t>(clusters_);
    std::vector<vector_of_numbers> at(count), sums(count);
    std::vector<std::int64_t> sizes(count);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::int64_t d = 0; d < coordinates; ++d)
        at[k][static_cast<std::size_t>(d)] = first_centre(static_cast<std::int64_t>(k), d);
    }
    for (std::int64_t round = 0; round < rounds_; ++round) {
      std::fill(sums.begin(), sums.end(), vector_of_numbers{});
      std::fill(sizes.begin(), sizes.end(), 0);
      for (std::int64_t p = 0; p < chunks_ * each_; ++p) {
        const vector_of_numbers here = numbers_of(p);
        std::vector<std::int64_t> far;
        for (const vector_of_numbers& c : at)
          far.push_back(std::transform_reduce(here.begin(), here.end(), c.begin(), std::int64_t{0}, std::plus<>(),
                                              [](auto a, auto b) { return (a - b) * (a - b); }));
        const auto k = static_cast<std::size_t>(std::ranges::min_element(far) - far.begin());
        ++sizes[k];
        std::transform(here.begin(), here.end(), sums[k].begin(), sums[k].begin(), std::plus<>());
      }
      for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t d = 0; d < at[k].size() && sizes[k] != 0; ++d) at[k][d] = sums[k][d] / sizes[k];
      }
    }
    std::int64_t wrong = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const centre_in_list& is = centres_[0][k];
      const centre_in_list* const next = k + 1 < count ? &is + 1 : nullptr;
      if (is.size != sizes[k] || is.at != at[k] || is.next != next) ++wrong;
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string(clusters_) +
                            " clusters differ from those of the serial program"};
  }

  std::vector<figure> figures() const override {
    std::int64_t largest = 0;
    for (const centre_in_list* c = centres_[0]; c != nullptr; c = c->next) largest = std::max(largest, c->size);
    return {{"points", chunks_ * each_}, {"clusters", clusters_}, {"iterations", rounds_}, {"largest", largest}};
  }
  std::span<std::byte> output() override {
    return std::as_writable_bytes(std::span(centres_[0], static_cast<std::size_t>(clusters_)));
  }

 private:
  vector_of_numbers numbers_of(std::int64_t p) const noexcept {
    vector_of_numbers n;
    for (std::int64_t d = 0; d < coordinates; ++d)
      n[static_cast<std::size_t>(d)] =
          static_cast<std::int64_t>(hash(seed_, static_cast<std::uint64_t>(p * coordinates + d)) % 1024);
    return n;
  }
  std::int64_t first_centre(std::int64_t k, std::int64_t d) const noexcept {
    return static_cast<std::int64_t>(hash(seed_ + 1, static_cast<std::uint64_t>(k * coordinates + d)) % 1024);
  }

  /// Links the chunk's points in random order. The list begins at the first one in memory.
  void link(std::int64_t chunk) const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(each_));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 1; --i)
      std::swap(order[i], order[1 + hash(seed_ + 2, static_cast<std::uint64_t>(chunk * each_) + i) % i]);
    for (std::size_t i = 0; i < order.size(); ++i) {
      point_in_list& one = points_[chunk][order[i]];
      one = {i + 1 < order.size() ? &points_[chunk][order[i + 1]] : nullptr, numbers_of(chunk * each_ + order[i])};
    }
  }

  static void add_up(const point_in_list* points, const centre_in_list* centres, sum_of_points* sums) noexcept {
    const centre_in_list* c = centres;
    for (sum_of_points* s = sums; c != nullptr; c = c->next) *s++ = {};
    for (const point_in_list* p = points; p != nullptr; p = p->next) {
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      sum_of_points *nearest = sums, *s = sums;
      for (c = centres; c != nullptr; c = c->next, ++s) {
        std::int64_t far = 0;
        for (std::size_t d = 0; d < coordinates; ++d) far += (p->at[d] - c->at[d]) * (p->at[d] - c->at[d]);
        if (far < least) {
          least = far;
          nearest = s;
        }
      }
      ++nearest->size;
      for (std::size_t d = 0; d < coordinates; ++d) nearest->sum[d] += p->at[d];
    }
  }

  /// A centre without points stays where it is.
  void move_centres() const noexcept {
    std::int64_t k = 0;
    for (centre_in_list* here = centres_[0]; here != nullptr; here = here->next, ++k) {
      sum_of_points all{};
      for (std::int64_t c = 0; c < chunks_; ++c) {
        all.size += sums_[c][k].size;
        for (std::size_t d = 0; d < coordinates; ++d) all.sum[d] += sums_[c][k].sum[d];
      }
      here->size = all.size;
      for (std::size_t d = 0; d < coordinates && all.size != 0; ++d) here->at[d] = all.sum[d] / all.size;
    }
  }

  std::int64_t chunks_, each_, clusters_, rounds_;
  std::uint64_t seed_;
  paged<point_in_list> points_;  // by chunk
  paged<sum_of_points> sums_;    // by chunk
  paged<centre_in_list> centres_;
};

}  // namespace

const entry kmeans_list_entry = {"kmeans_list", "HW", "clusters points around centres, in linked lists",
                                 kmeans_list_parameters, make<kmeans_list>};

}  // namespace kith::apps
