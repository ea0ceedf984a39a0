// How a runtime is set up: an option for each setting, and the types that options have.
#pragma once

#include <kith/detail/option_check.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace kith {

/// An option that is true, false or without a value. Only these are accepted: any pointer converts to bool, so that
/// "no" would mean true.
class optional_bool : public std::optional<bool> {
 public:
  constexpr optional_bool() noexcept = default;
  constexpr optional_bool(std::nullopt_t) noexcept {}
  constexpr optional_bool(const std::optional<bool>& value) noexcept : std::optional<bool>(value) {}
  template <class T>
  constexpr optional_bool(T value) : std::optional<bool>(detail::bool_of(value)) {}
};

/// An option that is a number, or without a value.
template <class Number>
class optional_number : public std::optional<Number> {
 public:
  constexpr optional_number() noexcept = default;
  constexpr optional_number(std::nullopt_t) noexcept {}
  template <class T>
  constexpr optional_number(const std::optional<T>& value) noexcept : std::optional<Number>(value) {}
  template <class T>
  constexpr optional_number(const optional_number<T>& value) noexcept : std::optional<Number>(value) {}
  template <class T>
    requires std::is_convertible_v<T, Number>
  constexpr optional_number(T value) noexcept : std::optional<Number>(static_cast<Number>(value)) {}
  /// Rejects a text at compile time, with a message that says what to write.
  template <class Text>
    requires std::is_same_v<Text, char>
  constexpr optional_number(const Text*) {
    static_assert(sizeof(Text) == 0, "an option that is a number is given a text; write it without quotes");
  }
};

/// The options of a runtime. An option without a value comes from the environment variable named beside it, else from
/// the built-in default shown there. The constructor of runtime throws `error` for a wrong value and names it.
struct runtime_options {
  /// KITH_POLICY, "auto". With options: "steal:victim=nearest,end=fifo" (see `kith policies`).
  std::optional<std::string> policy = {};
  /// KITH_WORKERS, one for each core that this process may use.
  optional_number<int> workers = {};
  /// KITH_OVERSUBSCRIBE, false: `workers` is limited to the cores that this process may use.
  optional_bool oversubscribe = {};
  /// KITH_BIND, "auto": on which of the process's CPUs a worker may run while it executes tasks. "cores": one of its
  /// own; "caches": those of its memory node that share its last-level cache; "nodes": those of its memory node; "off":
  /// all. "auto": "caches" on one node with several such caches, "nodes" if there are several nodes, else "off"; see
  /// docs/neighbours.md. For threads and programs started inside tasks, see kith::unbound.
  std::optional<std::string> bind = {};
  /// KITH_MACHINE, "": this machine. "node:8 core:10": behave as if on that one.
  std::optional<std::string> machine = {};
  /// KITH_THROTTLE, 2048: unfinished tasks of one creator before it helps to run them; 0: no bound.
  optional_number<std::int64_t> throttle = {};
  /// KITH_THROTTLE_BYTES, 0: the same bound in bytes that these tasks access; 0: no bound.
  optional_number<std::int64_t> throttle_bytes = {};
  /// KITH_INLINE, -1: a ready task runs at its creation, as a plain call, if tasks with this code were measured to take
  /// less time than handing one to another worker, and if the policy does not place or order tasks
  /// (docs/decisions/short-tasks-run-at-creation.md).
  /// 0: never. 1: always. L: only if L or more tasks of its creator per worker are unfinished.
  optional_number<int> inline_limit = {};
  /// KITH_SPIN, 2000: how often an idle worker looks for work before it sleeps.
  optional_number<int> spin = {};
  /// KITH_AWAKE: where there are more workers than CPUs: while this many are awake, no further one is woken for work
  /// unless cores are idle. 0: no bound; for programs whose tasks wait for each other, one on each worker. Default: the
  /// number of CPUs.
  optional_number<int> awake = {};
  /// KITH_STACK, 64 MiB: address space of each stack of a worker. At least 1 MiB.
  optional_number<std::size_t> stack_bytes = {};
  /// KITH_STACKS, 10000: how many waits of a worker may be suspended at a time, each on a stack of its own. A
  /// wait beyond this limit throws `error`.
  optional_number<int> stacks = {};
  /// KITH_SEED, 1: seeds the policies' random choices.
  optional_number<std::uint64_t> seed = {};
  /// KITH_CHECK_HANDLES, false. True: a handle that overlaps another handle or a raw range is an error. For
  /// debugging; costs about 200 ns for each handle and wait.
  optional_bool check_handles = {};
  /// KITH_RECORD, "": nothing is recorded. Else the file of the recording (`kith record`, `kith sim`). If a process
  /// has several runtimes, the second one writes FILE-2, and so on.
  std::optional<std::string> record = {};
  /// KITH_MEMORY, "system": how allocations that name no distribution are spread (kith::distribution): system,
  /// fine, coarse, local, block, node:N, deferred. ",huge" after it: in huge pages.
  std::optional<std::string> memory = {};
  /// KITH_MIGRATE, false. True: the pages of data that a task writes are moved, in batches, to the node of the worker
  /// that runs it. The same as "+pm" after the policy's name, as in "dep+pm".
  optional_bool migrate = {};
  /// KITH_DRY, false. True: tasks with a stated cost (kith::work, a graph's cost()) are only recorded, not run.
  optional_bool dry = {};
  /// KITH_CALIBRATE, 0. With `record` and one worker: this number of tasks of each type and size are run again, with
  /// their data out of the caches and in them. The recording keeps how long each took (`kith calibrate`). A task's
  /// result does not change if it declares all that it writes: the data it wrote is restored. Not run again are tasks
  /// without accesses, with concurrent accesses or with a non-const function, and tasks that create tasks.
  optional_number<int> calibrate = {};
};

}  // namespace kith
