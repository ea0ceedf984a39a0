#include "openmp/kmpc/task.hpp"

#include "base/address.hpp"
#include "base/round_up.hpp"
#include "openmp/abi.hpp"
#include "openmp/completion_event.hpp"
#include "openmp/context.hpp"
#include "openmp/kmpc/dependences.hpp"
#include "openmp/kmpc/source_location.hpp"
#include "openmp/kmpc/thread_memory.hpp"
#include "openmp/symbols.hpp"
#include "openmp/task.hpp"
#include "openmp/team.hpp"
#include "openmp/wait.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace kith::openmp::kmpc {

namespace {

task_descriptor* make_block(const task_block& like) {
  static_assert(sizeof(task_block) == 64);  // libomp aligns tasks so, and programs have objects that need it
  task_memory* const mine = memory_of_thread();
  if (mine == nullptr) throw std::bad_alloc();
  memory_origin origin{};
  auto* const block = ::new (mine->take(sizeof like + like.bytes, origin)) task_block(like);
  block->origin = origin;
  return reinterpret_cast<task_descriptor*>(block + 1);
}

task_descriptor* make_descriptor(task_block about, std::size_t bytes, std::size_t shared_bytes, task_entry entry) {
  const std::size_t shareds_at = round_up(bytes, alignof(void*));
  about.bytes = shareds_at + shared_bytes;
  task_descriptor* const made = make_block(about);
  void* const shareds = shared_bytes != 0 ? reinterpret_cast<std::byte*>(made) + shareds_at : nullptr;
  return ::new (made) task_descriptor{.shareds = shareds, .entry = entry, .part = 0, .data_1 = {}, .data_2 = {}};
}

bool is_final(const task_block& block) noexcept { return (block.flags & task_flag::final_task) != 0; }

/// Calls what is left of the body, if there is one.
void call_parts(task_descriptor* t, std::int32_t thread) {
  if (t->entry == nullptr) return;
  task_block& block = block_of(t);
  while (std::exchange(block.has_more, false)) t->entry(thread, t);
}

/// The body of a task. A cancelled one is only destroyed, and has no event any more: nobody may fulfil it.
void run(void* data) {
  auto* const d = static_cast<task_data*>(data);
  const context& c = here();
  if (c.team->is_task_cancelled(c.group)) {
    d->event = nullptr;
  } else {
    task_block& block = block_of(d->task);
    block.in_body = block.has_more = true;
    call_parts(d->task, c.thread);
  }
  destroy(d->task, c.thread);
}

/// "function:line" if the program has them (-g), else the function that made the task, and what tells its tasks apart.
std::string name_of(const body_code& code) {
  const auto& block = *static_cast<const task_block*>(code.site);
  if (const auto source = source_location_of(block.made_at))
    return std::string(source->function).append(":").append(source->line);
  // All bodies are called ".omp_task_entry.", with a number after it, except the first.
  const std::string entry = symbol_at(code.address),
                    maker = symbol_at(reinterpret_cast<std::uintptr_t>(block.called_from));
  constexpr std::string_view usual = ".omp_task_entry.";
  return entry.starts_with(usual) ? maker + ".task" + entry.substr(usual.size()) : entry;
}

void wait_for_predecessors(std::int32_t count, const dependence* list, std::int32_t more, const dependence* others) {
  context& c = here();
  dependences all(c, count, list, more, others);
  if (all.all_memory()) return wait_for_children();
  all.pass_to([&c](const access_records& items) { await_predecessors(c, items); });
}

void make(task_descriptor* t, const access_records* depend) {
  task_data data{block_of(t).event, t};
  task_request r = request_of(data);
  r.depend = depend;
  make_task(r);
}

}  // namespace

task_block& block_of(task_descriptor* t) noexcept { return *(reinterpret_cast<task_block*>(t) - 1); }

task_descriptor* copy_of(task_descriptor* from) {
  const task_block& block = block_of(from);
  task_descriptor* const made = make_block(block);
  std::memcpy(static_cast<void*>(made), from, block.bytes);
  if (from->shareds != nullptr) {
    const std::ptrdiff_t at = static_cast<std::byte*>(from->shareds) - reinterpret_cast<std::byte*>(from);
    made->shareds = reinterpret_cast<std::byte*>(made) + at;
  }
  return made;
}

void destroy(task_descriptor* t, std::int32_t thread) {
  task_block& block = block_of(t);
  if ((block.flags & task_flag::destructors) != 0) t->data_1.destructors(thread, t);
  const memory_origin origin = block.origin;
  task_memory* const mine = memory_of_thread();
  if (mine != nullptr) {
    mine->give(&block, origin);
  } else {
    task_memory::give_alone(&block, origin);
  }
}

