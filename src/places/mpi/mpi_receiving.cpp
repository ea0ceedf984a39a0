// What mpi_endpoint receives: batches, and large messages from other machines and from memory of this one.
#include "places/mpi/mpi_endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace kith::distributed::mpi {

void mpi_endpoint::post(std::size_t slot) {
  is_fine(MPI_Irecv(ring_[slot].data(), static_cast<int>(batch_bytes), MPI_BYTE, MPI_ANY_SOURCE, batch_tag, job_,
                    &posted_[slot]),
          -1);
}

void mpi_endpoint::receive() {
  for (;;) {
    int done = 0;
    MPI_Status status;
    MPI_Request& request = posted_[oldest_];
    if (request == MPI_REQUEST_NULL) {  // a place was lost when it was posted, or it was ended by that
      if (!survives_losses_) return;
      post(oldest_);
    }
    if (!is_fine(MPI_Test(&request, &done, &status), -1)) {
      if (!survives_losses_ || request == MPI_REQUEST_NULL) return;
      // Open MPI 5 may go on to name the loss for a receive that has ended well after it.
      if (MPI_Request_get_status(request, &done, &status) != MPI_SUCCESS || done == 0) return;
      MPI_Request_free(&request);
    }
    if (done == 0) return;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    active_ = clock::now();
    peers_.heard(status.MPI_SOURCE, active_);
    read(status.MPI_SOURCE, std::span(ring_[oldest_]).first(static_cast<std::size_t>(size)));
    post(oldest_);
    oldest_ = (oldest_ + 1) % ring_slots;
  }
}

void mpi_endpoint::read(int from, std::span<const std::byte> batch) {
  sender& source = incoming_[static_cast<std::size_t>(from)];
  batch_reader records(batch, gone_.size());
  bool fine = true;
  while (const std::optional<record> r = fine ? records.next() : std::nullopt) {
    const std::span<const std::byte> data = records.data();
    switch (r->kind) {
      case record_kind::message: {
        bytes message(data.begin(), data.end());
        if (source.waiting.empty()) {
          ready_.push_back(std::move(message));
        } else {
          source.waiting.push_back({std::move(message), {}});
        }
        break;
      }
      case record_kind::large: receive_large(from, r->bytes); break;
      case record_kind::near:
        fine = near_.reaches(from) && records.near_number() != 0;
        if (fine) receive_near(from, *r, records);
        break;
      case record_kind::taken: near_sends_.erase(r->bytes); break;
      case record_kind::lost:
        lose({static_cast<int>(r->place), {reinterpret_cast<const char*>(data.data()), data.size()}});
        break;
      case record_kind::leaving:
        said_leaving_[static_cast<std::size_t>(from)] = true;
        leaving_since_ = active_;
        break;
      case record_kind::sign: break;
    }
  }
  if (!fine || !records.at_end()) lose({from, "it sent a batch of messages that cannot be read"});
}

/// False if there is no memory for the message; then its sender is lost.
bool mpi_endpoint::make_room(incoming& in, int from, std::uint64_t size) {
  try {
    in.message.resize(size);
    return true;
  } catch (const std::exception&) {
    lose({from, "it sent a message of " + std::to_string(size) + " bytes, for which there is no memory here"});
    return false;
  }
}

void mpi_endpoint::receive_large(int from, std::uint64_t size) {
  sender& source = incoming_[static_cast<std::size_t>(from)];
  if (source.waiting.empty()) held_.push_back(from);
  incoming& in = source.waiting.emplace_back();
  if (!make_room(in, from, size)) return;
  for (std::size_t at = 0; at < size; at += piece_bytes) {
    MPI_Request r = MPI_REQUEST_NULL;
    const auto count = static_cast<int>(std::min<std::uint64_t>(piece_bytes, size - at));
    if (!is_fine(MPI_Irecv(in.message.data() + at, count, MPI_BYTE, from, large_tag, job_, &r), from)) return;
    in.requests.push_back(r);
  }
}

void mpi_endpoint::receive_near(int from, const record& r, const batch_reader& announced) {
  sender& source = incoming_[static_cast<std::size_t>(from)];
  if (source.waiting.empty()) held_.push_back(from);
  incoming& in = source.waiting.emplace_back();
  in.number = announced.near_number();
  in.size = r.bytes;
  std::uint64_t left = r.bytes;
  for (std::size_t i = 0; i < r.place; ++i) {
    const near_part p = announced.part(i);
    if (p.size > left) break;
    left -= p.size;
    in.parts.push_back(p);
  }
  if (left != 0) lose({from, "it announced a message of another size than its parts have"});
}

/// Reads up to `budget` bytes of the message, and subtracts them from it. Whether it is complete, and its sender knows.
bool mpi_endpoint::read_near(int from, incoming& in, std::size_t& budget) {
  // Not before: the message may get the memory of one that was read and taken meanwhile, which is still in the caches.
  if (in.message.empty() && !make_room(in, from, in.size)) return false;
  while (!in.parts.empty() && budget != 0) {
    near_part& p = in.parts.front();
    std::size_t got = 0;
    try {
      got = near_.read(from, p.address, in.message.data() + in.read, std::min<std::size_t>(p.size, budget));
    } catch (const std::system_error& e) {
      lose({from, std::string("its memory cannot be read: ") + e.what()});
    }
    if (got == 0) return false;
    active_ = clock::now();
    in.read += got;
    budget -= got;
    p.address += got;
    p.size -= got;
    if (p.size == 0) in.parts.pop_front();
  }
  if (!in.parts.empty()) return false;
  append(from, {record_kind::taken, 0, in.number}, nullptr, 0);
  return true;
}

bool mpi_endpoint::complete(int from, incoming& in, std::size_t& budget) {
  if (in.number != 0) return read_near(from, in, budget);
  if (in.requests.empty()) return true;
  int done = 0;
  if (!is_fine(MPI_Testall(static_cast<int>(in.requests.size()), in.requests.data(), &done, MPI_STATUSES_IGNORE),
               from) ||
      done == 0)
    return false;
  active_ = clock::now();
  return true;
}

void mpi_endpoint::complete_large() {
  // After some MiB the messages read so far are answered, so that their senders go on while the rest is read.
  constexpr std::size_t at_once = 2 << 20;
  std::size_t budget = at_once;
  std::erase_if(held_, [this, &budget](int from) {
    std::deque<incoming>& waiting = incoming_[static_cast<std::size_t>(from)].waiting;
    if (gone_[static_cast<std::size_t>(from)]) {  // one may lack its receives, and all are dropped
      keep(std::exchange(waiting, {}));
      return true;
    }
    while (!waiting.empty()) {
      if (budget < at_once / 2 || !complete(from, waiting.front(), budget))
        return false;  // after a loss the next look drops them
      ready_.push_back(std::move(waiting.front().message));
      waiting.pop_front();
    }
    return true;
  });
}

}  // namespace kith::distributed::mpi
