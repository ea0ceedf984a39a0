// kmeans: clusters points around centres, in arrays.
//
// Token and Reference scheduling, section 5.1.5 (kmeans-a). In each iteration a task for each chunk of points adds up,
// for each centre, the points that are nearest to it; one task, the evaluator, moves the centres. The number of
// iterations is fixed, so that all schedules do the same work. The paper prints no sizes; with the standard ones three
// chunks fit a first-level cache of 64 KiB, and all of them fit 32 such caches, but not 16. Points have four
// coordinates, so four points share a line. The expert placement gives each node an equal share of neighbouring chunks.
// Property checked:
//  K1  centres and sizes of the clusters equal those of a serial program that walks all points in order. Coordinates
//      are integers and centres are rounded down to integers, so they are equal to the last digit.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter kmeans_parameters[] = {
    {"points", "110592", "24576", "how many; a multiple of the chunks"},
    {"chunks", "96", "12", "tasks of an iteration"},
    {"clusters", "8", "8", "how many centres"},
    {"iterations", "10", "3", "moves of the centres"},
};

constexpr std::int64_t dimensions = 4;

class kmeans final : public app {
 public:
  explicit kmeans(const arguments& a)
      : chunks_(a.number("chunks", 1, 1 << 20)),
        each_(a.number("points", 1, std::int64_t{1} << 32) / chunks_),
        clusters_(a.number("clusters", 1, 4096)),
        rounds_(a.number("iterations", 1, 1 << 20)),
        seed_(a.seed()),
        points_(chunks_, std::max<std::int64_t>(each_, 1) * dimensions),
        sums_(chunks_, clusters_ * width),
        centres_(1, clusters_ * width) {
    if (each_ == 0 || a.number("points", 1, std::int64_t{1} << 32) % chunks_ != 0)
      throw error("kmeans: --points " + a.text("points") + " is no multiple of --chunks " + std::to_string(chunks_));
  }

  void prepare(const target& where) override {
    static const task_type type{"kmeans_initial"}, first{"kmeans_first_centres"};
    where.on.run([&] {
      for (std::int64_t c = 0; c < chunks_; ++c) {
        const auto body = [this, c] {
          for (std::int64_t i = 0; i < each_ * dimensions; ++i) points_[c][i] = coordinate(c * each_ * dimensions + i);
        };
        spawn(body, type, where.of(c, chunks_), points_.out(c), work{0});
      }
      const auto body = [this] {
        for (std::int64_t k = 0; k < clusters_; ++k) {
          centres_[0][k * width] = 0;
          for (std::int64_t d = 0; d < dimensions; ++d) centres_[0][k * width + 1 + d] = first_centre(k, d);
        }
      };
      spawn(body, first, where.of(0, chunks_), centres_.out(0), work{0});
    });
  }

  void solve(const target& where) override {
    static const task_type assign{"kmeans_assign"}, evaluate{"kmeans_evaluate"};
    // A subtraction, a multiplication and an addition for each coordinate of each point and centre.
    const work assigning = work_of(static_cast<double>(3 * each_ * clusters_ * dimensions), rate::chained);
    const work moving = work_of(static_cast<double>(chunks_ * clusters_ * width), rate::chained);
    where.on.run([&] {
      for (std::int64_t round = 0; round < rounds_; ++round) {
        for (std::int64_t c = 0; c < chunks_; ++c)
          spawn([this, c] { add_up(c); }, assign, where.of(c, chunks_), points_.in(c), centres_.in(0), sums_.out(c),
                assigning);
        const auto all_sums = kith::in(sums_[0], sums_.bytes().size() / sizeof(std::int64_t));
        spawn([this] { move_centres(); }, evaluate, where.of(0, chunks_), all_sums, centres_.inout(0), moving);
      }
    });
  }

