// The environment variables that Kith reads: the only table of their names, defaults, bounds and meanings.
//
// Parsing, messages, docs/settings.md and `kith doctor` use this table; tests/unit/environment_test.cpp
// compares the document with it. A new variable is one object and one entry of `all`.
#pragma once

#include <cstdint>

namespace kith {

struct variable {
  const char* name;
  const char* option;    // the member of runtime_options that comes first; "": none
  const char* standard;  // the default, as text that can be parsed
  const char* meaning;
  std::int64_t least = 0, most = 0;  // bounds of a number; both 0: a text
  bool bytes = false;                // the number may end in K, M or G

  constexpr bool is_number() const noexcept { return least != 0 || most != 0; }
};

namespace var {

inline constexpr std::int64_t many = std::int64_t{1} << 40;

inline constexpr variable policy{"KITH_POLICY", "policy", "auto",
                                 "which worker runs which task: `name:key=value,...` (`kith policies`)"};
inline constexpr variable workers{
    "KITH_WORKERS",
    "workers",
    "",
    "maximum number of workers; never more than the cores that this process may use, unless "
    "KITH_OVERSUBSCRIBE is 1",
    1,
    4096};
inline constexpr variable places{
    "KITH_PLACES", "", "1", "number of places of a program that uses them (docs/places.md)", 1, 1024};
inline constexpr variable transport{
    "KITH_TRANSPORT", "", "",
    "what carries messages between places: `threads` (all are in this process), `openmpi` or `mpich` (each process is "
    "one), or the path of a plug-in; default: as the program was started"};
inline constexpr variable silence{"KITH_SILENCE",
                                  "",
                                  "4",
                                  "seconds after which a place on another machine that is silent is lost; 0: never",
                                  0,
                                  3600};
inline constexpr variable guard{"KITH_GUARD", "", "",
                                "set by `kith launch`: the folder in which it is told that survivors of a loss go on"};
inline constexpr variable oversubscribe{
    "KITH_OVERSUBSCRIBE", "oversubscribe", "0", "1: as many workers as requested, even if there are fewer cores", 0, 1};
inline constexpr variable bind{
    "KITH_BIND", "bind", "auto",
    "where a worker's thread may run: `cores` (on one CPU), `caches` (on the CPUs of its last-level cache), `nodes` "
    "(on those of its memory node), `off`; `auto`: `caches` on one node with several that cores share, `nodes` where "
    "there are several, else `off`"};
inline constexpr variable machine{"KITH_MACHINE", "machine", "", "behave as if on that machine"};
inline constexpr variable machines{"KITH_MACHINES", "", "", "the folder of machine descriptions (`kith machines`)"};
inline constexpr variable memory{
    "KITH_MEMORY", "memory", "system",
    "how allocations that name no distribution are spread: system, fine, coarse, local, block, node:N, deferred; with "
    "`,huge` in huge pages"};
inline constexpr variable migrate{
    "KITH_MIGRATE", "migrate", "0", "1: pages of written data move to the node that writes them", 0, 1};
inline constexpr variable throttle{"KITH_THROTTLE",
                                   "throttle",
                                   "2048",
                                   "unfinished tasks of one creator before it runs other tasks itself; 0: no bound",
                                   0,
                                   std::int64_t{1} << 26};
inline constexpr variable throttle_bytes{
    "KITH_THROTTLE_BYTES", "throttle_bytes", "0", "the same in bytes that they access; 0: no bound", 0, many, true};
inline constexpr variable inline_limit{"KITH_INLINE",
                                       "inline_limit",
                                       "-1",
                                       "which ready tasks run at their creation: -1: short ones, as measured, if the "
                                       "policy lets them; 0: none; 1: all; L: "
                                       "all while L or more of the creator's tasks per worker are unfinished",
                                       -1,
                                       std::int64_t{1} << 20};
inline constexpr variable spin{"KITH_SPIN",
                               "spin",
                               "2000",
                               "how often an idle worker looks for work before it sleeps; not at all where workers "
                               "share cores and KITH_AWAKE is 0",
                               0,
                               std::int64_t{1} << 30};
inline constexpr variable awake{"KITH_AWAKE",
                                "awake",
                                "",
                                "where there are more workers than CPUs: while this many are awake, no further one is "
                                "woken for work unless cores are idle; 0: no bound",
                                0,
                                4096};
inline constexpr variable stack{"KITH_STACK",          "stack_bytes", "64M", "address space of each stack of a worker",
                                std::int64_t{1} << 20, many,          true};
inline constexpr variable stacks{"KITH_STACKS",
                                 "stacks",
                                 "10000",
                                 "waits of a worker that may be suspended at a time, each on a stack of its own",
                                 0,
                                 std::int64_t{1} << 24};
inline constexpr variable seed{"KITH_SEED", "seed", "1", "seed of the policies' random choices", 0, many};
inline constexpr variable check_handles{
    "KITH_CHECK_HANDLES",
    "check_handles",
    "0",
    "1: overlaps of handles, with each other or with raw ranges, are errors (for debugging)",
    0,
    1};
inline constexpr variable record{"KITH_RECORD", "record", "", "the file in which the run is recorded (`kith record`)"};
inline constexpr variable record_parts{"KITH_RECORD_PARTS", "", "",
                                       "set by `kith record`, which puts a recording's parts together itself"};
inline constexpr variable record_addresses{
    "KITH_RECORD_ADDRESSES",
    "",
    "0",
    "set by `kith record --addresses`: 1: what tasks touch is recorded; 2: the same, under `random` on two workers",
    0,
    2};
inline constexpr variable record_counters{"KITH_RECORD_COUNTERS", "", "",
                                          "what is counted for each task of a recording (`kith record --counters`): "
                                          "`all`, `hardware`, `software`, `mix`, or names "
                                          "with commas between them"};
inline constexpr variable dry{"KITH_DRY", "dry", "0", "1: tasks that declare their cost are not run, only recorded",
                              0,          1};
inline constexpr variable calibrate{
    "KITH_CALIBRATE",
    "calibrate",
    "0",
    "number of tasks of each type and size that are timed cold and hot (`kith calibrate`)",
    0,
    std::int64_t{1} << 20};

/// In the order in which users look for them.
inline constexpr const variable* all[] = {
    &policy,        &workers,       &places,       &transport,        &silence,
    &guard,         &oversubscribe, &bind,         &machine,          &machines,
    &memory,        &migrate,       &throttle,     &throttle_bytes,   &inline_limit,
    &spin,          &awake,         &stack,        &stacks,           &seed,
    &check_handles, &record,        &record_parts, &record_addresses, &record_counters,
    &dry,           &calibrate};

}  // namespace var

}  // namespace kith
