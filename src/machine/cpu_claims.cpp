#include "machine/cpu_claims.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace kith {

bool cpu_claims::take(int cpu, int level) {
  sockets_.reserve(sockets_.size() + 1);
  const int s = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (s < 0) return true;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  // The first character is 0: an abstract name, without a file.
  const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "kith/cpu-%d/user-%d", cpu, level);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  if (::bind(s, reinterpret_cast<const sockaddr*>(&name), bytes) == 0) {
    sockets_.push_back(s);
    return true;
  }
  const bool taken = errno == EADDRINUSE;
  ::close(s);
  return !taken;
}

void cpu_claims::release() noexcept {
  for (int s : sockets_) ::close(s);
  sockets_.clear();
}

}  // namespace kith
