// The interconnect: links as servers, and the route between each pair of nodes.
//
// A link carries `gbs` in each direction. A transfer occupies every link of its route. Routes are shortest paths; the
// order of the description decides ties. They are found once, except on a machine with host_grid, whose nodes here are
// its hosts: those routes are found when they are used. Both ways give the same routes.
#pragma once

#include "engine/sim/program.hpp"
#include "machine/model.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::sim {

/// Picoseconds for bytes at a rate. Uses integers, so the result is the same on every machine.
class rate {
 public:
  rate() = default;
  explicit rate(double gbs) : ps_per_mib_(gbs <= 0 ? 0 : static_cast<std::uint64_t>(1048576.0 * 1000 / gbs)) {}
  picoseconds operator()(std::uint64_t bytes) const noexcept { return bytes * ps_per_mib_ >> 20; }

 private:
  std::uint64_t ps_per_mib_ = 0;  // 0: takes no time
};

/// Serves one request after the other.
struct server {
  picoseconds free_at = 0;
  rate time_of;
  /// When the server is done with `bytes` that arrive at `now`.
  picoseconds serve(picoseconds now, std::uint64_t bytes) noexcept {
    free_at = (free_at > now ? free_at : now) + time_of(bytes);
    return free_at;
  }
};

class interconnect {
 public:
  /// Throws kith::error if a node cannot be reached.
  explicit interconnect(const machine_model&);

  struct link {
    std::string from, to;
    sim::server server;
    std::uint64_t data = 0, control = 0;  // bytes
  };
  /// Valid until the next call.
  std::span<const std::uint32_t> route(node_id from, node_id to) const noexcept {
    if (hosts_) return route_in_grid(from, to);
    const std::size_t i = from.index() * nodes_ + to.index();
    return {routes_.data() + first_[i], routes_.data() + first_[i + 1]};
  }
  /// Moves data; returns when it arrives. Takes no time without `contended`.
  picoseconds carry(node_id from, node_id to, std::uint64_t bytes, picoseconds now, bool contended) noexcept {
    picoseconds there = now;
    if (from == to) return there;  // the most frequent case if data is placed well
    for (std::uint32_t l : route(from, to)) {
      links[l].data += bytes;
      if (contended) there = std::max(there, links[l].server.serve(now, bytes));
    }
    return there;
  }
  void notify(node_id from, node_id to, std::uint64_t bytes) noexcept {
    for (std::uint32_t l : route(from, to)) links[l].control += bytes;
  }

  std::vector<link> links;

 private:
  void join_hosts(const host_grid&);
  std::span<const std::uint32_t> route_in_grid(node_id from, node_id to) const noexcept;

  std::size_t nodes_;
  std::vector<std::uint32_t> first_, routes_;
  // For hosts in a grid: the links from each of them, in the order of neighbours_of().
  std::optional<grid> hosts_;
  std::vector<std::array<std::uint32_t, 6>> outgoing_;
  mutable std::vector<std::uint32_t> found_;  // as long as the longest route
};

}  // namespace kith::sim
