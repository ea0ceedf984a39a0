#include "api/engine_options.hpp"

#include "base/access_tracer.hpp"
#include "base/atomic.hpp"
#include "base/counters.hpp"
#include "base/environment.hpp"
#include "base/replacement.hpp"
#include "machine/limits.hpp"
#include "policy/contract/policy_options.hpp"
#include "recording/file.hpp"
#include "recording/parts.hpp"
#include "replay/choose.hpp"

#include <kith/error.hpp>

#include <optional>
#include <string>

namespace kith {

namespace {

/// The option, or else the environment variable, or else the default.
std::int64_t decide(std::optional<std::int64_t> option, const variable& v) {
  if (!option) return number_of(v).value_or(standard_number(v));
  if (*option < v.least || *option > v.most) {
    throw error(std::string("runtime_options::") + v.option + " = " + std::to_string(*option) + ": expected " +
                    std::to_string(v.least) + " to " + std::to_string(v.most),
                error_kind::setting);
  }
  return *option;
}
std::string decide(const std::optional<std::string>& option, const variable& v) {
  return option ? *option : value_of(v).value_or(v.standard);
}

/// Calls `use` with the setting's text. If the environment variable decided it, errors name the variable.
template <class Use>
auto use_setting(const std::optional<std::string>& option, const variable& v, const Use& use) {
  try {
    return use(decide(option, v));
  } catch (const error& e) {
    if (option || !value_of(v)) throw;
    throw error(std::string(v.name) + ": " + e.what(), error_kind::setting);
  }
}

/// The file of this runtime's recording. The first recording of a process has the requested name.
std::string numbered(const std::string& file) {
  static atomic<int> recorded{0};
  return numbered_file(file, recorded.fetch_add(1, relaxed) + 1);
}

/// Throws if the recording could not be written, or would replace something else, before any work is done.
void refuse_unrecordable(const std::string& file, bool is_option) {
  try {
    refuse_unwritable(file);
    if (!value_of(var::record_parts)) refuse_to_replace(file);  // else `kith record` has refused
  } catch (const error& e) {
    const std::string set =
        is_option ? std::string("runtime_options::") + var::record.option + " = " : std::string(var::record.name) + "=";
    throw error(set + e.what(), e.kind());
  }
}

/// The counters for each task of a recording.
counter_set counters_setting() {
  const std::string list = decide(std::optional<std::string>(), var::record_counters);
  if (const std::optional<counter_set> s = counter_set::parse(list)) return *s;
  throw error(
      std::string(var::record_counters.name) + ": '" + list + "' is not known; expected " + counter_set::expected(),
      error_kind::setting);
}

}  // namespace

std::int64_t address_run() { return decide(std::optional<std::int64_t>(), var::record_addresses); }

native::engine_options engine_options_of(const runtime_options& o, int workers, bool cores_shared) {
  native::engine_options s;
  s.policy = use_setting(o.policy, var::policy, [](std::string text) {
    std::string without_mark = text;
    static_cast<void>(take_migration(without_mark));
    check_policy(without_mark);
    return text;
  });
  s.migrate = take_migration(s.policy);
  if (!s.migrate) s.migrate = decide(o.migrate, var::migrate) != 0;
  s.memory = use_setting(o.memory, var::memory, [](const std::string& text) { return distribution::parse(text); });
  s.throttle = static_cast<std::uint32_t>(decide(o.throttle, var::throttle));
  s.throttle_bytes = static_cast<std::uint64_t>(decide(o.throttle_bytes, var::throttle_bytes));
  s.inline_limit = static_cast<int>(decide(o.inline_limit, var::inline_limit));
  // If workers share cores, spinning would only keep other workers from running. With a bound on those that are awake,
  // they share cores only briefly.
  const int cpus = usable_cpus(process_limits());
  const auto awake = static_cast<int>(o.awake ? decide(o.awake, var::awake)
                                              : number_of(var::awake).value_or(workers > cpus ? cpus : 0));
  s.awake = awake < workers ? awake : 0;
  const std::int64_t spin = decide(o.spin, var::spin);
  s.spin = cores_shared && s.awake == 0 ? 0 : static_cast<int>(spin);
  s.stack_bytes = static_cast<std::size_t>(decide(o.stack_bytes, var::stack));
  s.stacks = static_cast<std::size_t>(decide(o.stacks, var::stacks));
  s.seed = o.seed ? *o.seed : static_cast<std::uint64_t>(decide(std::optional<std::int64_t>(), var::seed));
  s.check_handles = decide(o.check_handles, var::check_handles) != 0;
  s.record = decide(o.record, var::record);
  if (!s.record.empty()) {
    const std::optional<std::string> set = value_of(var::record);
    // A place that records as the variable says has the option FILE-place-N (recording_of_place()).
    const bool is_of_variable = set && (s.record == *set || s.record.starts_with(*set + "-place-"));
    refuse_unrecordable(s.record, o.record && !is_of_variable);
  }
  // Under `kith record` several processes may share the name; the recorder then adds a number.
  if (!s.record.empty() && !value_of(var::record_parts)) s.record = numbered(s.record);
  s.record_addresses = !s.record.empty() && address_run() != 0;
  if (s.record_addresses && the_access_tracer() == nullptr)
    throw error(
        "addresses cannot be recorded: this program was built without access callbacks. Link it with the CMake target "
        "kith::trace_accesses and build it again; for `kith app`, build Kith by `cmake --preset addresses` "
        "(docs/check.md)",
        error_kind::setting);
  s.dry = decide(o.dry, var::dry) != 0;
  s.calibrate = static_cast<int>(decide(o.calibrate, var::calibrate));
  if (!s.record.empty() && s.calibrate == 0) s.record_counters = counters_setting();
  if (s.record_addresses && !s.record_counters.empty())
    throw error(
        "KITH_RECORD_COUNTERS and KITH_RECORD_ADDRESSES: the counts would be of what records addresses; leave out one",
        error_kind::setting);
  if (s.calibrate != 0 && (s.record.empty() || s.dry))
    throw error(std::string(o.calibrate ? "runtime_options::calibrate" : "KITH_CALIBRATE") +
                    ": it measures for a recording that is not dry; set KITH_RECORD or runtime_options::record, and "
                    "neither KITH_DRY nor runtime_options::dry",
                error_kind::setting);
  return s;
}

}  // namespace kith
