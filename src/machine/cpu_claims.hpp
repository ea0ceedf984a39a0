// Which CPUs the workers of other runtimes are bound to: of this process and of others, without a file.
//
// A claim is a socket with a name that says the CPU, in the name space that has no files (unix(7), "abstract"). The system
// lets one socket have a name and takes it back when its process ends, however it ends. Processes in different network
// name spaces (containers, mostly) do not see each other's claims.
#pragma once

#include <vector>

namespace kith {

class cpu_claims {
 public:
  cpu_claims() = default;
  ~cpu_claims() { release(); }
  cpu_claims(const cpu_claims&) = delete;
  cpu_claims& operator=(const cpu_claims&) = delete;

  /// True if nobody else has claimed the CPU at this level: 0 for its first user, 1 for its second, and so on. True also
  /// where the system gives no such sockets: nothing is known then.
  bool take(int cpu, int level);
  void release() noexcept;

 private:
  std::vector<int> sockets_;
};

}  // namespace kith
