#include "places/mpi/mpi_endpoint.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kith::distributed::mpi {

namespace {

constexpr int batch_tag = 0, large_tag = 1;
constexpr std::size_t batch_bytes = 32 << 10;
constexpr std::size_t large_bytes = 8 << 10;  // from here on a message goes by itself
constexpr std::size_t ring_slots = 16;
constexpr std::size_t piece_bytes = 1 << 30;  // MPI counts in int
constexpr std::size_t most_spare = 64;

}  // namespace

mpi_endpoint::mpi_endpoint(MPI_Comm job, std::vector<process_card> cards, const join_options& o)
    : job_(job),
      here_([job] {
        int rank = 0;
        MPI_Comm_rank(job, &rank);
        return rank;
      }()),
      outgoing_(cards.size()),
      ring_(ring_slots, bytes(batch_bytes)),
      posted_(ring_slots, MPI_REQUEST_NULL),
      incoming_(cards.size()),
      peers_(std::move(cards), here_, std::chrono::nanoseconds(static_cast<std::int64_t>(o.silence_seconds * 1e9))),
      gone_(outgoing_.size(), false),
      active_(clock::now()),
      spins_(o.spins),
      bells_(job_) {
  MPI_Comm_set_errhandler(job_, MPI_ERRORS_RETURN);
  MPI_Comm_dup(job_, &leaving_job_);
  for (std::size_t s = 0; s < ring_slots; ++s) post(s);
}

