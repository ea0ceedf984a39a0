// The computing time of the parts of places_heat, places_md and places_cg, in nanoseconds: for dry recordings of these
// programs, and for their graphs without data (place_graphs.hpp).
//
// Each operation waits for the one before it (rates.hpp), as in the scalar code that the compilers of the paper's time
// made of these loops.
#pragma once

#include "rates.hpp"

#include <cstdint>

namespace kith::apps {

inline double nanoseconds_of(double operations) { return operations / static_cast<double>(rate::chained); }

/// Two multiplications and four additions for each cell, and as many loads and a store; these overlap.
inline double heat_work(std::int64_t cells) { return nanoseconds_of(6 * static_cast<double>(cells)); }

/// Fitted: 100 operations for each pair, a square root, sines and a cosine. Then the paper's run on a Power6 with 2
/// places takes the printed 189 s, if it has 32768 molecules.
inline double md_work(std::int64_t molecules, std::int64_t others) {
  return nanoseconds_of(100 * static_cast<double>(molecules * others));
}

/// Operations of CG for each element of a vector.
constexpr double cg_add_operations = 2, cg_update_operations = 6;
/// Entries of a row of NPB's matrix; some of them coincide.
inline std::int64_t cg_row_entries(std::int64_t nonzeros) { return (nonzeros + 1) * (nonzeros + 1); }
/// Operations for each row of a product with the matrix.
inline double cg_product_operations(std::int64_t nonzeros) { return 2 * static_cast<double>(cg_row_entries(nonzeros)); }

}  // namespace kith::apps
