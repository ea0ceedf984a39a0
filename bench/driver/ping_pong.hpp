// The state of the machine: the time of a cache line from one core to another, and the speed of one core. A virtual
// machine's cores move between cache complexes within a second, without notice.
#pragma once

#include <string_view>
#include <vector>

namespace kith::bench {

enum class distance { near, mid, far };  // one way: below 35 ns, below 100 ns, and the rest
std::string_view name_of(distance);
distance distance_of(double one_way_ns);

struct machine_state {
  double one_way_ns;    // of a cache line, between the first two cores; 0 with one core
  double iteration_ns;  // of the kernel, the better of the two cores
  distance kind() const { return distance_of(one_way_ns); }
};

/// The cores this process may use, lowest first.
std::vector<int> allowed_cores();
/// Takes about 10 ms, on the first two of `cores`.
machine_state measure_machine(const std::vector<int>& cores);

}  // namespace kith::bench
