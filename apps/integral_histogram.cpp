// integral_histogram: for each pixel of each image, counts the pixels of each shade above it and to its left, so that
// four look-ups give the histogram of any rectangle. A cross-weave scan: along the rows, then along the columns.
//
// RIP paper, section 5.2 (Porikli's method, on tiles; several images overlap). The sums of a row of tiles so far are a
// halo of their own, and those of a column as well. Images, histograms and halos are in a ring, so that the next images
// begin before the first has ended; or each image has memory of its own, which no task initialises (--ring 0). The
// expert placement deals rows' halos and columns' halos round robin, and tiles by their column. Windows: two images, of
// which one stays. The paper does not print sizes; 16 x 16 tiles of 128 pixels and four images in the ring are assumed.
// Images are a PNG file, each turned one column further, or generated. Property checked, for the images that are still
// in the ring:
//  I1  every count equals that of a serial program that adds up the three neighbours' histograms.
#include "blocks.hpp"
#include "hash.hpp"
#include "image.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"

#include <algorithm>

namespace kith::apps {

namespace {

constexpr parameter integral_histogram_parameters[] = {
    {"input", "", "", "a PNG file: the first image"},
    {"size", "512", "160", "rows and columns of generated images", "2048"},
    {"images", "4", "5", "how many are scanned", "20"},
    {"ring", "2", "2", "how many may be worked on at a time; 0: each has fresh memory of its own", "4"},
    {"bins", "16", "8", "shades that are told apart", "32"},
    {"block", "64", "32", "rows and columns of a tile", "128"},
};

/// The decomposition of an image according to the parameters, read once for the program and for its windows.
struct shape {
  blocks rows, columns;
  std::int64_t ring;
  bool fresh;  // the ring has all images, and no task initialises it

  shape(const arguments& a, std::int64_t height, std::int64_t width)
      : rows{height, edge(a, height, width)},
        columns{width, rows.each},
        ring(a.number("ring", 0, 64)),
        fresh(ring == 0) {
    if (fresh) ring = images(a);
  }
  static std::int64_t images(const arguments& a) { return a.number("images", 1, 1 << 20); }
  std::int64_t tiles() const noexcept { return rows.count() * columns.count(); }
  std::int64_t halos() const noexcept { return rows.count() + columns.count(); }

 private:
  static std::int64_t edge(const arguments& a, std::int64_t height, std::int64_t width) {
    return std::min(a.number("block", 1, 1 << 12), std::max(height, width));
  }
};

image image_of(const arguments& a) {
  a.exclude("input", "size");
  if (a.has("input")) return read_image(a.text("input"));
  const std::int64_t size = a.number("size", 1, 1 << 15);
  return {.rows = size, .columns = size, .shades = {}};
}

class integral_histogram final : public app {
 public:
  using count = std::uint32_t;

  explicit integral_histogram(const arguments& a) : integral_histogram(a, image_of(a)) {}

  void prepare(const target& where) override {
    static const task_type type{"histogram_initial"};
    if (shape_.fresh) return;
    where.run([&] {
      for (std::int64_t slot = 0; slot < shape_.ring; ++slot) {
        for (std::int64_t i = 0; i < shape_.rows.count(); ++i) {
          spawn([=, this] { clear(row_halos_, row_halo(slot, i)); }, type, where.turn(i),
                row_halos_.out(row_halo(slot, i)), work{0});
        }
        for (std::int64_t j = 0; j < shape_.columns.count(); ++j) {
          spawn([=, this] { clear(column_halos_, column_halo(slot, j)); }, type, where.turn(j),
                column_halos_.out(column_halo(slot, j)), work{0});
        }
        for_each_tile(slot, [&](std::int64_t, std::int64_t j, std::int64_t t) {
          const auto body = [=, this] {
            std::fill_n(images_[t], images_.length(), std::uint8_t{0});
            clear(histograms_, t);
          };
          spawn(body, type, where.turn(j), images_.out(t), histograms_.out(t), work{0});
        });
      }
    });
  }

