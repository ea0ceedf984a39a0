// Runtimes on pretended machines, and their memory, for tests of where data is.
#pragma once

#include "memory/pages.hpp"

#include <kith/kith.hpp>

#include <cstddef>

namespace kith::test {

inline const std::size_t system_page = page_size();

inline runtime_options on(const char* machine, const char* policy = "dep", const char* memory = "system") {
  runtime_options o;
  o.machine = machine;
  o.policy = policy;
  o.memory = memory;
  return o;
}

/// Memory that is released at the end of the test.
class memory {
 public:
  memory(runtime& rt, std::size_t bytes, distribution how = {})
      : p_(static_cast<std::byte*>(allocate(rt, bytes, how))) {}
  ~memory() { deallocate(p_); }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  std::byte* get() const { return p_; }
  std::byte* page_of(std::size_t i) const { return p_ + i * system_page; }

 private:
  std::byte* p_;
};

}  // namespace kith::test
