// Kinds of machine learning: training, inference, neighbours. Sizes mean the same as in kinds.cpp, unless a comment
// says otherwise.
#include "irregular.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kith::bench {
namespace {

// Training of 24 layers by microbatches: forward and backward through all layers, gradients that are added in any
// order, then an update of each layer. BLOCKS is layers x microbatches; nothing waits.
void microbatches(const sizes& s) {
  constexpr index layers = 24;
  const index batches = s.blocks / layers;
  const blocks weights(layers, s.bytes * 2), gradients(layers, s.bytes * 2), moments(layers, s.bytes * 4);
  const blocks activations((layers + 1) * batches, s.bytes), errors(batches, s.bytes);
  const double each = activations.bytes();
  for (index l = 0; l < layers; ++l) task("init", 0.1 * weights.bytes(), weights.out(l), moments.out(l));
  for (index step = 0; step < s.steps; ++step) {
    for (index l = 0; l < layers; ++l) task("zero", 0.02 * gradients.bytes(), gradients.out(l));
    for (index m = 0; m < batches; ++m) {
      task("input", 0.1 * each, activations.out(m));
      for (index l = 0; l < layers; ++l) {
        task("forward", s.work * each, weights.in(l), activations.in(l * batches + m),
             activations.out((l + 1) * batches + m));
      }
      task("loss", 0.2 * each, activations.in(layers * batches + m), errors.out(m));
      for (index l = layers; l-- > 0;) {
        task("backward", 2 * s.work * each, weights.in(l), activations.in(l * batches + m), errors.inout(m),
             gradients.commutative(l));
      }
    }
    for (index l = 0; l < layers; ++l) {
      task("adam", 0.2 * weights.bytes(), gradients.in(l), moments.inout(l), weights.inout(l));
    }
  }
}

// Data-parallel training: 16 replicas read the same weights, and have activations of their own. The gradients of each
// layer are summed over the replicas by pairs, and update it. BLOCKS/32 layers; waits after each step.
void replicas(const sizes& s) {
  constexpr index count = 16;
  const index layers = std::max<index>(4, s.blocks / count / 2);
  const blocks weights(layers, s.bytes), gradients(layers * count, s.bytes);
  const blocks activations(layers * count, s.bytes / 2), errors(count, s.bytes / 2);
  const double each = activations.bytes();
  const auto at = [](index layer, index replica) { return layer * count + replica; };
  for (index l = 0; l < layers; ++l) task("init", 0.1 * weights.bytes(), weights.out(l));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index c = 0; c < count; ++c) {
      task("load", 0.2 * each, activations.out(at(0, c)));
      for (index l = 1; l < layers; ++l) {
        task("forward", s.work * each, weights.in(l), activations.in(at(l - 1, c)), activations.out(at(l, c)));
      }
      task("loss", 1000, activations.in(at(layers - 1, c)), errors.out(c));
      for (index l = layers; l-- > 0;) {
        task("backward", 2 * s.work * each, weights.in(l), activations.in(at(l, c)), errors.inout(c),
             gradients.out(at(l, c)));
      }
    }
    for (index l = layers; l-- > 0;) {
      for (index apart = 1; apart < count; apart *= 2) {
        for (index c = 0; c + apart < count; c += 2 * apart) {
          task("allreduce", 0.05 * gradients.bytes(), gradients.in(at(l, c + apart)), gradients.inout(at(l, c)));
        }
      }
      task("update", 0.1 * weights.bytes(), gradients.in(at(l, 0)), weights.inout(l));
    }
    kith::wait();
  }
}

// Decoding of BLOCKS sequences with six layers: a step reads the weights of each layer and the cached keys and values
// of the whole sequence, which grow. Sequences begin with different lengths and end at different times; the program
// waits after each step.
void kv_cache(const sizes& s) {
  constexpr index layers = 6;
  struct sequence {
    index end;
    std::vector<owned> cache;  // a block for each layer
  };
  std::mt19937 random = numbers(181);
  const blocks weights(layers, s.bytes * 16), hidden(s.blocks, 65536);
  const double each = s.work * real(s.bytes);
  for (index l = 0; l < layers; ++l) task("weights", 0.05 * weights.bytes(), weights.out(l));
  std::vector<sequence> all(s.blocks);
  for (index q = 0; q < s.blocks; ++q) {
    std::vector<owned>& cache = all[q].cache;
    all[q].end = 1 + s.steps / 2 + below(random, s.steps);
    const index prompt = 1 + below(random, 5);
    for (index k = 0; k < prompt; ++k) {
      cache.push_back(make_blocks(layers, s.bytes));
      for (index l = 0; l < layers; ++l) task("prefill", 2 * each, weights.in(l), cache.back()->out(l));
    }
    task("embed", 5000, hidden.out(q));
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index q = 0; q < s.blocks; ++q) {
      std::vector<owned>& cache = all[q].cache;
      if (step >= all[q].end) continue;
      if (step % 4 == 3) cache.push_back(make_blocks(layers, s.bytes));
      for (index l = 0; l < layers; ++l) {
        kith::access_list list;
        for (std::size_t k = 0; k + 1 < cache.size(); ++k) list.add(cache[k]->in(l));
        list.add(cache.back()->inout(l));
        list.add(hidden.inout(q));
        task("attend", each * static_cast<double>(cache.size()), list);
        task("mlp", each, weights.in(l), hidden.inout(q));
      }
    }
    kith::wait();
  }
}

// A graph of nearest neighbours by descent: blocks of points are compared with others, from all over in the first round
// and from half as far in each later one. A comparison changes the lists of both, in any order. Waits after each round.
void knn_graph(const sizes& s) {
  std::mt19937 random = numbers(107);
  const index n = s.blocks;
  const blocks points(n, s.bytes), lists(n, s.bytes / 4);
  for (index i = 0; i < n; ++i) task("load", 0.1 * points.bytes(), points.out(i));
  for (index i = 0; i < n; ++i) task("start", 0.05 * lists.bytes(), points.in(i), lists.out(i));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const index reach = std::max<index>(4, n >> std::min<index>(step, 62));
    for (index i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) {
        const index j = (i + 1 + below(random, reach)) % n;
        if (j == i) continue;
        task("join", s.work * points.bytes(), points.in(i), points.in(j), lists.commutative(i), lists.commutative(j));
      }
    }
    kith::wait();
  }
}

constexpr kind all_kinds[] = {
    {"knn_graph", knn_graph}, {"kv_cache", kv_cache}, {"microbatches", microbatches}, {"replicas", replicas}};

}  // namespace

std::span<const kind> machine_learning() noexcept { return all_kinds; }

}  // namespace kith::bench
