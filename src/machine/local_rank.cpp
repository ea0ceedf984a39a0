#include "machine/local_rank.hpp"

#include "machine/slurm.hpp"
#include "machine/text.hpp"

namespace kith {

namespace {

struct launcher {
  const char* rank;
  const char* ranks;
};

// Several may be set if one launcher starts another; the innermost comes first.
constexpr launcher launchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},  // Open MPI
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},    // MVAPICH 2
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},                        // MPICH, Intel MPI, MVAPICH (Hydra)
    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},                      // HPE Cray
    {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"},                          // others over PMI
    {"JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"},      // IBM's jsrun
};

}  // namespace

std::optional<local_rank> read_local_rank(const variables& lookup, std::vector<std::string>& notes) {
  const auto made_of = [&](const char* from, const std::string& rank, const std::string& ranks,
                           std::optional<std::int64_t> count) -> std::optional<local_rank> {
    const std::optional<std::int64_t> number = text::number(rank);
    if (number && count && *number >= 0 && *number < *count && *count <= most_workers)
      return local_rank{static_cast<int>(*number), static_cast<int>(*count), from};
    notes.push_back(std::string(from) + "=" + rank + " of " + (ranks.empty() ? "?" : ranks) +
                    ": expected a rank below the number of ranks on this machine; ignored");
    return std::nullopt;
  };
  for (const launcher& l : launchers) {
    const std::optional<std::string> rank = lookup(l.rank), ranks = lookup(l.ranks);
    if (rank && ranks) return made_of(l.rank, *rank, *ranks, text::number(*ranks));
  }
  // Slurm gives it in a list, and only under srun: a batch script also has a SLURM_LOCALID, but is no rank.
  const std::optional<std::string> rank = lookup("SLURM_LOCALID"), list = lookup("SLURM_STEP_TASKS_PER_NODE");
  if (!rank || !list) return std::nullopt;
  const std::optional<int> tasks = slurm_tasks_here(lookup);
  return made_of("SLURM_LOCALID", *rank, *list, tasks ? std::optional<std::int64_t>(*tasks) : std::nullopt);
}

}  // namespace kith
