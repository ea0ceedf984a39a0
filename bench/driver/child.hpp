// A child process that runs one system. It is started once, receives requests as lines, and is stopped (SIGSTOP) when
// it has no request. So idle workers of other systems do not disturb the measured one, and no system's idling has to
// be changed.
#pragma once

#include "protocol.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kith::bench {

class child {
 public:
  using settings = std::vector<std::pair<std::string, std::string>>;

  /// Starts `program`, with environment variables added. Throws std::runtime_error that gives the remedy if it cannot
  /// be started.
  child(std::string system, const std::filesystem::path& program, int workers, bool realtime, const settings& = {});
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  const std::string& system() const { return system_; }
  const std::string& version() const { return version_; }

  /// Lets the child run from now until the end of the scope.
  class turn {
   public:
    explicit turn(child&);
    ~turn();
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

   private:
    child& of_;
  };
  /// Sends a request; the child must have its turn. A child that dies or does not answer in time is not
  /// used afterwards.
  reply ask(const request&);
  bool alive() const { return pid_ > 0; }

 private:
  reply lost(const std::string& why);
  void end();

  std::string system_, version_, buffer_;
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace kith::bench
