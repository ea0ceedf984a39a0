// The identity of each task, stored beside the slots; kept only if it is needed.
//
// The creator writes it before any other thread sees the task. Any thread that may read the task may read it.
#pragma once

#include "task/slots.hpp"

#include <cstdint>

namespace kith {

/// Gives the identity of a task, which is the same in every run.
class identity_source {
 public:
  identity_source() = default;
  virtual ~identity_source() = default;
  identity_source(const identity_source&) = delete;
  identity_source& operator=(const identity_source&) = delete;
  virtual std::uint64_t identity_of(const task&) const = 0;
};

/// Identities by slot, in a reserved range of addresses. Only pages for slots in use take memory.
class slot_identities final : public identity_source {
 public:
  explicit slot_identities(const slot_space& slots) : space_(slots) {}
  ~slot_identities() override;

  /// Must come before set(). Throws kith::error if there is no address space.
  void reserve();
  void set(slot_index i, std::uint64_t identity) noexcept { at_[i] = identity; }
  std::uint64_t identity_of(const task& t) const override { return at_[space_.index_of(t)]; }

 private:
  const slot_space& space_;
  std::uint64_t* at_ = nullptr;
};

}  // namespace kith
