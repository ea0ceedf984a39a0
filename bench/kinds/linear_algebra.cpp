// Kinds of linear algebra with irregular structure: sparse, hierarchical, pivoted, batched. Sizes mean the same as in
// kinds.cpp, unless a comment says otherwise.
#include "irregular.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith::bench {
namespace {

// Left-looking sparse Cholesky factorisation. Supernodes grow towards the last one, which is 13 times as large as the
// first; each is updated by earlier ones, mostly near it, and then factored.
void supernodal(const sizes& s) {
  std::mt19937 random = numbers(101);
  const index n = s.blocks;
  std::vector<owned> nodes;
  for (index i = 0; i < n; ++i) {
    nodes.push_back(make_blocks(1, static_cast<index>(real(s.bytes) * (0.25 + 3 * std::pow(real(i) / real(n), 3)))));
  }
  for (const owned& node : nodes) task("scatter", 0.03 * node->bytes(), node->out(0));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      const blocks& own = *nodes[i];
      const index updates = i == 0 ? 0 : 1 + below(random, 2 + 14 * i / n);
      for (index u = 0; u < updates; ++u) {
        const double v = unit(random);
        const blocks& from = *nodes[std::max<index>(0, i - 1 - static_cast<index>(v * v * v * real(i)))];
        task("update", 2 * s.work * std::min(own.bytes(), from.bytes()), from.in(0), own.inout(0));
      }
      task("factor", s.work * own.bytes(), own.inout(0));
    }
  }
}

// Products of a hierarchical matrix and a vector: dense blocks near the diagonal, and compressed ones further off that
// span twice as many parts of the vectors with each level. Products are added in any order. A vector has BLOCKS/5
// parts, rounded up to a power of two.
void h_matrix(const sizes& s) {
  struct part {
    owned data;
    index row, column, span;
    bool dense;
  };
  index leaves = 1;
  while (leaves * 5 < s.blocks) leaves *= 2;
  const blocks x(leaves, s.bytes / 8), y(leaves, s.bytes / 8);
  std::vector<part> parts;
  for (index i = 0; i < leaves; ++i) {
    for (index j = std::max<index>(i - 1, 0); j <= std::min(i + 1, leaves - 1); ++j) {
      parts.push_back({make_blocks(1, s.bytes), i, j, 1, true});
    }
  }
  for (index span = 1; span * 4 <= leaves; span *= 2) {
    for (index b = 0; b + 2 < leaves / span; ++b) {
      for (const index apart : {2, 3}) {
        if (b + apart >= leaves / span || (apart == 3 && b % 2 == 1)) continue;
        const index first = b * span, second = (b + apart) * span;
        parts.push_back({make_blocks(1, s.bytes / 4 * span), first, second, span, false});
        parts.push_back({make_blocks(1, s.bytes / 4 * span), second, first, span, false});
      }
    }
  }
  for (const part& p : parts) {
    task(p.dense ? "dense" : "compress", (p.dense ? 0.05 : 2.0) * p.data->bytes(), p.data->out(0));
  }
  fill(x, leaves, "vector");
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < leaves; ++i) task("clear", 0.02 * y.bytes(), y.out(i));
    for (const part& p : parts) {
      kith::access_list list;
      list.add(p.data->in(0));
      for (index k = 0; k < p.span; ++k) {
        list.add(x.in(p.column + k));
        list.add(y.commutative(p.row + k));
      }
      task(p.dense ? "near" : "far", s.work * p.data->bytes(), list);
    }
    for (index i = 0; i < leaves; ++i) task("next", 2 * s.work * y.bytes(), y.in(i), x.out(i));
  }
}

// Factorisation of a symmetric matrix with pivoting (LDL^T): the task of a panel changes all tiles of its column.
// BLOCKS tiles in the lower triangle.
void ldlt(const sizes& s) {
  const index n = triangle_side(s.blocks);
  const grid a(n, s.bytes);
  const blocks scaled(n, s.bytes), pivots(n, 4096);
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j <= i; ++j) task("assemble", 0.1 * a.bytes(), a.out(i, j));
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index k = 0; k < n; ++k) {
      kith::access_list column;
      for (index i = k; i < n; ++i) column.add(a.inout(i, k));
      column.add(pivots.out(k));
      task("panel", 0.2 * s.work * a.bytes() * real(n - k), column);
      for (index i = k + 1; i < n; ++i) {
        task("scale", 0.1 * s.work * a.bytes(), a.in(i, k), a.in(k, k), pivots.in(k), scaled.out(i));
        for (index j = k + 1; j <= i; ++j) {
          task("update", s.work * a.bytes(), scaled.in(i), a.in(j, k), a.inout(i, j));
        }
      }
    }
  }
}

// GMRES that restarts after ten vectors: each new vector is made orthogonal to all before it, so tasks read more and
// more blocks, and one small task in each iteration needs the products of all. A task fills 16 rows of blocks.
void gmres(const sizes& s) {
  constexpr index depth = 10, together = 16;
  const index n = s.blocks;
  const blocks rows(n, s.bytes * 6), v((depth + 1) * n, s.bytes), dots(n, 1024), small(1, 8192);
  for (index g = 0; g < n; g += together) {
    kith::access_list list;
    for (index i = g; i < std::min(n, g + together); ++i) {
      list.add(rows.out(i));
      list.add(v.out(i));
    }
    task("read", together * 0.05 * rows.bytes(), list);
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index j = 0; j < depth; ++j) {
      const double half = real(j + 2) / 2;  // of the vectors' bytes that are read
      for (index i = 0; i < n; ++i) {
        task("product", s.work * rows.bytes(), rows.in(i), v.in(j * n + i), v.in(j * n + (i + 1) % n),
             v.in(j * n + (i + n - 1) % n), v.in(j * n + (i * 7 + 3) % n), v.out((j + 1) * n + i));
      }
      for (index i = 0; i < n; ++i) {
        kith::access_list list;
        for (index k = 0; k <= j + 1; ++k) list.add(v.in(k * n + i));
        list.add(dots.out(i));
        task("dots", s.work * v.bytes() * half, list);
      }
      kith::access_list all;
      for (index i = 0; i < n; ++i) all.add(dots.in(i));
      all.add(small.inout(0));
      task("givens", 10.0 * real(n), all);
      for (index i = 0; i < n; ++i) {
        kith::access_list list;
        for (index k = 0; k <= j; ++k) list.add(v.in(k * n + i));
        list.add(v.inout((j + 1) * n + i));
        list.add(small.in(0));
        task("orthogonalise", s.work * v.bytes() * half, list);
      }
    }
    for (index i = 0; i < n; ++i) task("restart", s.work * v.bytes(), v.in(depth * n + i), v.inout(i));
  }
}

