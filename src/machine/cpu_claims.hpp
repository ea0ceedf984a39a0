// Claims on the CPUs that workers are bound to, shared by all runtimes of this and other processes, without a file.
//
// A claim is a socket whose name contains the CPU, in the abstract namespace, which has no files (unix(7)). The
// system allows only one socket for a name, and frees the name when the process ends, however it ends.
// Processes in different network namespaces (mostly containers) do not see each other's claims.
#pragma once

#include <vector>

namespace kith {

class cpu_claims {
 public:
  cpu_claims() = default;
  ~cpu_claims() { release(); }
  cpu_claims(const cpu_claims&) = delete;
  cpu_claims& operator=(const cpu_claims&) = delete;

  /// True if no other claim on the CPU exists at this level: 0 for its first user, 1 for its second, and so on. Also
  /// true if the system gives no such sockets, because then claims are not known.
  bool take(int cpu, int level);
  void release() noexcept;

 private:
  std::vector<int> sockets_;
};

}  // namespace kith
