#include "places/finish_table.hpp"

#include "base/invariant.hpp"

#include <algorithm>
#include <utility>

namespace kith::distributed {

finish_id finish_table::open() {
  const finish_id f{here_, ++opened_};
  records_[f] = {.open = 1, .edges = 0, .parent = here_, .root = true, .failed = {}, .unanswered = {}};
  return f;
}

void finish_table::add(finish_id f) {
  const auto at = records_.find(f);
  KITH_INVARIANT(at != records_.end(), "F1: something of the finish is open");
  ++at->second.open;
}

void finish_table::add_edge(finish_id f) {
  add(f);
  most_edges_ = std::max(most_edges_, ++records_.at(f).edges);
}

void finish_table::sent(finish_id f, std::uint32_t to) {
  if (survives_losses_) ++records_.at(f).unanswered[to];
}

void finish_table::answered(finish_id f, std::uint32_t from) {
  if (!survives_losses_) return;
  const auto found = records_.find(f);
  KITH_INVARIANT(found != records_.end() && found->second.unanswered.contains(from), "what is answered was sent");
  const auto at = found->second.unanswered.find(from);
  if (--at->second == 0) found->second.unanswered.erase(at);
}

std::vector<std::pair<finish_id, std::uint64_t>> finish_table::lose(std::uint32_t place) {
  std::vector<std::pair<finish_id, std::uint64_t>> lost;
  for (auto& [f, r] : records_) {
    const auto at = r.unanswered.find(place);
    if (at == r.unanswered.end()) continue;
    lost.emplace_back(f, at->second);
    r.unanswered.erase(at);
  }
  return lost;
}

bool finish_table::arrive(finish_id f, std::uint32_t from) {
  const auto [at, engaged] = records_.try_emplace(f);
  // The sender's activity keeps the finish open, so that its home still has a record.
  KITH_INVARIANT(!engaged || f.home != here_ || survives_losses_,
                 "F2: the home of a finish is engaged while it is open");
  if (engaged) at->second.parent = from;
  ++at->second.open;
  return engaged;
}

std::optional<finish_table::ended> finish_table::remove(finish_id f, std::optional<failure> why) {
  const auto at = records_.find(f);
  KITH_INVARIANT(at != records_.end() && at->second.open > 0, "F1: something of the finish is open");
  record& r = at->second;
  if (why && (!r.failed || (r.failed->cancelled && !why->cancelled))) r.failed = std::move(why);
  if (--r.open > 0) return {};
  ended over{r.root, r.parent, std::move(r.failed)};
  records_.erase(at);
  return over;
}

}  // namespace kith::distributed
