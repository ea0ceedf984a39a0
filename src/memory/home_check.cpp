#include "memory/home_check.hpp"

#include "base/address.hpp"
#include "memory/numa_calls.hpp"
#include "memory/pages.hpp"

namespace kith {

home_check::home_check(const memory_space& memory)
    : memory_(memory),
      asks_(memory.nodes() > 1 && !memory.pretended() && !memory.dry() && numa::process_rights().where == 0) {}

void home_check::ask() {
  pages_.clear();
  for (const region* r : waiting_) {  // the page in the middle, because neighbours may share those at the ends
    const auto at = reinterpret_cast<std::uintptr_t>(r->address) + r->bytes.load(relaxed) / 2;
    pages_.push_back(at_address(at / page_size() * page_size()));
  }
  nodes_.assign(pages_.size(), -1);
  if (numa::where(pages_, nodes_) != 0) nodes_.assign(pages_.size(), -1);
}

}  // namespace kith
