// How messages get from place to place. The only interface between places and what carries their messages.
//
// Each place has one endpoint, and all members but ring() are for that place's progress thread. Messages from one
// place to another arrive in the order in which they were sent; messages of different senders in any order. No message
// is lost, and send() does not wait for its receiver.
#pragma once

#include <kith/detail/arguments.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kith::distributed {

/// A place that sends nothing more.
struct lost_place {
  int place = 0;
  std::string why;  // "its process has ended"
};

/// A step that all places take together, in the same order at each.
struct collective {
  enum class operation : std::uint8_t { barrier, broadcast, sum, least, largest };
  enum class element : std::uint8_t { byte, i32, u32, i64, u64, f32, f64 };

  operation what = operation::barrier;
  element element_type = element::byte;
  int root = 0;                                 // of a broadcast
  std::size_t count = 0;                        // elements, the same at all places
  std::byte* data = nullptr;                    // the elements; replaced by the result
  std::size_t bytes = 0;                        // size of the elements
  std::shared_ptr<const void> owner = nullptr;  // of the data, which may be in use after its caller has returned
};

class endpoint {
 public:
  virtual ~endpoint() = default;
  virtual void send(int to, detail::byte_buffer message) = 0;
  /// As above, for a message that its sender keeps, to send it again. A transport may refer to it and to its outer
  /// parts instead of copying them, as long as it keeps the pointer.
  virtual void send(int to, const std::shared_ptr<const detail::packed_arguments>& message) {
    send(to, message->flattened());
  }
  /// Takes the next message; false if none has arrived. After a false, what other threads wrote before ring() is
  /// visible, or the next sleep() returns at once.
  virtual bool poll(detail::byte_buffer& message) = 0;
  /// Sleeps until a message arrives, ring() is called, or the time `until`. May return early.
  virtual void sleep(std::chrono::steady_clock::time_point until) = 0;
  /// Ends the present or the next sleep(). Any thread.
  virtual void ring() noexcept = 0;

  /// Starts a collective, which uses its data until it has ended. Throws kith::error if it is found to differ from what
  /// other places have started. Then ended_collectives() throws the error, too, at all places, once it has returned
  /// those that ended before.
  virtual void start(const collective& c) = 0;
  /// How many of the collectives started here have ended. They end in the order of their start.
  virtual std::uint64_t ended_collectives() = 0;

  /// A place that was found lost; returned once. Messages from it may still arrive; messages to it are dropped.
  virtual std::optional<lost_place> lost() { return {}; }
  /// Says that this place spawns nothing more. The place has to poll() until has_left(): until all have said so, or a
  /// place is lost that the others cannot do without.
  virtual void leave() {}
  virtual bool has_left() { return true; }
};

/// Why the places of a job cannot start.
struct refusal {
  int place = 0;
  std::string why;
  bool lost = false;  // the place's process has ended
};

class transport {
 public:
  virtual ~transport() = default;
  virtual const char* name() const noexcept = 0;
  virtual int places() const noexcept = 0;
  /// The only place of this process, if the others are in other processes.
  virtual std::optional<int> own_place() const noexcept { return {}; }
  /// Whether a place can be lost and the others learn of it.
  virtual bool loses_places() const noexcept { return own_place().has_value(); }
  virtual endpoint& endpoint_of(int place) = 0;
  /// Each process says once, before its first message, that it has made its places, or why it could not. Waits for the
  /// others, and returns the refusal of the first process that could not; none: all can start. After a refusal nothing
  /// may be sent, and the same processes can join again, unless a place was lost.
  virtual std::optional<refusal> agree(const std::string* /*why*/) { return {}; }
};

/// All places in this process: each has an inbox in shared memory. `one_group`: they share the endpoint of place 0.
std::unique_ptr<transport> make_thread_transport(int places, bool one_group = false);

/// The next place_runtime uses this transport, whatever the environment says. For tests. Must not be called while
/// another thread makes a place_runtime.
void use_transport(std::unique_ptr<transport> next);

}  // namespace kith::distributed
