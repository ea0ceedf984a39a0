// How messages get from place to place. The only interface between places and what carries their messages.
//
// Each place has one endpoint, and all members but ring() are for that place's progress thread. Messages from one
// place to another arrive in the order in which they were sent; messages of different senders in any order. No message
// is lost, and send() does not wait for its receiver.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace kith::distributed {

class endpoint {
 public:
  virtual ~endpoint() = default;
  virtual void send(int to, std::vector<std::byte> message) = 0;
  /// Takes the next message; false if none has arrived. What other threads did before ring() is visible after a false,
  /// or the next sleep() returns at once.
  virtual bool poll(std::vector<std::byte>& message) = 0;
  /// Sleeps until a message has arrived, ring() is called or `until` has come. May return early.
  virtual void sleep(std::chrono::steady_clock::time_point until) = 0;
  /// Ends the present or the next sleep(). Any thread.
  virtual void ring() noexcept = 0;
};

class transport {
 public:
  virtual ~transport() = default;
  virtual const char* name() const noexcept = 0;
  virtual endpoint& of(int place) = 0;
};

/// All places in this process: each has an inbox in shared memory.
std::unique_ptr<transport> make_thread_transport(int places);

}  // namespace kith::distributed
