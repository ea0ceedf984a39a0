// The list of programs. A new program is one file, which defines its entry, and two lines here and in list.cpp.
#pragma once

#include "app.hpp"
#include "places_app.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace kith::apps {

extern const entry heat_entry;
extern const entry life_entry;
extern const entry fdtd_entry;
extern const entry cg_entry;
extern const entry mg_entry;
extern const entry sw_entry;
extern const entry swn2_entry;
extern const entry cholesky_entry;
extern const entry pagerank_entry;
extern const entry web_entry;
extern const entry nqueens_entry;
extern const entry random_dag_entry;
extern const entry gauss_seidel_entry;
extern const entry red_black_entry;
extern const entry jacobi_entry;
extern const entry nstream_entry;
extern const entry qr_entry;
extern const entry inversion_entry;
extern const entry integral_histogram_entry;
extern const entry cg_tasks_entry;
extern const entry map_entry;
extern const entry vecmul_entry;
extern const entry reduction_entry;
extern const entry matmul_entry;
extern const entry sparse_lu_entry;
extern const entry panels_entry;
extern const entry kmeans_entry;
extern const entry kmeans_list_entry;
extern const entry sharded_entry;
extern const entry routing_entry;
extern const entry refinement_entry;
extern const entry fib_entry;
extern const entry mergesort_entry;
extern const entry strassen_entry;
extern const entry uts_entry;

extern const places_entry places_heat_entry;
extern const places_entry places_md_entry;
extern const places_entry places_cg_entry;

std::span<const entry* const> app_list();
/// The programs that run on places.
std::span<const places_entry* const> places_app_list();
/// The descriptions of all programs, for lists and help. Those on places cannot be made from them.
std::vector<const entry*> app_descriptions();

/// Also describes programs on places. Throws kith::error for an unknown name, with the names that exist, and for a
/// program that is not in this build.
const entry& find_app(std::string_view name);

/// Null if no program on places has that name.
const places_entry* find_places_app(std::string_view name);

/// The usual value of an entry's `make`.
template <class App>
std::unique_ptr<app> make(const arguments& a) {
  return std::make_unique<App>(a);
}

}  // namespace kith::apps
