// A child process that runs one system: started once, asked by lines, and stopped (SIGSTOP) whenever it is not asked,
// so that no system's idle workers disturb the one being measured, and none is told to idle differently than it does by
// itself.
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

  /// Starts `program`, with environment variables added. Throws std::runtime_error with what to do about it.
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
  /// Asks; the child must have its turn. A child that does not answer in time, or dies, is gone for good.
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
