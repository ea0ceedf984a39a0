// The transport over MPI. Messages for one place are collected and sent as one batch; a large message goes by itself,
// without a copy, after a record that announces it.
//
//  M1  Batches have tag 0 and come into a ring of buffers. MPI gives a sender's batches to receives in the order in
//      which these were posted, so the ring is read from the oldest receive on.
//  M2  A large message for a place on this machine stays in the sender's memory until the receiver has reported that it
//      has read it, or was lost. One for another machine has tag 1. Its receive is posted when its announcement is
//      read, so that the large messages of a sender are received in the order of their announcements.
//  M3  A sender's messages wait while a large message that it announced before them is incomplete.
#pragma once

#include "places/batch.hpp"
#include "places/mpi/bells.hpp"
#include "places/mpi/collectives.hpp"
#include "places/mpi/near_memory.hpp"
#include "places/mpi/peers.hpp"
#include "places/plugin.hpp"

#include <mpi.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::distributed::mpi {

class mpi_endpoint final : public endpoint {
 public:
  /// Takes over the communicator. REQUIRES: all its processes do the same.
  mpi_endpoint(MPI_Comm job, std::vector<process_card> cards, const join_options& o);
  ~mpi_endpoint() override;
  mpi_endpoint(const mpi_endpoint&) = delete;
  mpi_endpoint& operator=(const mpi_endpoint&) = delete;

  void send(int to, detail::byte_buffer message) override;
  void send(int to, const std::shared_ptr<const detail::packed_arguments>& message) override;
  bool poll(detail::byte_buffer& message) override;
  void sleep(std::chrono::steady_clock::time_point until) override;
  void ring() noexcept override;
  void start(const collective& c) override;
  std::uint64_t ended_collectives() override;
  std::optional<lost_place> lost() override;
  void leave() override;
  bool has_left() override;
  /// As transport::agree().
  std::optional<refusal> agree(const std::string* why);

  int here() const noexcept { return here_; }
  int places() const noexcept { return static_cast<int>(outgoing_.size()); }
  /// Whether MPI can be finalised: all have left, or the start was refused, and no place was lost.
  bool in_order() const noexcept { return (left_ || refused_) && !lost_any_; }

 private:
  using clock = std::chrono::steady_clock;
  using bytes = detail::byte_buffer;
  using packed = detail::packed_arguments;

  static constexpr int batch_tag = 0, large_tag = 1;
  static constexpr std::size_t batch_bytes = 32 << 10;
  // The size up to which MPI sends eagerly, without an answer of the receiver: then a batch of a lost place has arrived
  // as a whole or not at all. Otherwise its matched receive would never end, and by M1 the later receives would wait
  // for it.
  static constexpr std::size_t eager_bytes = 3 << 10;
  static constexpr std::size_t ring_slots = 16;
  static constexpr std::size_t piece_bytes = 1 << 30;  // MPI counts in int

  /// A message that is being received; complete when there are no requests and no parts.
  struct incoming {
    bytes message;  // empty until the first part is read
    std::vector<MPI_Request> requests = {};
    std::uint64_t size = 0;            // of the parts
    std::deque<near_part> parts = {};  // still to be read
    std::size_t read = 0;              // bytes of the message
    std::uint64_t number = 0;          // at its sender; 0: it came by MPI
  };
  struct sender {
    std::deque<incoming> waiting;  // M3
  };
  struct receiver {
    bytes batch;
    bool dirty = false;  // it is in dirty_
  };
  struct sent {
    int to;
    bytes data;
    std::vector<MPI_Request> requests = {};
  };
  struct near_sent {
    int to;
    std::shared_ptr<const packed> message;
  };

  receiver& to(int place) { return outgoing_[static_cast<std::size_t>(place)]; }
  void append(int to, record r, const std::byte* data, std::size_t size);
  void flush(int to);
  void flush_all();
  void start(int to, bytes data, int tag);
  void announce(int to, std::shared_ptr<const packed> message);
  void end_sends();
  void receive();
  void post(std::size_t slot);
  void read(int from, std::span<const std::byte> batch);
  bool make_room(incoming& in, int from, std::uint64_t size);
  void receive_large(int from, std::uint64_t size);
  void receive_near(int from, const record& r, const batch_reader& announced);
  bool complete(int from, incoming& in, std::size_t& budget);
  bool read_near(int from, incoming& in, std::size_t& budget);
  void complete_large();
  void watch();
  void send_goodbye();
  /// Never frees the object, because MPI may still read or write there.
  template <class T>
  static void keep(T what) {
    new T(std::move(what));
  }
  void lose(lost_place what);
  std::optional<refusal> wait_for(MPI_Request r);
  bool is_fine(int result, int place);
  bool finds_loss();
  void look_for_end();

  const pid_t made_in_ = getpid();
  MPI_Comm job_;
  MPI_Comm leaving_job_ = MPI_COMM_NULL;  // so that a place that leaves early matches no collective of the others
  int here_ = 0;
  std::vector<receiver> outgoing_;
  std::vector<int> dirty_;  // places whose batch is not empty
  std::deque<sent> sends_;
  std::unordered_map<std::uint64_t, near_sent> near_sends_;  // by number
  std::uint64_t last_near_ = 0;
  std::vector<bytes> spare_;  // buffers of batches that were sent
  std::vector<bytes> ring_;   // M1
  std::vector<MPI_Request> posted_;
  std::size_t oldest_ = 0;
  std::vector<sender> incoming_;
  std::vector<int> held_;  // senders with something in `waiting`
  std::deque<bytes> ready_;
  collectives collectives_;
  near_memory near_;
  bells bells_;
  peers peers_;
  std::deque<lost_place> newly_lost_;
  std::vector<bool> gone_;
  std::vector<bool> said_leaving_;  // by place; only where losses are survived
  const bool survives_losses_;
  const std::size_t most_of_batch_;
  const std::size_t large_bytes_;  // from this size on a message is sent by itself
  bool lost_any_ = false;
  bool leaving_ = false, left_ = false, refused_ = false;
  MPI_Request all_leave_ = MPI_REQUEST_NULL;
  clock::time_point active_;         // when something was sent or received
  clock::time_point leaving_since_;  // since this place leaves, or the last place that has said so
  bool spins_;
  bool slack_set_ = false;
  std::uint32_t heard_ = 0;  // the bell's count before the last look
};

}  // namespace kith::distributed::mpi