// Contraction of block-sparse tensors: three tenths of the blocks of both factors exist, and they differ in size.
// Nothing waits, and the blocks of the result are first written by the products.
void contraction(const sizes& s) {
  constexpr double density = 0.3;
  std::mt19937 random = numbers(131);
  const index n = side_of(s.blocks);
  std::vector<double> extents(n);
  for (double& extent : extents) extent = 0.4 + 1.2 * unit(random);
  std::vector<owned> a(n * n), b(n * n), c(n * n);
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j < n; ++j) {
      const auto bytes = static_cast<index>(real(s.bytes) * extents[i] * extents[j]);
      const auto make = [&](owned& at, const char* type) {
        if (unit(random) >= density) return;
        at = make_blocks(1, bytes);
        task(type, 0.1 * at->bytes(), at->out(0));
      };
      make(a[i * n + j], "a");
      make(b[i * n + j], "b");
      c[i * n + j] = make_blocks(1, bytes);
    }
  }
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        const blocks& sum = *c[i * n + j];
        for (index k = 0; k < n; ++k) {
          const owned &left = a[i * n + k], &right = b[k * n + j];
          if (left && right) {
            task("contract", s.work * sum.bytes() * extents[k], left->in(0), right->in(0), sum.inout(0));
          }
        }
      }
    }
  }
}

// A sparse matrix times a dense one of six panels. The lengths of the rows follow a power law; pieces of a long row are
// blocks of their own, whose products are added to the same block. One task reads the whole matrix.
void sparse_times_dense(const sizes& s) {
  constexpr index panels = 6, longest = 40, piece_length = 4;
  struct piece {
    owned data;
    index row, column;
  };
  std::mt19937 random = numbers(151);
  const index n = s.blocks;
  std::vector<piece> pieces;
  for (index i = 0; i < n; ++i) {
    const auto length = std::min<index>(longest, static_cast<index>(1 / std::pow(1 - unit(random), 0.9)));
    for (index k = 0; k < length; k += piece_length) {
      const index span = std::min<index>(piece_length, length - k);
      owned data = make_blocks(1, s.bytes * span / piece_length);
      const double u = unit(random), v = unit(random);
      pieces.push_back({std::move(data), i, static_cast<index>(real(n) * u * v)});
    }
  }
  const blocks b(n * panels, s.bytes / 8), c(n * panels, s.bytes / 8);
  kith::access_list all;
  for (const piece& p : pieces) all.add(p.data->out(0));
  task("read_matrix", 0.02 * real(s.bytes) * static_cast<double>(pieces.size()), all);
  fill(b, n * panels, "random");
  fill(c, n * panels, "zero");
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (const piece& p : pieces) {
      for (index k = 0; k < panels; ++k) {
        task("multiply", s.work * p.data->bytes(), p.data->in(0), b.in(p.column * panels + k),
             c.inout(p.row * panels + k));
      }
    }
    for (index i = 0; i < n * panels; ++i) task("normalise", s.work * c.bytes(), c.inout(i), b.out(i));
  }
}

// Cholesky factorisations of STEPS matrices of different sizes, one created after the other. One task fills a matrix,
// and nothing waits. BLOCKS tiles or more in all.
void batched_cholesky(const sizes& s) {
  std::mt19937 random = numbers(179);
  std::vector<grid> matrices;
  for (index m = 0; m < s.steps; ++m) {
    const index n = 3 + below(random, static_cast<index>(std::sqrt(2.0 * real(s.blocks) / real(s.steps))) * 2);
    const grid& a = matrices.emplace_back(n, s.bytes);
    kith::access_list all;
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j <= i; ++j) all.add(a.out(i, j));
    }
    task("make", 0.03 * a.bytes() * real(n * n / 2), all);
    for (index k = 0; k < n; ++k) {
      task("potrf", s.work * a.bytes() / 3, a.inout(k, k));
      for (index i = k + 1; i < n; ++i) task("trsm", s.work * a.bytes(), a.in(k, k), a.inout(i, k));
      for (index i = k + 1; i < n; ++i) {
        task("syrk", s.work * a.bytes(), a.in(i, k), a.inout(i, i));
        for (index j = k + 1; j < i; ++j) {
          task("gemm", 2 * s.work * a.bytes(), a.in(i, k), a.in(j, k), a.inout(i, j));
        }
      }
    }
  }
}

constexpr kind all_kinds[] = {
    {"batched_cholesky", batched_cholesky},
    {"contraction", contraction},
    {"gmres", gmres},
    {"h_matrix", h_matrix},
    {"ldlt", ldlt},
    {"spmm", sparse_times_dense},
    {"supernodal", supernodal},
};

}  // namespace

std::span<const kind> linear_algebra() noexcept { return all_kinds; }

}  // namespace kith::bench
