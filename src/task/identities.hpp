// The identity of each task, beside the slots: kept only where somebody asks for it.
//
// Written by the creator before anybody else sees the task, read by whoever may read the task.
#pragma once

#include "task/slots.hpp"

#include <cstdint>

namespace kith {

/// Tells tasks apart across runs.
class identity_source {
 public:
  identity_source() = default;
  virtual ~identity_source() = default;
  identity_source(const identity_source&) = delete;
  identity_source& operator=(const identity_source&) = delete;
  virtual std::uint64_t identity_of(const task&) const = 0;
};

/// By slot, in a reserved range of its own. Pages cost memory where tasks are.
class slot_identities final : public identity_source {
 public:
  explicit slot_identities(const slot_space& of) : space_(of) {}
  ~slot_identities() override;

  /// Before set(). Throws kith::error if there is no address space.
  void reserve();
  void set(slot_index i, std::uint64_t identity) noexcept { at_[i] = identity; }
  std::uint64_t identity_of(const task& t) const override { return at_[space_.index_of(t)]; }

 private:
  const slot_space& space_;
  std::uint64_t* at_ = nullptr;
};

}  // namespace kith
