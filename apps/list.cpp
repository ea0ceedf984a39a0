#include "list.hpp"

namespace kith::apps {

std::span<const entry* const> app_list() {
  static const entry* const all[] = {
      &heat_entry,
      &life_entry,
      &fdtd_entry,
#ifdef KITH_APPS_LAPACK
      &cholesky_entry,
      &qr_entry,
      &inversion_entry,
      &matmul_entry,
#endif
      &pagerank_entry,
      &nqueens_entry,
      &random_dag_entry,
      &sw_entry,
      &cg_entry,
      &mg_entry,
      &swn2_entry,
      &web_entry,
      &gauss_seidel_entry,
      &red_black_entry,
      &jacobi_entry,
      &nstream_entry,
      &integral_histogram_entry,
      &cg_tasks_entry,
      &map_entry,
      &vecmul_entry,
      &reduction_entry,
      &sparse_lu_entry,
      &panels_entry,
      &kmeans_entry,
      &kmeans_list_entry,
      &sharded_entry,
      &routing_entry,
      &refinement_entry,
      &fib_entry,
      &mergesort_entry,
      &strassen_entry,
      &uts_entry,
  };
  return all;
}

std::span<const places_entry* const> places_app_list() {
  static const places_entry* const all[] = {&places_heat_entry, &places_md_entry, &places_cg_entry};
  return all;
}

std::vector<const entry*> app_descriptions() {
  std::vector<const entry*> all(app_list().begin(), app_list().end());
  for (const places_entry* e : places_app_list()) all.push_back(&e->about);
  return all;
}

const places_entry* find_places_app(std::string_view name) {
  for (const places_entry* e : places_app_list()) {
    if (name == e->about.name) return e;
  }
  return nullptr;
}

const entry& find_app(std::string_view name) {
  std::string names;
  for (const entry* e : app_descriptions()) {
    if (name == e->name) return *e;
    names += (names.empty() ? "" : ", ") + std::string(e->name);
  }
#ifndef KITH_APPS_LAPACK
  if (name == "cholesky" || name == "qr" || name == "inversion" || name == "matmul") {
    throw error(std::string(name) +
                " needs OpenBLAS and LAPACKE, which this build did not find; install libopenblas-dev and "
                "liblapacke-dev and build again");
  }
#endif
  throw error("no program '" + std::string(name) + "'; there are: " + names);
}

}  // namespace kith::apps
