// Collectives of a place: tasks take part in them, the progress thread starts them and sees them end.
#include "places/place.hpp"

#include <cstring>

namespace kith::distributed {

void place::take_part(const char* call, const collective& c) {
  if (all_.one_group)
    throw error(std::string(call) + ": all workers are one group under cws; expected separate places");
  const auto mine = std::make_shared<part>();
  mine->what = c;
  if (c.bytes != 0) {  // copied: the caller may leave early (no stack, or a lost place)
    const auto data = std::make_shared<detail::byte_buffer>(c.data, c.data + c.bytes);
    mine->what.data = data->data();
    mine->what.owner = data;
  }
  {
    const std::lock_guard lock(guard_);
    refuse_if_lost();
    if (first_lost_) std::rethrow_exception(exception_of(*first_lost_));
    new_parts_.push_back(mine);
  }
  net_.ring();
  mine->ended.wait();
  if (mine->failed) std::rethrow_exception(exception_of(*mine->failed));
  if (mine->refused) throw error(std::string(call) + ": " + mine->refused->what(), mine->refused->kind());
  if (c.bytes != 0) std::memcpy(c.data, mine->what.data, c.bytes);
}

bool place::do_collectives() {
  std::vector<std::shared_ptr<part>> starting;
  {
    const std::lock_guard lock(guard_);
    starting.swap(new_parts_);
  }
  parts_.insert(parts_.end(), starting.begin(), starting.end());
  if (parts_.empty()) return false;
  try {
    for (const auto& p : starting) net_.start(p->what);
    std::uint64_t ended = net_.ended_collectives();
    while (parts_ended_ < ended) {
      parts_.front()->ended.complete();
      parts_.pop_front();
      if (++parts_ended_ == ended && !parts_.empty()) ended = net_.ended_collectives();  // throws what it held back
    }
  } catch (const error& e) {
    end_parts({}, &e);
  }
  return !starting.empty();
}

void place::end_parts(const std::optional<failure>& failed, const error* refused) {
  for (const auto& p : parts_) {
    p->failed = failed;
    if (refused != nullptr) p->refused.emplace(std::string(refused->what()), refused->kind());
    p->ended.complete();
  }
  parts_.clear();
}

}  // namespace kith::distributed
