#include "places/place_records.hpp"

#include "base/clock.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace kith::distributed {

namespace {

constexpr int at_once = 16;                                      // questions in a row, at the start and at the end
constexpr std::chrono::milliseconds between(250), longest(200);  // of questions; of waiting for the last answers

std::string name_of_host() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

place_records::place_records(const std::string& parts, int workers, int number, int places, std::uint64_t clock,
                             bool asks)
    : file_(parts + "/" + log_of_place),
      log_(file_, static_cast<std::uint32_t>(workers), log_version_of_place),
      number_(number),
      places_(places),
      clock_(clock),
      asks_(asks),
      left_(asks ? at_once : 0) {
  if (!asks_) introduce(clock_);
}

place_records::~place_records() {
  if (log_.lost() == 0) return;
  std::fprintf(stderr, "kith: recording %s: %s; %llu records of messages are missing\n", file_.c_str(),
               std::strerror(log_.why()), static_cast<unsigned long long>(log_.lost()));
}

void place_records::introduce(std::uint64_t job) noexcept {
  introduced_ = true;
  const std::string host = name_of_host();
  log_.append_text({.kind = log_kind::place,
                    .small = static_cast<std::uint16_t>(number_),
                    .middle = static_cast<std::uint32_t>(host.size()),
                    .large = job},
                   {static_cast<std::uint64_t>(places_), clock_}, host);
}

void place_records::note(int peer, const message_header& h, std::size_t bytes, std::uint8_t flag, std::uint64_t task,
                         std::uint64_t at) noexcept {
  log_.append({.kind = log_kind::message,
               .flags = static_cast<std::uint8_t>(static_cast<std::uint8_t>(h.kind) | flag),
               .small = static_cast<std::uint16_t>(peer),
               .large = task},
              {at, bytes}, {h.sequence, h.result});
}

void place_records::sent(int to, const message_header& h, std::size_t bytes) noexcept {
  note(to, h, bytes, 0, h.task, ticks());
}

void place_records::received(const message_header& h, std::size_t bytes, std::uint64_t at,
                             std::uint64_t task) noexcept {
  note(static_cast<int>(h.from), h, bytes, log_received, task, at);
}

void place_records::continued(std::uint64_t task, std::uint64_t before, std::uint64_t at,
                              const awaited& what) noexcept {
  const bool by_result = what.task == 0 && what.result != 0;
  log_.append({.kind = log_kind::made,
               .flags = static_cast<std::uint8_t>(log_continues | (by_result ? log_by_result : 0)),
               .large = task},
              {before, at}, {by_result ? what.result : what.task, 0});
}

void place_records::made(std::uint64_t task, std::uint64_t spawner, std::uint64_t result) noexcept {
  log_.append({.kind = log_kind::made, .flags = log_by_result, .large = task}, {spawner, 0}, {result, 0});
}

void place_records::flow(std::uint64_t task, std::span<const std::uint64_t> numbers) noexcept {
  log_.append_numbers({.kind = log_kind::flow, .large = task}, numbers);
}

// ---- clocks

bool place_records::should_ask() const noexcept {
  return asks_ && !waits_ && (left_ > 0 || (!leaves_ && steady::now() - asked_ >= between));
}

message_header place_records::question() noexcept {
  waits_ = true;
  asked_ = steady::now();
  return {.kind = message_kind::ask_clock, .from = static_cast<std::uint32_t>(number_), .sequence = ticks()};
}

message_header place_records::answer_to(const message_header& question, int from, std::uint64_t clock) noexcept {
  return {.kind = message_kind::clock,
          .from = static_cast<std::uint32_t>(from),
          .sequence = question.sequence,
          .finish_number = clock,
          .result = ticks()};
}

void place_records::answered(const message_header& h) noexcept {
  waits_ = false;
  if (left_ > 0) --left_;
  log_.append({.kind = log_kind::clock}, {h.sequence, ticks()}, {h.result, 0});
  if (!introduced_) introduce(h.finish_number);  // after the first reading: without one, the parts cannot be assembled
}

void place_records::begin_last() noexcept {
  if (leaves_ || !asks_) return;
  leaves_ = true;
  left_ = at_once;
  leaving_since_ = steady::now();
}

bool place_records::may_leave() const noexcept {
  return left_ == 0 || (leaves_ && steady::now() - leaving_since_ > longest);
}

}  // namespace kith::distributed
