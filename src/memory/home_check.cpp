#include "memory/home_check.hpp"

#include "base/address.hpp"
#include "memory/numa_calls.hpp"
#include "memory/pages.hpp"

namespace kith {

home_check::home_check(const memory_space& memory)
    : memory_(memory),
      asks_(memory.nodes() > 1 && !memory.pretended() && !memory.dry() && numa::process_rights().where == 0) {}

home_check::result home_check::look() {
  result found;
  pages_.clear();
  for (const region* r : waiting_) {  // the page in the middle, because neighbours may share those at the ends
    const auto at = reinterpret_cast<std::uintptr_t>(r->address) + r->bytes.load(relaxed) / 2;
    pages_.push_back(at_address(at / page_size() * page_size()));
  }
  nodes_.assign(pages_.size(), -1);
  if (numa::where(pages_, nodes_) == 0) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      region& r = *waiting_[i];
      std::int32_t home = r.home.load(relaxed);
      const node_id at = nodes_[i] < 0 ? node_id() : memory_.home_of_page_on(nodes_[i]);
      if (!at || home < 0) continue;  // untouched, or given back meanwhile
      ++found.asked;
      if (at.value != home && r.home.compare_exchange_strong(home, at.value, relaxed)) ++found.elsewhere;
    }
  }
  waiting_.clear();
  return found;
}

}  // namespace kith