  void solve(const target& where) override {
    static const task_type load{"load"}, reset{"reset"}, along_row{"scan_rows"}, along_column{"scan_columns"};
    const auto pixels = static_cast<double>(shape_.rows.each * shape_.rows.each);
    const work scan = work_of(pixels * static_cast<double>(bins_), rate::streamed);
    where.run([&] {
      for (std::int64_t f = 0; f < total_; ++f) {
        const std::int64_t slot = f % shape_.ring;
        for_each_tile(slot, [&](std::int64_t i, std::int64_t j, std::int64_t t) {
          spawn([=, this] { read(f, i, j, t); }, load, where.turn(j), images_.out(t), work_of(pixels, rate::streamed));
        });
        for (std::int64_t i = 0; i < shape_.rows.count(); ++i) {
          spawn([=, this] { clear(row_halos_, row_halo(slot, i)); }, reset, where.turn(i),
                row_halos_.out(row_halo(slot, i)), work{0});
        }
        for (std::int64_t j = 0; j < shape_.columns.count(); ++j) {
          spawn([=, this] { clear(column_halos_, column_halo(slot, j)); }, reset, where.turn(j),
                column_halos_.out(column_halo(slot, j)), work{0});
        }
        for_each_tile(slot, [&](std::int64_t i, std::int64_t j, std::int64_t t) {
          const std::int64_t halo = row_halo(slot, i);
          spawn([=, this] { scan_rows(i, j, t, row_halos_[halo]); }, along_row, where.turn(j), images_.in(t),
                row_halos_.inout(halo), histograms_.out(t), scan);
        });
        for_each_tile(slot, [&](std::int64_t i, std::int64_t j, std::int64_t t) {
          const std::int64_t halo = column_halo(slot, j);
          spawn([=, this] { scan_columns(i, j, t, column_halos_[halo]); }, along_column, where.turn(j),
                column_halos_.inout(halo), histograms_.inout(t), scan);
        });
      }
    });
  }

  verdict verify() override {
    std::int64_t wrong = 0, compared = 0;
    const auto width = static_cast<std::size_t>((shape_.columns.items + 1) * bins_);
    for (std::int64_t f = std::max<std::int64_t>(0, total_ - shape_.ring); f < total_; ++f) {
      std::vector<count> above(width, 0), here(width, 0);  // counts of two rows, with an empty column on the left
      for (std::int64_t y = 0; y < shape_.rows.items; ++y) {
        for (std::int64_t x = 0; x < shape_.columns.items; ++x) {
          const auto is = static_cast<std::int64_t>(shade(f, y, x)) * bins_ / 256;
          const count* const got = histogram(f, y, x);
          for (std::int64_t b = 0; b < bins_; ++b) {
            const auto left = static_cast<std::size_t>(x * bins_ + b), at = left + static_cast<std::size_t>(bins_);
            here[at] = above[at] + here[left] - above[left] + (b == is ? 1 : 0);
            wrong += got[b] != here[at];
            ++compared;
          }
        }
        std::swap(above, here);
      }
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string(compared) +
                            " counts, of the images still in the ring, differ from the serial program's"};
  }

  std::vector<figure> figures() const override {
    const std::int64_t last = total_ - 1, rows = shape_.rows.items, columns = shape_.columns.items;
    return {{"source", source_},
            {"images", total_},
            {"pixels", rows * columns},
            {"tiles", shape_.tiles()},
            {"bins", bins_},
            {"most_frequent_bin", most_frequent(last, 0, 0, rows, columns)},
            {"most_frequent_bin_of_the_centre",
             most_frequent(last, rows / 4, columns / 4, (3 * rows + 3) / 4, (3 * columns + 3) / 4)}};
  }
  std::span<std::byte> output() override { return histograms_.bytes(); }

 private:
  integral_histogram(const arguments& a, image first)
      : source_(a.has("input") ? a.text("input") : "generated"),
        first_(std::move(first)),
        shape_(a, first_.rows, first_.columns),
        total_(shape::images(a)),
        bins_(a.number("bins", 1, 256)),
        seed_(a.seed()),
        images_(shape_.ring * shape_.tiles(), area()),
        histograms_(shape_.ring * shape_.tiles(), area() * bins_),
        row_halos_(shape_.ring * shape_.rows.count(), shape_.rows.each * bins_),
        column_halos_(shape_.ring * shape_.columns.count(), shape_.rows.each * bins_) {}

  std::int64_t area() const noexcept { return shape_.rows.each * shape_.rows.each; }
  std::int64_t row_halo(std::int64_t slot, std::int64_t i) const noexcept { return slot * shape_.rows.count() + i; }
  std::int64_t column_halo(std::int64_t slot, std::int64_t j) const noexcept {
    return slot * shape_.columns.count() + j;
  }
  std::int64_t tile(std::int64_t slot, std::int64_t i, std::int64_t j) const noexcept {
    return slot * shape_.tiles() + i * shape_.columns.count() + j;
  }
  template <class F>
  void for_each_tile(std::int64_t slot, F&& f) const {
    for (std::int64_t i = 0; i < shape_.rows.count(); ++i) {
      for (std::int64_t j = 0; j < shape_.columns.count(); ++j) f(i, j, tile(slot, i, j));
    }
  }
  static void clear(const paged<count>& counts, std::int64_t b) noexcept {
    std::fill_n(counts[b], counts.length(), count{0});
  }