task_request request_of(task_data& data) noexcept {
  const task_descriptor& t = *data.task;
  const task_block& block = block_of(data.task);
  return {.code = body_code(t.entry, name_of, &block),
          .body = run,
          .data = &data,
          .size = sizeof data,
          .align = alignof(task_data),
          .final_task = is_final(block),
          .detach = data.event != nullptr,
          .called_cancelled = true,
          .priority = (block.flags & task_flag::has_priority) != 0 ? t.data_2.priority : 0};
}

}  // namespace kith::openmp::kmpc

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

/// `bytes`: of the descriptor, and what the compiler keeps for the task behind it.
KITH_OPENMP_API task_descriptor* __kmpc_omp_task_alloc(const location* at, std::int32_t, std::int32_t flags,
                                                       std::size_t bytes, std::size_t shared_bytes, task_entry entry) {
  return make_descriptor({.made_at = at, .called_from = __builtin_return_address(0), .flags = flags}, bytes,
                         shared_bytes, entry);
}

/// There are no devices, so it is a task on the host.
KITH_OPENMP_API task_descriptor* __kmpc_omp_target_task_alloc(const location* at, std::int32_t, std::int32_t flags,
                                                              std::size_t bytes, std::size_t shared_bytes,
                                                              task_entry entry, std::int64_t) {
  return make_descriptor({.made_at = at, .called_from = __builtin_return_address(0), .flags = flags}, bytes,
                         shared_bytes, entry);
}

/// Also called by the body of an untied task, for its next part: here that follows at once.
KITH_OPENMP_API std::int32_t __kmpc_omp_task(const location*, std::int32_t, task_descriptor* t) {
  task_block& block = block_of(t);
  if (block.in_body) {
    block.has_more = true;
  } else {
    make(t, nullptr);
  }
  return 0;
}
KITH_OPENMP_API std::int32_t __kmpc_omp_task_parts(const location* at, std::int32_t thread, task_descriptor* t) {
  return __kmpc_omp_task(at, thread, t);
}

KITH_OPENMP_API std::int32_t __kmpc_omp_task_with_deps(const location*, std::int32_t, task_descriptor* t,
                                                       std::int32_t count, const dependence* list, std::int32_t more,
                                                       const dependence* others) {
  dependences all(here(), count, list, more, others);
  if (all.all_memory()) wait_for_children();  // for tasks from before its first use
  all.pass_to([t](const access_records& items) { make(t, &items); });
  return 0;
}

/// With a false `if` clause the program calls the body itself, between these two.
KITH_OPENMP_API void __kmpc_omp_task_begin_if0(const location*, std::int32_t, task_descriptor* t) {
  task_block& block = block_of(t);
  block.in_body = true;
  block.running = new undeferred_task(here(), is_final(block));
}
KITH_OPENMP_API void __kmpc_omp_task_complete_if0(const location*, std::int32_t, task_descriptor* t) {
  call_parts(t, here().thread);
  const task_block& block = block_of(t);
  if (block.event != nullptr) {
    block.event->body_ended(*here().team);
    wait_for_children();  // the creator goes on when the task has completed
  }
  const std::unique_ptr<undeferred_task> ended(block.running);
  destroy(t, here().thread);
}

KITH_OPENMP_API void __kmpc_omp_wait_deps(const location*, std::int32_t, std::int32_t count, const dependence* list,
                                          std::int32_t more, const dependence* others) {
  wait_for_predecessors(count, list, more, others);
}
KITH_OPENMP_API void __kmpc_omp_taskwait_deps_51(const location*, std::int32_t, std::int32_t count,
                                                 const dependence* list, std::int32_t more, const dependence* others,
                                                 std::int32_t) {
  wait_for_predecessors(count, list, more, others);
}

KITH_OPENMP_API std::int32_t __kmpc_omp_taskwait(const location*, std::int32_t) {
  wait_for_children();
  return 0;
}
/// A task never leaves its worker, so another one that ran now would delay it.
KITH_OPENMP_API std::int32_t __kmpc_omp_taskyield(const location*, std::int32_t, std::int32_t) { return 0; }

KITH_OPENMP_API completion_event* __kmpc_task_allow_completion_event(const location*, std::int32_t,
                                                                     task_descriptor* t) {
  return block_of(t).event = new completion_event;
}

/// `affinity` clauses are hints.
KITH_OPENMP_API std::int32_t __kmpc_omp_reg_task_with_affinity(const location*, std::int32_t, task_descriptor*,
                                                               std::int32_t, void*) {
  return 0;
}
