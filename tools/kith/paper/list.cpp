#include "paper/reproduction.hpp"

namespace kith::tools {

namespace {

const std::vector<std::string> rip_programs{"cg_tasks", "gauss_seidel", "integral_histogram", "jacobi",
                                            "nstream",  "qr",           "red_black",          "inversion"};

const std::vector<std::string> ads_programs{"heat", "md"};
const std::vector<std::string> ads_shared_programs{"md", "heat", "cg"};

const std::vector<std::string> hardware_programs{"panels", "refinement", "sharded", "routing", "kmeans", "kmeans_list"};

}  // namespace

std::span<const reproduction> reproductions() {
  static const std::vector<reproduction> all = {
      {"nabbitc-cg", "NabbitC", "figures 6, 7, 8 for cg", speedups_by_cores, {"cg", "--paper"}},
      {"nabbitc-heat", "NabbitC", "figures 6, 7, 8 for heat", speedups_by_cores, {"heat", "--paper"}},
      {"nabbitc-fdtd", "NabbitC", "figures 6, 7, 8 for fdtd", speedups_by_cores, {"fdtd", "--paper"}},
      {"nabbitc-life", "NabbitC", "figures 6, 7, 8 for life", speedups_by_cores, {"life", "--paper"}},
      {"nabbitc-mg", "NabbitC", "figures 6, 7, 8 for mg", speedups_by_cores, {"mg", "--paper"}},
      {"nabbitc-uk-2002", "NabbitC", "figures 6, 7, 8 for PageRank", speedups_by_cores, {"web", "--graph", "uk-2002"}},
      {"nabbitc-twitter-2010",
       "NabbitC",
       "figures 6, 7, 8 for PageRank",
       speedups_by_cores,
       {"web", "--graph", "twitter-2010", "--local", "0", "--skew", "50"}},
      {"nabbitc-uk-2007-05",
       "NabbitC",
       "figures 6, 7, 8 for PageRank",
       speedups_by_cores,
       {"web", "--graph", "uk-2007-05"}},
      {"nabbitc-sw", "NabbitC", "figures 6, 7, 8 for Smith-Waterman", speedups_by_cores, {"sw", "--paper"}},
      {"nabbitc-swn2", "NabbitC", "figures 6, 7, 8 for Smith-Waterman", speedups_by_cores, {"swn2", "--paper"}},
      {"nabbitc-first-steal",
       "NabbitC",
       "figure 9: time to the first steal",
       first_steal_by_cores,
       {"heat", "--paper"}},
      {"nabbitc-bad-colors", "NabbitC", "table II", wrong_colors, {"bad"}},
      {"nabbitc-invalid-colors", "NabbitC", "table III", wrong_colors, {"invalid"}},
      {"nabbitc-ablations",
       "NabbitC",
       "what first steals, morphing and attempts are worth to heat",
       nabbitc_ablations,
       {"heat", "--paper"}},
      {"nabbitc-mg-ablations", "NabbitC", "the same for mg", nabbitc_ablations, {"mg", "--paper"}},
      {"nabbitc-swn2-ablations", "NabbitC", "the same for Smith-Waterman", nabbitc_ablations, {"swn2", "--paper"}},
      {"mir-opteron", "MIR", "section 3.3: distributions and policies on the Opteron", mir_opteron, {}},
      {"mir-ablations", "MIR", "what the parts of the numa policy, and of the model, are worth", mir_ablations, {}},
      {"mir-tilepro",
       "MIR",
       "section 3.2: home-cache scheduling on the TILEPro64",
       mir_tiles,
       {},
       {"map", "reduction", "vecmul", "sparse_lu"},
       1},
      {"rip-uv100", "RIP", "figure 5 and table 1: 3 x 8 cores", rip_on_machine, {}, rip_programs, 24},
      {"rip-bullion-4", "RIP", "figure 6a: 4 x 8 cores", rip_on_machine, {}, rip_programs, 24},
      {"rip-bullion-8", "RIP", "figures 6b and 7: 8 x 4 cores", rip_on_machine, {}, rip_programs, 24},
      {"rip-bullion-16", "RIP", "figure 6c: 16 x 18 cores", rip_on_machine, {}, rip_programs, 8},
      {"rip-migration", "RIP", "figure 8: 3 x 8 cores, with page migration", rip_migration, {}, rip_programs, 24},
      {"rip-readings", "RIP", "other readings of what the paper leaves open", rip_readings, {}, rip_programs, 8},
      {"hw-policies", "HW", "figures 9 to 14 from the same runs", hardware_figures, {}, hardware_programs, 3},
      {"hw-misses", "HW", "figures 9, 10: misses over FIFO", hardware_misses, {}, hardware_programs, 3},
      {"hw-traffic", "HW", "figure 11: network traffic over FIFO", hardware_traffic, {}, hardware_programs, 3},
      {"hw-power", "HW", "figure 12: power of the network over FIFO", hardware_power, {}, hardware_programs, 3},
      {"hw-speedup", "HW", "figure 13: speed-up over FIFO", hardware_speedup, {}, hardware_programs, 3},
      {"hw-kmeans",
       "HW",
       "figure 14: k-means on arrays and on lists",
       hardware_kmeans,
       {},
       {"panels", "kmeans", "kmeans_list"},
       3},
      {"hw-organisation",
       "HW",
       "figure 15: distributed deques over one global queue",
       hardware_organisation,
       {},
       hardware_programs,
       3},
      {"hw-latency", "HW", "figure 16: latency of the scheduling unit", hardware_latency, {}, hardware_programs, 3},
      {"hw-ablations", "HW", "what the policies' options are worth", hardware_ablations, {}, hardware_programs, 3},
      {"ads-scaling",
       "ADS",
       "figures 4 to 15: heat and molecular dynamics on clusters",
       ads_scaling,
       {},
       ads_programs,
       1},
      {"ads-cilk", "ADS", "figures 16 to 18: against Cilk and one global place", ads_cilk, {}, ads_shared_programs, 1},
      {"ads-power6",
       "ADS",
       "figures 19 to 21: time of steals and of looks at the buffer",
       ads_power6,
       {},
       ads_shared_programs,
       1},
      {"ads-beyond", "ADS", "not in the paper: heat on up to 65,536 places", ads_beyond, {}, {}, 1},
      {"ads-space", "ADS", "figures 22 to 24: space of the buffers and deques", ads_space, {}, ads_shared_programs, 1},
      {"rip-ablations", "RIP", "what its results rest on: 8 x 4 cores", rip_ablations, {}, rip_programs, 8},
  };
  return all;
}

}  // namespace kith::tools