  /// The shade of a pixel of image f.
  std::uint8_t shade(std::int64_t f, std::int64_t y, std::int64_t x) const noexcept {
    const std::int64_t columns = shape_.columns.items, turned = (x + f) % columns;
    const auto at = static_cast<std::uint64_t>(y * columns + turned);
    if (!first_.shades.empty()) return first_.shades[at];
    return static_cast<std::uint8_t>((y * 128 / shape_.rows.items) + static_cast<std::int64_t>(hash(seed_, at) % 128));
  }
  void read(std::int64_t f, std::int64_t i, std::int64_t j, std::int64_t t) const noexcept {
    for (std::int64_t r = 0; r < shape_.rows.size(i); ++r) {
      for (std::int64_t c = 0; c < shape_.columns.size(j); ++c) {
        images_[t][r * shape_.rows.each + c] = shade(f, shape_.rows.begin(i) + r, shape_.columns.begin(j) + c);
      }
    }
  }
  /// Adds up the counts to the left. For each row, `halo` has those of the tiles before.
  void scan_rows(std::int64_t i, std::int64_t j, std::int64_t t, count* halo) const noexcept {
    for (std::int64_t r = 0; r < shape_.rows.size(i); ++r) {
      count* const so_far = halo + r * bins_;
      for (std::int64_t c = 0; c < shape_.columns.size(j); ++c) {
        const std::int64_t pixel = r * shape_.rows.each + c;
        ++so_far[images_[t][pixel] * bins_ / 256];
        std::copy_n(so_far, bins_, histograms_[t] + pixel * bins_);
      }
    }
  }
  /// The same downwards, for all shades and columns of a row at a time.
  void scan_columns(std::int64_t i, std::int64_t j, std::int64_t t, count* halo) const noexcept {
    const std::int64_t width = shape_.columns.size(j) * bins_;
    for (std::int64_t r = 0; r < shape_.rows.size(i); ++r) {
      count* const row = histograms_[t] + r * shape_.rows.each * bins_;
      for (std::int64_t x = 0; x < width; ++x) row[x] = halo[x] += row[x];
    }
  }

  const count* histogram(std::int64_t f, std::int64_t y, std::int64_t x) const noexcept {
    const std::int64_t e = shape_.rows.each;
    return histograms_[tile(f % shape_.ring, y / e, x / e)] + (y % e * e + x % e) * bins_;
  }
  /// The most frequent shade in rows top..bottom-1 and columns left..right-1 of image f.
  std::int64_t most_frequent(std::int64_t f, std::int64_t top, std::int64_t left, std::int64_t bottom,
                             std::int64_t right) const {
    const auto up_to = [&](std::int64_t y, std::int64_t x, std::int64_t b) {
      return y == 0 || x == 0 ? count{0} : histogram(f, y - 1, x - 1)[b];
    };
    std::int64_t best = 0;
    count most = 0;
    for (std::int64_t b = 0; b < bins_; ++b) {
      const count in = up_to(bottom, right, b) - up_to(top, right, b) - up_to(bottom, left, b) + up_to(top, left, b);
      if (in > most) best = b;
      most = std::max(most, in);
    }
    return best;
  }

  std::string source_;
  image first_;  // has no shades if images are generated
  shape shape_;
  std::int64_t total_, bins_;
  std::uint64_t seed_;
  paged<std::uint8_t> images_;             // a block for each tile
  paged<count> histograms_;                // the same; by pixels, then shades
  paged<count> row_halos_, column_halos_;  // a block for each row, each column of tiles
};

window_hint integral_histogram_windows(const arguments& a) {
  const image first = image_of(a);
  const shape s(a, first.rows, first.columns);
  const std::int64_t each = 3 * s.tiles() + s.halos();
  return {.first = s.fresh ? 0 : s.ring * (s.tiles() + s.halos()), .window = 2 * each, .intersection = each};
}

}  // namespace

const entry integral_histogram_entry = {"integral_histogram",
                                        "RIP",
                                        "histograms of all rectangles of images, by a cross-weave scan of tiles",
                                        integral_histogram_parameters,
                                        make<integral_histogram>,
                                        false,
                                        integral_histogram_windows};

}  // namespace kith::apps
