// kith::allocate() and related functions: they find the runtime and call it.
#include <kith/memory.hpp>

#include "api/implementation.hpp"

#include <utility>

namespace kith {

namespace {

native::engine& engine_of(const runtime& r, const char* call) {
  native::engine& e = runtime::implementation::engine_of(r);
  e.refuse_inherited(call);
  return e;
}

thread_local runtime* allocation_runtime = nullptr;  // of the innermost allocation_scope

}  // namespace

void* allocate(std::size_t bytes, distribution how) {
  if (native::worker* const w = native::worker::current()) return w->engine.allocate(bytes, how);
  if (allocation_runtime != nullptr) return engine_of(*allocation_runtime, "kith::allocate()").allocate(bytes, how);
  return allocate_alone(bytes, how).at->address();
}
void* allocate(runtime& rt, std::size_t bytes, distribution how) {
  return engine_of(rt, "kith::allocate()").allocate(bytes, how);
}

allocation_scope::allocation_scope(runtime& rt) noexcept : before_(std::exchange(allocation_runtime, &rt)) {}
allocation_scope::~allocation_scope() { allocation_runtime = before_; }

void deallocate(void* memory) { release_block(memory); }

void reset_distribution(runtime& rt) { engine_of(rt, "kith::reset_distribution()").memory.reset(); }

void forget(const void* memory, std::size_t bytes) {
  detail::bytes_of(memory, bytes, 1);
  block_table::of_process().tell(memory, bytes, nullptr);
}

std::vector<std::uint64_t> known_bytes_on_nodes(runtime& rt, const void* memory, std::size_t bytes) {
  return engine_of(rt, "kith::known_bytes_on_nodes()").memory.known_bytes(memory, detail::bytes_of(memory, bytes, 1));
}

std::optional<page_census> count_pages(runtime& rt, const void* memory, std::size_t bytes) {
  return engine_of(rt, "kith::count_pages()").memory.count(memory, detail::bytes_of(memory, bytes, 1));
}

}  // namespace kith
