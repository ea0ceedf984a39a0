#include "tracing/trace.hpp"

#include "base/rng.hpp"
#include "base/spin_mutex.hpp"

#include <mutex>
#include <utility>

namespace kith::tracing {

void task_trace::begin(address_recording* into, std::uint64_t task, std::uintptr_t stack) noexcept {
  constexpr std::size_t first_size = 1024;
  if (entries_ == nullptr) {
    entries_ = static_cast<entry*>(system_memory(first_size * sizeof(entry)));
    mask_ = first_size - 1;
  }
  ++generation_;  // empties the table
  used_ = 0;
  into_ = into;
  task_ = task;
  stack_ = stack;
  reach_ = stack - begin_of_block(stack);
  touches_ = 0;
  calls_.clear();
  bytes_.clear();
  writer_.moved(nullptr);
}

void task_trace::end() noexcept {
  writer_.end();
  flush();
}

void task_trace::flush() noexcept {
  append(*into_, task_, touches_, bytes_.data(), bytes_.size());
  bytes_.clear();
  touches_ = 0;
}

/// As touch(), while the body runs on a stack of the program's: a fiber's, or that of a signal handler. Touches of that
/// stack are not recorded.
void task_trace::touch_from_elsewhere(const site_key& where, std::uintptr_t address, std::uint64_t bytes,
                                      std::uintptr_t stack) noexcept {
  const std::uintptr_t lowest = stack_ - reach_;
  if (address - lowest < reach_) return touch(where, address, bytes, lowest);
  const block* const b = find_block(address);
  if (b != nullptr && b->has(stack)) return;
  touch(where, address, bytes, stack_);
}

task_trace::entry& task_trace::fresh_entry(const site_key& k, std::size_t at) noexcept {
  if (2 * ++used_ > mask_) {
    grow();
    at = hash(k) & mask_;
    while (entries_[at].task_generation == generation_) at = (at + 1) & mask_;
  }
  entry& e = entries_[at];
  e = entry{.key = k, .number = 0, .task_generation = generation_, .where = nullptr, .state = {}};
  if (k.kind != touch_kind::allocation) e.number = number_of_site(k);
  return e;
}

void task_trace::grow() noexcept {
  entry* const old = entries_;
  const std::size_t size = mask_ + 1;
  entries_ = static_cast<entry*>(system_memory(2 * size * sizeof(entry)));
  mask_ = 2 * size - 1;
  for (std::size_t i = 0; i < size; ++i) {
    if (old[i].task_generation != generation_) continue;
    std::size_t at = hash(old[i].key) & mask_;
    while (entries_[at].task_generation == generation_) at = (at + 1) & mask_;
    entries_[at] = old[i];
    if (writer_.last() == &old[i].state) writer_.moved(&entries_[at].state);
  }
  give_back(old, size * sizeof(entry));
}

namespace {

/// All sites of the process. A task's own table is searched first.
struct known_sites {
  spin_mutex lock;
  growing<site_key> sites;
  std::uint32_t* slots = nullptr;  // number + 1; 0: empty
  std::size_t mask = 0;

  std::size_t slot_of(const site_key& k) noexcept {
    std::size_t i = (k.pc * 31 + k.caller * 17 + std::size_t{k.bytes} * 3 + static_cast<std::size_t>(k.kind)) *
                        0x9e3779b97f4a7c15u >>
                    20;
    for (i &= mask; slots[i] != 0 && sites[slots[i] - 1] != k;) i = (i + 1) & mask;
    return i;
  }
  void grow() noexcept {
    const std::size_t size = slots == nullptr ? 4096 : 2 * (mask + 1);
    if (slots != nullptr) give_back(slots, (mask + 1) * sizeof *slots);
    slots = static_cast<std::uint32_t*>(system_memory(size * sizeof *slots));
    mask = size - 1;
    for (std::uint32_t s = 0; s < sites.size(); ++s) slots[slot_of(sites[s])] = s + 1;
  }
};
constinit known_sites known;

}  // namespace

std::uint32_t number_of_site(const site_key& k) noexcept {
  const recorder_section section;
  const std::lock_guard guard(known.lock);
  if (2 * known.sites.size() >= known.mask) known.grow();
  const std::size_t at = known.slot_of(k);
  if (known.slots[at] == 0) {
    known.sites.push(k);
    known.slots[at] = static_cast<std::uint32_t>(known.sites.size());
  }
  return known.slots[at] - 1;
}

spin_mutex& lock_of_sites() noexcept { return known.lock; }

void for_each_site(void (*each)(void* with, const site_key&), void* with) {
  for (std::size_t i = 0;; ++i) {
    site_key k;
    {
      const recorder_section section;
      const std::lock_guard guard(known.lock);
      if (i == known.sites.size()) return;
      k = known.sites[i];
    }
    each(with, k);
  }
}

namespace {

std::uintptr_t caller_of(std::uintptr_t pc, const call_stack& running) noexcept {
  const std::uintptr_t in_program = offset_in_program(pc) == 0 ? caller_in_program(pc) : 0;
  return in_program != 0 ? in_program : running.caller();
}

}  // namespace

void touched_by_call(touch_kind kind, const void* at, std::uint64_t bytes, const void* pc) noexcept {
  task_trace* const t = now;
  if (t == nullptr || bytes == 0) return;
  const trace_pause pause;
  const auto where = reinterpret_cast<std::uintptr_t>(pc);
  t->touch({where, caller_of(where, t->calls()), 0, kind}, reinterpret_cast<std::uintptr_t>(at), bytes,
           reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

void made_block(block::what kind, const void* at, std::size_t bytes, const void* pc) noexcept {
  if (at == nullptr || bytes == 0 || inside) return;
  task_trace* const t = now;
  const recorder_section section;
  const auto begin = reinterpret_cast<std::uintptr_t>(at), site = reinterpret_cast<std::uintptr_t>(pc);
  block made{.begin = begin, .end = begin + bytes, .kind = kind, .pc = site};
  const call_stack& running = t != nullptr ? t->calls() : calls_outside;
  made.caller = caller_of(site, running);
  std::uint64_t where = running.hash();
  if (t != nullptr) {
    made.recording = t->recording();
    made.task = t->task();
    made.ordinal = mix(where ^ t->next_block(site, where));
  } else {
    where = mix(where ^ thread_number);
    made.ordinal = mix(where ^ next_outside(mix(where ^ site)));
  }
  add_block(made);
}

}  // namespace kith::tracing
