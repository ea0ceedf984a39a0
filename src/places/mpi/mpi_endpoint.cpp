#include "places/mpi/mpi_endpoint.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

// Functions of ULFM; null if the MPI that runs lacks them. MPICH has them, and Open MPI from version 5 on.
extern "C" {
[[gnu::weak]] int MPIX_Comm_failure_ack(MPI_Comm);
[[gnu::weak]] int MPIX_Comm_failure_get_acked(MPI_Comm, MPI_Group*);
}

namespace kith::distributed::mpi {

namespace {

constexpr std::size_t most_spare = 64;

/// The processes of the job that MPI has found failed since the last call. From then on receives from any source go on
/// without them. Empty if this MPI does not have ULFM.
std::vector<int> acknowledge_losses(MPI_Comm job) {
  std::vector<int> failed;
  if (MPIX_Comm_failure_ack == nullptr || MPIX_Comm_failure_get_acked == nullptr) return failed;
  MPI_Group all = MPI_GROUP_NULL, lost = MPI_GROUP_NULL;
  MPIX_Comm_failure_ack(job);
  if (MPIX_Comm_failure_get_acked(job, &lost) != MPI_SUCCESS || lost == MPI_GROUP_NULL) return failed;
  int count = 0;
  MPI_Group_size(lost, &count);
  if (count != 0) {
    std::vector<int> theirs(static_cast<std::size_t>(count));
    std::iota(theirs.begin(), theirs.end(), 0);
    failed.resize(theirs.size());
    MPI_Comm_group(job, &all);
    MPI_Group_translate_ranks(lost, count, theirs.data(), all, failed.data());
    MPI_Group_free(&all);
  }
  if (lost != MPI_GROUP_EMPTY) MPI_Group_free(&lost);
  return failed;
}

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
      collectives_(job_, here_),
      near_(job_, cards, here_),
      bells_(job_, cards, here_),
      peers_(std::move(cards), here_, std::chrono::nanoseconds(static_cast<std::int64_t>(o.silence_seconds * 1e9))),
      gone_(outgoing_.size(), false),
      said_leaving_(outgoing_.size(), false),
      survives_losses_(o.survives_losses),
      most_of_batch_(survives_losses_ ? eager_bytes : batch_bytes),
      large_bytes_(survives_losses_ ? 2 << 10 : batch_bytes / 4),
      active_(clock::now()),
      spins_(o.spins) {
  MPI_Comm_set_errhandler(job_, MPI_ERRORS_RETURN);
  MPI_Comm_dup(job_, &leaving_job_);
  for (std::size_t s = 0; s < ring_slots; ++s) post(s);
}

mpi_endpoint::~mpi_endpoint() {
  // After a loss MPI may wait for ever: the communicator and its requests are left to the end of the process.
  if (!in_order()) {
    if (made_in_ == getpid() && !left_) send_goodbye();
    bells_.keep();
    keep(std::move(ring_));
    keep(std::move(sends_));
    keep(std::move(near_sends_));
    keep(std::move(incoming_));
    collectives_.abandon();
    return;
  }
  if (survives_losses_) bells_.keep();  // freeing them is collective, and a process may end before
  for (MPI_Request& r : posted_) {
    if (r == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&leaving_job_);
  MPI_Comm_free(&job_);
}

/// Tells the others that this place has left after a loss. Messages that they have announced are never read.
void mpi_endpoint::send_goodbye() {
  constexpr std::string_view why = "it has left after another place was lost";
  const record r{record_kind::lost, static_cast<std::uint32_t>(here_), why.size()};
  for (int p = 0; p < places(); ++p) {
    if (p == here_ || gone_[static_cast<std::size_t>(p)]) continue;
    append(p, r, reinterpret_cast<const std::byte*>(why.data()), why.size());
    flush(p);
  }
}

// ---- the start

std::optional<refusal> mpi_endpoint::wait_for(MPI_Request r) {
  for (int done = 0;;) {
    const bool fine = is_fine(MPI_Test(&r, &done, MPI_STATUS_IGNORE), -1);
    if (fine && done != 0) return {};
    for (lost_place& l : peers_.look_near(clock::now())) lose(std::move(l));
    if (lost_any_) return refusal{newly_lost_.front().place, newly_lost_.front().why, true};
    if (!fine) return refusal{here_, "MPI failed", true};
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

std::optional<refusal> mpi_endpoint::agree(const std::string* why) {
  struct words {
    std::vector<int> sizes;  // by place; size of the reason; 0: it can start
    int mine = 0;
    std::string text;
  };
  auto said = std::make_unique<words>();
  said->sizes.resize(outgoing_.size());
  constexpr std::size_t most = 64 << 10;
  if (why != nullptr) said->text = why->empty() ? "no reason is known" : why->substr(0, most);
  said->mine = static_cast<int>(said->text.size());
  const auto wait = [&](MPI_Request r) {  // after a loss MPI may still use `said`
    std::optional<refusal> lost = wait_for(r);
    if (lost) keep(std::move(said));
    return lost;
  };
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Iallgather(&said->mine, 1, MPI_INT, said->sizes.data(), 1, MPI_INT, job_, &r);
  if (auto lost = wait(r)) return lost;
  const auto first = std::ranges::find_if(said->sizes, [](int size) { return size != 0; });
  if (first == said->sizes.end()) {
    for (const int p : peers_.far()) peers_.heard(p, clock::now());
    return {};
  }
  refused_ = true;
  refusal refused{static_cast<int>(first - said->sizes.begin()), {}};
  said->text.resize(static_cast<std::size_t>(*first));
  MPI_Ibcast(said->text.data(), *first, MPI_CHAR, refused.place, job_, &r);
  if (auto lost = wait(r)) return lost;
  refused.why = said->text;
  MPI_Ibarrier(job_, &r);  // so that no process ends before all know the reason
  static_cast<void>(wait(r));
  return refused;
}

// ---- sending

void mpi_endpoint::send(int place, bytes message) {
  if (gone_[static_cast<std::size_t>(place)]) return;
  if (message.size() < large_bytes_) {
    append(place, {record_kind::message, 0, message.size()}, message.data(), message.size());
  } else if (near_.reaches(place)) {
    announce(place, std::make_shared<const packed>(packed{std::move(message)}));
  } else {
    append(place, {record_kind::large, 0, message.size()}, nullptr, 0);
    flush(place);
    start(place, std::move(message), large_tag);
  }
}

void mpi_endpoint::send(int place, const std::shared_ptr<const packed>& message) {
  if (gone_[static_cast<std::size_t>(place)]) return;
  if (message->size() >= large_bytes_ && near_.reaches(place)) {
    announce(place, message);
  } else {
    send(place, message->flattened());
  }
}

void mpi_endpoint::announce(int place, std::shared_ptr<const packed> message) {
  std::vector<std::uint64_t> words{++last_near_};
  message->for_each_part([&](const std::byte* data, std::size_t size) {
    words.push_back(reinterpret_cast<std::uintptr_t>(data));
    words.push_back(size);
  });
  const record r{record_kind::near, static_cast<std::uint32_t>(words.size() / 2), message->size()};
  near_sends_[last_near_] = {place, std::move(message)};
  append(place, r, reinterpret_cast<const std::byte*>(words.data()), words.size() * sizeof words[0]);
}

void mpi_endpoint::append(int place, record r, const std::byte* data, std::size_t size) {
  receiver& out = to(place);
  if (out.batch.size() + sizeof r + size > most_of_batch_) flush(place);
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
  for (std::size_t i = 0; i < dirty_.size(); ++i) {  // flush() may find a loss and add to them
    to(dirty_[i]).dirty = false;
    flush(dirty_[i]);
  }
  dirty_.clear();
}

void mpi_endpoint::start(int place, bytes data, int tag) {
  if (gone_[static_cast<std::size_t>(place)]) return;
  active_ = clock::now();
  sent& s = sends_.emplace_back(sent{place, std::move(data)});
  for (std::size_t at = 0; at < s.data.size(); at += piece_bytes) {
    MPI_Request r = MPI_REQUEST_NULL;
    const auto count = static_cast<int>(std::min(piece_bytes, s.data.size() - at));
    if (!is_fine(MPI_Isend(s.data.data() + at, count, MPI_BYTE, place, tag, job_, &r), place)) return;
    s.requests.push_back(r);
  }
  bells_.ring(place);
}

void mpi_endpoint::end_sends() {
  // Oldest first. A message to a slow place does not block those after it.
  constexpr std::size_t most = 16;
  for (std::size_t i = 0, looked = 0; i < sends_.size() && looked < most; ++looked) {
    sent& s = sends_[i];
    int done = 0;
    const bool fine =
        !gone_[static_cast<std::size_t>(s.to)] &&
        is_fine(MPI_Testall(static_cast<int>(s.requests.size()), s.requests.data(), &done, MPI_STATUSES_IGNORE), s.to);
    if (fine && done == 0) {
      ++i;
      continue;
    }
    if (fine && s.data.capacity() == batch_bytes && spare_.size() < most_spare) {
      s.data.clear();
      spare_.push_back(std::move(s.data));
    }
    if (!fine) keep(std::move(s));
    sends_.erase(sends_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// ---- polling

bool mpi_endpoint::poll(bytes& message) {
  if (ready_.empty()) {
    // The message of a ring may arrive a little later: MPI had no room to send it at once.
    if (const std::uint32_t count = bells_.own().count(); count != heard_) {
      heard_ = count;
      active_ = clock::now();
    }
    flush_all();
    if (!sends_.empty()) end_sends();
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
  active_ = clock::now();
  if (!lost_any_) is_fine(collectives_.start(c), -1);
}

std::uint64_t mpi_endpoint::ended_collectives() {
  const std::uint64_t before = collectives_.ended();
  for (bool moved = true; moved && !lost_any_;) {
    is_fine(collectives_.advance(moved), -1);
    if (moved) active_ = clock::now();
  }
  if (collectives_.ended() == before) collectives_.refuse_if_broken();
  return collectives_.ended();
}

// ---- sleeping. A place on this machine rings when it has sent something. MPI cannot wake a thread that sleeps in the
// kernel, so as long as messages can come from another machine, an idle place polls, at growing intervals up to 500 us,
// which takes a few percent of a core.

void mpi_endpoint::sleep(clock::time_point until) {
  using namespace std::chrono_literals;
  if (!std::exchange(slack_set_, true))
    prctl(PR_SET_TIMERSLACK, 1000UL);  // of this thread, in ns; the default is 50 us
  const auto now = clock::now();
  const auto idle = now - active_;
  // An answer arrives within some 10 us, and a sleep takes longer than requested. Large messages move only while MPI is
  // called; those that do not move for a while wait for a process that is busy or slow.
  const bool moving = !sends_.empty() || !held_.empty();
  if (idle < (moving ? 1ms : spins_ ? 50us : 20us)) {
    sched_yield();
    return;
  }
  const clock::duration most = bells_.rung_by_all() && !leaving_ ? 10ms : 500us;
  clock::duration nap =
      moving || (!collectives_.empty() && !lost_any_) ? 5us : std::clamp<clock::duration>(idle / 8, 5us, most);
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
  } else if (!survives_losses_ || !finds_loss()) {
    // A receive from any source, or a collective, has failed: nothing can arrive after that.
    for (int p = 0; p < places(); ++p) {
      if (p != here_) lose({p, std::string("MPI, receiving: ") + text});
    }
  }
  return false;
}

/// MPI has failed because a place was lost. MPI may find the loss a little earlier than the kernel reports it.
bool mpi_endpoint::finds_loss() {
  for (const int p : acknowledge_losses(job_)) lose({p, "MPI says that its process has failed"});
  for (int looks = 0; !lost_any_ && looks < 100; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (lost_place& l : peers_.look_near(clock::now())) lose(std::move(l));
  }
  return lost_any_;
}

void mpi_endpoint::lose(lost_place what) {
  const auto index = static_cast<std::size_t>(what.place);
  if (left_ || gone_[index] || what.place == here_) return;
  gone_[index] = true;
  lost_any_ = true;
  to(what.place).batch.clear();
  std::erase_if(near_sends_, [&](const auto& s) { return s.second.to == what.place; });
  const record r{record_kind::lost, static_cast<std::uint32_t>(what.place), what.why.size()};
  for (int p = 0; p < places(); ++p) {
    if (p != here_ && !gone_[static_cast<std::size_t>(p)])
      append(p, r, reinterpret_cast<const std::byte*>(what.why.data()), what.why.size());
  }
  newly_lost_.push_back(std::move(what));
}

void mpi_endpoint::watch() {
  const auto now = clock::now();
  if (leaving_ && !left_ && !survives_losses_) look_for_end();
  if (left_) return;
  if (peers_.should_sign(now)) {
    for (const int p : peers_.far()) {
      if (!gone_[static_cast<std::size_t>(p)]) append(p, {record_kind::sign, 0, 0}, nullptr, 0);
    }
  }
  // Other processes may see that all have left, and end, before this one does.
  if (leaving_ && now - leaving_since_ < std::chrono::seconds(2)) return;
  for (lost_place& l : peers_.look(now)) lose(std::move(l));
}

std::optional<lost_place> mpi_endpoint::lost() {
  if (newly_lost_.empty()) return {};
  lost_place first = std::move(newly_lost_.front());
  newly_lost_.pop_front();
  return first;
}

void mpi_endpoint::look_for_end() {
  if (survives_losses_) {  // a barrier would not end after a loss
    left_ = sends_.empty() && dirty_.empty();
    for (int p = 0; p < places(); ++p)
      left_ = left_ && (p == here_ || gone_[static_cast<std::size_t>(p)] || said_leaving_[static_cast<std::size_t>(p)]);
    return;
  }
  int done = 0;
  if (is_fine(MPI_Test(&all_leave_, &done, MPI_STATUS_IGNORE), -1) && done != 0) left_ = true;
}

bool mpi_endpoint::has_left() {
  // Checked only once this place leaves: a place that has said that it leaves may still get messages that a lost place
  // had sent, and then has to detect the ends of others.
  if (survives_losses_ && leaving_ && !left_) look_for_end();
  return left_ || (lost_any_ && (!survives_losses_ || gone_[0]));
}

void mpi_endpoint::leave() {
  if (std::exchange(leaving_, true)) return;
  leaving_since_ = clock::now();
  if (survives_losses_) {
    for (int p = 0; p < places(); ++p) {
      if (p != here_ && !gone_[static_cast<std::size_t>(p)]) append(p, {record_kind::leaving, 0, 0}, nullptr, 0);
    }
    return;
  }
  is_fine(MPI_Ibarrier(leaving_job_, &all_leave_), -1);
}

}  // namespace kith::distributed::mpi