mpi_endpoint::~mpi_endpoint() {
  // After a loss MPI may wait for ever: the communicator and its requests are left to the end of the process.
  if (!in_order()) {
    bells_.keep();
    keep(std::move(ring_));
    keep(std::move(sends_));
    keep(std::move(lost_sends_));
    keep(std::move(incoming_));
    keep(std::move(collectives_));
    return;
  }
  for (MPI_Request& r : posted_) {
    if (r == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  keep(std::move(collectives_));  // of callers that could not wait for them
  MPI_Comm_free(&leaving_job_);
  MPI_Comm_free(&job_);
}

/// Never frees them, because MPI may still read or write there.
template <class T>
void mpi_endpoint::keep(T what) {
  new T(std::move(what));
}

// ---- sending

void mpi_endpoint::send(int place, bytes message) {
  if (gone_[static_cast<std::size_t>(place)]) return;
  if (message.size() < large_bytes) {
    append(place, {record_kind::message, 0, message.size()}, message.data(), message.size());
    return;
  }
  start_large(place, std::make_shared<const packed>(packed{std::move(message)}));
}

void mpi_endpoint::send(int place, const std::shared_ptr<const packed>& message) {
  if (gone_[static_cast<std::size_t>(place)]) return;
  if (message->size() < large_bytes || (!message->outer.empty() && peers_.is_far(place))) {  // M4
    send(place, message->flattened());
  } else {
    start_large(place, message);
  }
}

void mpi_endpoint::append(int place, record r, const std::byte* data, std::size_t size) {
  receiver& out = to(place);
  if (out.batch.size() + sizeof r + size > batch_bytes) flush(place);
  if (out.batch.capacity() == 0) {
    if (spare_.empty()) {
      out.batch.reserve(batch_bytes);
    } else {
      out.batch = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  const auto* const head = reinterpret_cast<const std::byte*>(&r);
  out.batch.insert(out.batch.end(), head, head + sizeof r);
  out.batch.insert(out.batch.end(), data, data + size);
  if (!std::exchange(out.dirty, true)) dirty_.push_back(place);
}

void mpi_endpoint::flush(int place) {
  receiver& out = to(place);
  if (out.batch.empty()) return;
  start(place, std::exchange(out.batch, {}), batch_tag);
}

void mpi_endpoint::flush_all() {
  for (std::size_t i = 0; i < dirty_.size(); ++i) {  // a loss that is found here adds to them
    to(dirty_[i]).dirty = false;
    flush(dirty_[i]);
  }
  dirty_.clear();
}

void mpi_endpoint::start(int place, bytes data, int tag) {
  if (gone_[static_cast<std::size_t>(place)]) return;
  active_ = clock::now();
  sent& s = sends_.emplace_back(sent{.to = place, .data = std::move(data)});
  start_part(s, s.data.data(), s.data.size(), tag);
  bells_.ring(place);
}

void mpi_endpoint::start_large(int place, std::shared_ptr<const packed> message) {
  std::vector<std::uint64_t> parts;
  message->for_each_part([&](const std::byte*, std::size_t size) { parts.push_back(size); });
  append(place, {record_kind::large, static_cast<std::uint32_t>(parts.size()), message->size()},
         reinterpret_cast<const std::byte*>(parts.data()), parts.size() * sizeof parts[0]);
  flush(place);
  if (gone_[static_cast<std::size_t>(place)]) return;
  sent& s = sends_.emplace_back(sent{.to = place, .kept = std::move(message)});
  bool fine = true;
  s.kept->for_each_part(
      [&](const std::byte* data, std::size_t size) { fine = fine && start_part(s, data, size, large_tag); });
  bells_.ring(place);
}

/// False if the receiver was lost.
bool mpi_endpoint::start_part(sent& s, const std::byte* data, std::size_t size, int tag) {
  for (std::size_t at = 0; at < size; at += piece_bytes) {
    MPI_Request r = MPI_REQUEST_NULL;
    const auto count = static_cast<int>(std::min(piece_bytes, size - at));
    if (!is_fine(MPI_Isend(data + at, count, MPI_BYTE, s.to, tag, job_, &r), s.to)) return false;
    s.requests.push_back(r);
  }
  return true;
}

void mpi_endpoint::end_sends() {
  // From the oldest on; one to a slow place does not hold up those behind it for ever.
  constexpr std::size_t most = 16;
  for (std::size_t i = 0, looked = 0; i < sends_.size() && looked < most;) {
    sent& s = sends_[i];
    int done = 0;
    const bool gone =
        gone_[static_cast<std::size_t>(s.to)] ||
        !is_fine(MPI_Testall(static_cast<int>(s.requests.size()), s.requests.data(), &done, MPI_STATUSES_IGNORE), s.to);
    if (gone) {
      lost_sends_.push_back(std::move(s));
    } else {
      ++looked;
      if (done == 0) {
        ++i;
        continue;
      }
      if (s.data.capacity() == batch_bytes && spare_.size() < most_spare) {
        s.data.clear();
        spare_.push_back(std::move(s.data));
      }
    }
    sends_.erase(sends_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// M4. MPI may use the requests for ever, and a message without outer parts is kept for it.
void mpi_endpoint::give_up_lost() {
  constexpr int enough = 1000;  // a call of MPI takes some messages out of a queue, which holds thousands at most
  std::erase_if(lost_sends_, [](sent& s) {
    int done = 0;
    MPI_Testall(static_cast<int>(s.requests.size()), s.requests.data(), &done, MPI_STATUSES_IGNORE);
    if (++s.looks < enough) return false;
    keep(std::move(s.requests));
    keep(std::move(s.data));
    if (s.kept && s.kept->outer.empty()) keep(std::move(s.kept));
    return true;
  });
}

// ---- receiving

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
    if (request == MPI_REQUEST_NULL) return;  // it could not be posted, and a place was lost
    if (!is_fine(MPI_Test(&request, &done, &status), -1) || done == 0) return;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    active_ = clock::now();
    peers_.heard(status.MPI_SOURCE, active_);
    read(status.MPI_SOURCE, ring_[oldest_].data(), static_cast<std::size_t>(size));
    post(oldest_);
    oldest_ = (oldest_ + 1) % ring_slots;
  }
}

void mpi_endpoint::read(int from, const std::byte* batch, std::size_t size) {
  sender& source = incoming_[static_cast<std::size_t>(from)];
  std::size_t at = 0;
  while (size - at >= sizeof(record)) {
    record r{};
    std::memcpy(&r, batch + at, sizeof r);
    at += sizeof r;
    if (r.kind == record_kind::message && r.bytes <= size - at) {
      bytes message(batch + at, batch + at + r.bytes);
      at += r.bytes;
      if (source.waiting.empty()) {
        ready_.push_back(std::move(message));
      } else {
        source.waiting.push_back({std::move(message), {}});
      }
    } else if (r.kind == record_kind::large && r.place <= (size - at) / sizeof(std::uint64_t)) {
      std::vector<std::uint64_t> parts(r.place);
      std::memcpy(parts.data(), batch + at, parts.size() * sizeof parts[0]);
      at += parts.size() * sizeof parts[0];
      receive_large(from, r.bytes, parts);
    } else if (r.kind == record_kind::lost && r.place < gone_.size() && r.bytes <= size - at) {
      lose({static_cast<int>(r.place), {reinterpret_cast<const char*>(batch + at), r.bytes}});
      at += r.bytes;
    } else if (r.kind != record_kind::sign) {
      at = size + 1;
      break;
    }
  }
  if (at != size) lose({from, "it sent a batch of messages that cannot be read"});
}

void mpi_endpoint::receive_large(int from, std::uint64_t size, const std::vector<std::uint64_t>& parts) {
  sender& source = incoming_[static_cast<std::size_t>(from)];
  if (source.waiting.empty()) held_.push_back(from);
  incoming& in = source.waiting.emplace_back();
  try {
    in.message.resize(size);
  } catch (const std::exception&) {
    lose({from, "it sent a message of " + std::to_string(size) + " bytes, for which there is no memory here"});
    return;
  }
  std::uint64_t at = 0;
  for (const std::uint64_t part : parts) {
    if (part > size - at) return lose({from, "it announced a message whose parts are larger than itself"});
    for (const std::uint64_t end = at + part; at < end;) {
      MPI_Request r = MPI_REQUEST_NULL;
      const std::uint64_t count = std::min<std::uint64_t>(piece_bytes, end - at);
      if (!is_fine(MPI_Irecv(in.message.data() + at, static_cast<int>(count), MPI_BYTE, from, large_tag, job_, &r),
                   from))
        return;
      in.requests.push_back(r);
      at += count;
    }
  }
  if (at != size) lose({from, "it announced a message that is larger than its parts"});
}

void mpi_endpoint::complete_large() {
  std::erase_if(held_, [this](int from) {
    std::deque<incoming>& waiting = incoming_[static_cast<std::size_t>(from)].waiting;
    if (gone_[static_cast<std::size_t>(from)]) {  // one of them may lack its receives, and none is needed any more
      keep(std::exchange(waiting, {}));
      return true;
    }
    while (!waiting.empty()) {
      incoming& first = waiting.front();
      int done = 1;
      if (!first.requests.empty()) {
        const int result =
            MPI_Testall(static_cast<int>(first.requests.size()), first.requests.data(), &done, MPI_STATUSES_IGNORE);
        if (!is_fine(result, from) || done == 0) return false;  // after a loss the next look drops them
        active_ = clock::now();
      }
      ready_.push_back(std::move(first.message));
      waiting.pop_front();
    }
    return true;
  });
}

bool mpi_endpoint::poll(bytes& message) {
  if (ready_.empty()) {
    // What was rung for may come a little later: MPI had no room to send it at once.
    if (const std::uint32_t count = bells_.own().count(); count != heard_) {
      heard_ = count;
      active_ = clock::now();
    }
    flush_all();
    if (!sends_.empty()) end_sends();
    if (!lost_sends_.empty()) give_up_lost();
    receive();
    if (!held_.empty()) complete_large();
    watch();
    if (ready_.empty()) return false;
  }
  message = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

// ---- collectives

void mpi_endpoint::start(const collective& c) {
  const MPI_Datatype types[] = {MPI_BYTE, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_FLOAT, MPI_DOUBLE};
  active_ = clock::now();
  MPI_Request r = MPI_REQUEST_NULL;
  const auto count = static_cast<int>(c.count);
  const MPI_Datatype type = types[static_cast<std::size_t>(c.of)];
  const auto reduce = [&](MPI_Op op) { return MPI_Iallreduce(MPI_IN_PLACE, c.data, count, type, op, job_, &r); };
  int result = MPI_SUCCESS;
  switch (c.what) {
    case collective::operation::barrier: result = MPI_Ibarrier(job_, &r); break;
    case collective::operation::broadcast: result = MPI_Ibcast(c.data, count, type, c.root, job_, &r); break;
    case collective::operation::sum: result = reduce(MPI_SUM); break;
    case collective::operation::least: result = reduce(MPI_MIN); break;
    case collective::operation::largest: result = reduce(MPI_MAX); break;
  }
  is_fine(result, -1);
  collectives_.push_back({r, c.owner});
}

bool mpi_endpoint::end_first_collective() {
  int done = 0;
  if (!is_fine(MPI_Test(&collectives_.front().request, &done, MPI_STATUS_IGNORE), -1) || done == 0) return false;
  active_ = clock::now();
  collectives_.pop_front();
  ++ended_collectives_;
  return true;
}

std::uint64_t mpi_endpoint::ended_collectives() {
  while (!lost_any_ && !collectives_.empty() && end_first_collective()) {
  }
  return ended_collectives_;
}

// ---- sleeping. A place on this machine rings when it has sent something. MPI cannot wake a thread that sleeps in the
// kernel, so as long as something can come from another machine, an idle place looks again and again, the less often the
// longer nothing came: each 500 us in the end, which takes a few percent of a core.

void mpi_endpoint::sleep(clock::time_point until) {
  using namespace std::chrono_literals;
  if (!std::exchange(slack_set_, true))
    prctl(PR_SET_TIMERSLACK, 1000UL);  // of this thread, in ns; the default is 50 us
  const auto now = clock::now();
  const auto idle = now - active_;
  // An answer comes within some 10 us, and a nap takes longer than it says. Large messages move only while MPI is called;
  // those that do not move for a while wait for a process that is busy or slow.
  const bool moving = !sends_.empty() || !lost_sends_.empty() || !held_.empty();
  if (idle < (moving ? 1ms : spins_ ? 50us : 20us)) {
    sched_yield();
    return;
  }
  const clock::duration most = bells_.rung_by_all() && !leaving_ ? 10ms : 500us;
  clock::duration nap = moving || !collectives_.empty() ? 5us : std::clamp<clock::duration>(idle / 8, 5us, most);
  bells_.own().sleep(heard_, std::min(until, now + nap));
}

void mpi_endpoint::ring() noexcept { bells_.own().ring(); }

// ---- losses, and the end

bool mpi_endpoint::is_fine(int result, int place) {
  if (result == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(result, text, &length);
  if (place >= 0) {
    lose({place, std::string("MPI: ") + text});
  } else {  // of a receive from anybody: nobody can be heard any more
    for (int p = 0; p < places(); ++p) {
      if (p != here_) lose({p, std::string("MPI, receiving: ") + text});
    }
  }
  return false;
}

void mpi_endpoint::lose(lost_place what) {
  const auto index = static_cast<std::size_t>(what.place);
  if (left_ || gone_[index] || what.place == here_) return;
  gone_[index] = true;
  lost_any_ = true;
  to(what.place).batch.clear();
  const record r{record_kind::lost, static_cast<std::uint32_t>(what.place), what.why.size()};
  for (int p = 0; p < places(); ++p) {
    if (p != here_ && !gone_[static_cast<std::size_t>(p)])
      append(p, r, reinterpret_cast<const std::byte*>(what.why.data()), what.why.size());
  }
  newly_lost_.push_back(std::move(what));
}

void mpi_endpoint::watch() {
  const auto now = clock::now();
  if (leaving_ && !left_) {
    int done = 0;
    if (is_fine(MPI_Test(&all_leave_, &done, MPI_STATUS_IGNORE), -1) && done != 0) left_ = true;
  }
  if (left_) return;
  if (peers_.should_sign(now)) {
    for (const int p : peers_.far()) {
      if (!gone_[static_cast<std::size_t>(p)]) append(p, {record_kind::sign, 0, 0}, nullptr, 0);
    }
  }
  // Others may see that all have left, and end, before this process does.
  if (leaving_ && now - leaving_since_ < std::chrono::seconds(2)) return;
  for (lost_place& l : peers_.look(now)) lose(std::move(l));
}

std::optional<lost_place> mpi_endpoint::lost() {
  if (newly_lost_.empty()) return {};
  lost_place first = std::move(newly_lost_.front());
  newly_lost_.pop_front();
  return first;
}

void mpi_endpoint::leave() {
  if (std::exchange(leaving_, true)) return;
  leaving_since_ = clock::now();
  is_fine(MPI_Ibarrier(leaving_job_, &all_leave_), -1);
}

}  // namespace kith::distributed::mpi
