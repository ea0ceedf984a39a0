#include "paper/rip_printed.hpp"

#include <kith/error.hpp>

namespace kith::tools {

namespace {

constexpr rip_place places[] = {{"rip-uv100", "altix-uv100", "hub 1"},
                                {"rip-bullion-4", "bullion-s16-4", "switch"},
                                {"rip-bullion-8", "bullion-s16-8", "switch"},
                                {"rip-bullion-16", "bullion-s16-16", "switch"}};

struct printed {
  std::string_view id, series, metric, x;
  double value;
};

constexpr printed all[] = {
    // Section 6.1.
    {"rip-uv100", "rip-dep", "speedup", "mean", 1.03},
    {"rip-uv100", "rip-mw", "speedup", "mean", 0.84},
    {"rip-uv100", "socket", "speedup", "mean", 1.13},
    {"rip-uv100", "dfifo", "speedup", "mean", 0.45},
    {"rip-uv100", "dfifo", "speedup", "inversion", 1.10},
    {"rip-uv100", "rip-dep", "speedup", "jacobi", 1.19},
    {"rip-uv100", "rip-mw", "speedup", "jacobi", 1.18},
    // Section 6.2.1.
    {"rip-bullion-4", "rip-dep", "speedup", "mean", 1.08},
    {"rip-bullion-4", "socket", "speedup", "mean", 1.13},
    {"rip-bullion-4", "dfifo", "speedup", "mean", 0.51},
    {"rip-bullion-4", "rip-dep", "speedup", "cg_tasks", 1.05},
    {"rip-bullion-4", "rip-dep", "speedup", "gauss_seidel", 1.05},
    {"rip-bullion-4", "rip-dep", "speedup", "red_black", 1.09},
    {"rip-bullion-4", "rip-dep", "speedup", "jacobi", 1.15},
    {"rip-bullion-4", "rip-dep", "speedup", "nstream", 1.45},
    {"rip-bullion-4", "socket", "speedup", "jacobi", 1.09},
    // Section 6.2.2, and 6.3.
    {"rip-bullion-8", "rip-dep", "speedup", "mean", 1.16},
    {"rip-bullion-8", "socket", "speedup", "mean", 1.16},
    {"rip-bullion-8", "rip-dep", "speedup", "gauss_seidel", 1.26},
    {"rip-bullion-8", "rip-dep", "speedup", "red_black", 1.18},
    {"rip-bullion-8", "rip-dep", "speedup", "integral_histogram", 0.91},
    {"rip-bullion-8", "rip-dep", "traffic_reduction", "mean", 2.28},
    {"rip-bullion-8", "socket", "traffic_reduction", "mean", 3.08},
    {"rip-bullion-8", "rip-dep", "traffic_reduction", "gauss_seidel", 1.74},
    {"rip-bullion-8", "socket", "traffic_reduction", "gauss_seidel", 1.99},
    {"rip-bullion-8", "rip-dep", "traffic_reduction", "integral_histogram", 3.00},
    {"rip-bullion-8", "socket", "traffic_reduction", "integral_histogram", 4.79},
    // Section 6.2.3.
    {"rip-bullion-16", "rip-dep", "speedup", "mean", 1.12},
    {"rip-bullion-16", "socket", "speedup", "mean", 1.19},
    {"rip-bullion-16", "rip-dep", "speedup", "jacobi", 1.43},
    {"rip-bullion-16", "rip-dep", "speedup", "nstream", 1.52},
    // Section 6.5, figure 8.
    {"rip-migration", "rip-mw+pm", "speedup", "qr", 1.12},
    // Table 1.
    {"rip-uv100", "dfifo", "load_balance_percent", "mean", 96.1},
    {"rip-uv100", "dfifo", "load_balance_percent", "min", 78.7},
    {"rip-uv100", "dfifo", "load_balance_percent", "max", 99.5},
    {"rip-uv100", "dfifo", "overhead_percent", "mean", 1.77},
    {"rip-uv100", "dfifo", "overhead_percent", "min", 0.02},
    {"rip-uv100", "dfifo", "overhead_percent", "max", 8.07},
    {"rip-uv100", "rip-mw", "load_balance_percent", "mean", 90.8},
    {"rip-uv100", "rip-mw", "load_balance_percent", "min", 85.5},
    {"rip-uv100", "rip-mw", "load_balance_percent", "max", 97.7},
    {"rip-uv100", "rip-mw", "overhead_percent", "mean", 3.02},
    {"rip-uv100", "rip-mw", "overhead_percent", "min", 0.05},
    {"rip-uv100", "rip-mw", "overhead_percent", "max", 6.33},
    {"rip-uv100", "rip-mw", "partition_percent", "mean", 1.18},
    {"rip-uv100", "rip-mw", "partition_percent", "min", 0.01},
    {"rip-uv100", "rip-mw", "partition_percent", "max", 3.44},
    {"rip-uv100", "rip-dep", "load_balance_percent", "mean", 88.7},
    {"rip-uv100", "rip-dep", "load_balance_percent", "min", 79.7},
    {"rip-uv100", "rip-dep", "load_balance_percent", "max", 94.9},
    {"rip-uv100", "rip-dep", "overhead_percent", "mean", 3.02},
    {"rip-uv100", "rip-dep", "overhead_percent", "min", 0.03},
    {"rip-uv100", "rip-dep", "overhead_percent", "max", 13.44},
    {"rip-uv100", "rip-dep", "partition_percent", "mean", 0.030},
    {"rip-uv100", "rip-dep", "partition_percent", "min", 0.000},
    {"rip-uv100", "rip-dep", "partition_percent", "max", 0.089},
    {"rip-uv100", "socket", "load_balance_percent", "mean", 92.9},
    {"rip-uv100", "socket", "load_balance_percent", "min", 86.9},
    {"rip-uv100", "socket", "load_balance_percent", "max", 99.2},
    {"rip-uv100", "socket", "overhead_percent", "mean", 3.84},
    {"rip-uv100", "socket", "overhead_percent", "min", 0.03},
    {"rip-uv100", "socket", "overhead_percent", "max", 23.28},
    {"rip-uv100", "dep", "load_balance_percent", "mean", 86.5},
    {"rip-uv100", "dep", "load_balance_percent", "min", 69.9},
    {"rip-uv100", "dep", "load_balance_percent", "max", 98.3},
    {"rip-uv100", "dep", "overhead_percent", "mean", 3.12},
    {"rip-uv100", "dep", "overhead_percent", "min", 0.04},
    {"rip-uv100", "dep", "overhead_percent", "max", 12.71},
};

}  // namespace

const rip_place& rip_place_of(std::string_view id) {
  for (const rip_place& p : places) {
    if (id == p.id) return p;
  }
  throw error("no configuration of the RIP paper is called '" + std::string(id) + "'");
}

std::optional<double> printed_in_rip(std::string_view id, std::string_view series, std::string_view metric,
                                     std::string_view x) {
  for (const printed& p : all) {
    if (p.id == id && p.series == series && p.metric == metric && p.x == x) return p.value;
  }
  return {};
}

std::string said_in_rip(std::string_view id, std::string_view series, std::string_view metric, std::string_view x) {
  if (id == "rip-bullion-8" && series == "dfifo" && metric == "traffic_reduction" && x == "mean")
    return "172.2 times as much as rip-dep";                                              // the paper's introduction
  if (series == "socket" && metric == "speedup" && x == "inversion") return "below dep";  // section 6.2.3
  if (id == "rip-migration" && series.ends_with("+pm") && metric == "speedup" && x == "mean")
    return "no benefit in general, and in many cases detrimental";  // section 6.5
  return {};
}

}  // namespace kith::tools