  verdict verify() override {
    std::vector<std::vector<std::int64_t>> at(static_cast<std::size_t>(clusters_));
    std::vector<std::int64_t> sizes(at.size());
    for (std::int64_t k = 0; k < clusters_; ++k) {
      for (std::int64_t d = 0; d < dimensions; ++d) at[static_cast<std::size_t>(k)].push_back(first_centre(k, d));
    }
    for (std::int64_t round = 0; round < rounds_; ++round) {
      std::vector<std::vector<std::int64_t>> sums(at.size(), std::vector<std::int64_t>(dimensions));
      std::fill(sizes.begin(), sizes.end(), 0);
      std::vector<std::int64_t> point(dimensions);
      for (std::int64_t p = 0; p < chunks_ * each_; ++p) {
        for (std::int64_t d = 0; d < dimensions; ++d)
          point[static_cast<std::size_t>(d)] = coordinate(p * dimensions + d);
        std::size_t nearest = 0;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::size_t k = 0; k < at.size(); ++k) {
          std::int64_t far = 0;
          for (std::size_t d = 0; d < point.size(); ++d) far += (point[d] - at[k][d]) * (point[d] - at[k][d]);
          if (far < least) {
            least = far;
            nearest = k;
          }
        }
        ++sizes[nearest];
        for (std::size_t d = 0; d < point.size(); ++d) sums[nearest][d] += point[d];
      }
      for (std::size_t k = 0; k < at.size(); ++k) {
        for (std::size_t d = 0; d < point.size() && sizes[k] != 0; ++d) at[k][d] = sums[k][d] / sizes[k];
      }
    }
    std::int64_t wrong = 0;
    for (std::int64_t k = 0; k < clusters_; ++k) {
      const std::int64_t* is = centres_[0] + k * width;
      const auto i = static_cast<std::size_t>(k);
      if (is[0] != sizes[i] || !std::equal(at[i].begin(), at[i].end(), is + 1)) ++wrong;
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string(clusters_) +
                            " clusters differ from those of the serial program"};
  }

  std::vector<figure> figures() const override {
    std::int64_t largest = 0;
    for (std::int64_t k = 0; k < clusters_; ++k) largest = std::max(largest, centres_[0][k * width]);
    return {{"points", chunks_ * each_}, {"clusters", clusters_}, {"iterations", rounds_}, {"largest", largest}};
  }
  std::span<std::byte> output() override {
    return std::as_writable_bytes(std::span(centres_[0], static_cast<std::size_t>(clusters_ * width)));
  }

 private:
  static constexpr std::int64_t width = 1 + dimensions;  // of a sum or a centre: the number of points, and coordinates

  std::int32_t coordinate(std::int64_t i) const noexcept {
    return static_cast<std::int32_t>(hash(seed_, static_cast<std::uint64_t>(i)) % 1024);
  }
  std::int64_t first_centre(std::int64_t k, std::int64_t d) const noexcept {
    return static_cast<std::int64_t>(hash(seed_ + 1, static_cast<std::uint64_t>(k * dimensions + d)) % 1024);
  }

  void add_up(std::int64_t chunk) const noexcept {
    std::int64_t* const sums = sums_[chunk];
    std::fill(sums, sums + clusters_ * width, 0);
    for (std::int64_t p = 0; p < each_; ++p) {
      const std::int32_t* const point = points_[chunk] + p * dimensions;
      std::int64_t nearest = 0, least = std::numeric_limits<std::int64_t>::max();
      for (std::int64_t k = 0; k < clusters_; ++k) {
        const std::int64_t* const centre = centres_[0] + k * width + 1;
        std::int64_t far = 0;
        for (std::int64_t d = 0; d < dimensions; ++d) far += (point[d] - centre[d]) * (point[d] - centre[d]);
        if (far < least) {
          least = far;
          nearest = k;
        }
      }
      ++sums[nearest * width];
      for (std::int64_t d = 0; d < dimensions; ++d) sums[nearest * width + 1 + d] += point[d];
    }
  }

  /// A centre without points stays where it is.
  void move_centres() const noexcept {
    for (std::int64_t k = 0; k < clusters_; ++k) {
      std::int64_t* const centre = centres_[0] + k * width;
      std::int64_t size = 0;
      for (std::int64_t c = 0; c < chunks_; ++c) size += sums_[c][k * width];
      centre[0] = size;
      if (size == 0) continue;
      for (std::int64_t d = 1; d < width; ++d) {
        std::int64_t sum = 0;
        for (std::int64_t c = 0; c < chunks_; ++c) sum += sums_[c][k * width + d];
        centre[d] = sum / size;
      }
    }
  }

  std::int64_t chunks_, each_, clusters_, rounds_;
  std::uint64_t seed_;
  paged<std::int32_t> points_;  // by chunk
  paged<std::int64_t> sums_;    // by chunk
  paged<std::int64_t> centres_;
};

}  // namespace

const entry kmeans_entry = {"kmeans", "HW", "clusters points around centres, in arrays", kmeans_parameters,
                            make<kmeans>};

}  // namespace kith::apps
