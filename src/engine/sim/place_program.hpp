// Makes a program with places task by task, without a recording: what the programs of the ADS paper do, at its sizes.
#pragma once

#include "engine/sim/program.hpp"

#include <cstdint>

namespace kith::sim {

/// Calls follow the order of the program: a task after its creator, and its accesses and waits in their order.
class place_program {
 public:
  explicit place_program(int places);

  /// The function of run(), at place 0.
  static constexpr std::int32_t main = 0;
  int places() const noexcept { return places_; }
  int place_of(std::int32_t task) const noexcept { return place_of_[static_cast<std::size_t>(task)]; }

  struct given {
    std::int32_t creator = main;
    std::uint32_t scope = 0;
    int place = 0;
    double work_ns = 0;               // before it creates tasks, which then must create none
    std::uint32_t message_bytes = 0;  // of its arguments
  };
  std::int32_t task(const given&);
  /// A new scope: tasks that are waited for together.
  std::uint32_t scope() noexcept { return scopes_++; }
  void wait(std::int32_t task, std::uint32_t scope);
  std::uint32_t region(std::uint64_t bytes);
  /// Notes that the last task touches `bytes` bytes of the region.
  void touches(std::uint32_t region, bool writes, std::uint64_t bytes);
  /// Notes that the last task needs `bytes` bytes that task `before` writes.
  void needs(std::int32_t before, std::uint64_t bytes);

  program finish();

 private:
  int places_;
  recording made_;
  std::vector<std::uint16_t> place_of_;
  std::vector<std::uint32_t> message_bytes_;
  std::uint32_t scopes_ = 0;
  std::uint64_t now_ = 0, next_address_ = 4096;
};

}  // namespace kith::sim
