// kith::barrier, broadcast and all_reduce.
#include <kith/collectives.hpp>

#include "places/place.hpp"
#include "places/place_of_caller.hpp"

#include <climits>

namespace kith::detail {

namespace {

using distributed::collective;

void take_part(const char* call, const collective& c) {
  if (c.count > INT_MAX)
    throw error(std::string(call) + ": " + std::to_string(c.count) + " elements; expected at most 2^31 - 1");
  distributed::caller_of(call).at->take_part(call, c);
}

collective::element element_of(std::size_t size, int kind) {
  using enum collective::element;
  const bool wide = size == 8;
  return kind == 2 ? (wide ? f64 : f32) : kind == 1 ? (wide ? u64 : u32) : (wide ? i64 : i32);
}

}  // namespace

void barrier() { take_part("barrier()", {}); }

void broadcast(void* data, std::size_t bytes, int root) {
  if (root < 0 || root >= places()) {
    throw error("broadcast(): root = " + std::to_string(root) + "; expected a place from 0 to " +
                std::to_string(places() - 1));
  }
  take_part("broadcast()", {.what = collective::operation::broadcast,
                            .root = root,
                            .count = bytes,
                            .data = static_cast<std::byte*>(data),
                            .bytes = bytes});
}

void all_reduce(void* data, std::size_t count, std::size_t size, int kind, reduction how) {
  using enum collective::operation;
  take_part("all_reduce()", {.what = how == reduction::sum     ? sum
                                     : how == reduction::least ? least
                                                               : largest,
                             .element_type = element_of(size, kind),
                             .count = count,
                             .data = static_cast<std::byte*>(data),
                             .bytes = count * size});
}

}  // namespace kith::detail
