// kith::runtime: makes an engine, and passes calls to it. engine_options.cpp chooses its settings.
#include <kith/runtime.hpp>

#include "api/engine_options.hpp"
#include "api/implementation.hpp"
#include "base/environment.hpp"
#include "machine/bind_mode.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "policy/contract/policy_options.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace kith {

namespace {

/// The options of a run that `kith record --addresses` compares with the first one.
runtime_options under_another_schedule(runtime_options o) {
  o.policy = "random";
  o.workers = 2;
  o.oversubscribe = true;
  return o;
}

}  // namespace

runtime::runtime(const runtime_options& asked) {
  const runtime_options o = address_run() == 2 ? under_another_schedule(asked) : asked;
  tell_misspelt_variables();
  machine on = current_machine(o.machine);
  const auto claims = std::make_shared<cpu_claims>();
  const worker_plan plan =
      plan_workers(on, process_limits(), workers_setting(o.workers), oversubscribe_setting(o.oversubscribe),
                   {bind_setting(o.bind), [&](int cpu, int level) { return claims->take(cpu, level); }});
  native::engine_options options = engine_options_of(o, plan.workers, plan.cores_shared);
  options.claims = claims;
  impl_ = std::make_unique<implementation>(std::move(on), plan, std::move(options));
}

// In a child of fork(), an inherited runtime has no workers to wait for, and its resources are the parent's.
runtime::~runtime() {
  if (impl_->engine.inherited()) {
    [[maybe_unused]] const implementation* const left = impl_.release();
    return;
  }
  if (native::worker::find_on_stack(impl_->engine) != nullptr) {
    std::fputs(
        "kith: a task destroys the runtime that it runs on (kith::runtime::~runtime() was called inside a task or "
        "run() of "
        "that runtime), which would have to wait for the task to end. Keep the runtime alive until run() or wait() has "
        "returned, and destroy it on a thread that runs none of its tasks.\n",
        stderr);
    std::abort();
  }
}

void runtime::run_root(void* context, void (*f)(void*)) { impl_->engine.run_root(context, f); }

void runtime::wait() {
  impl_->engine.refuse_inherited("runtime::wait()");
  if (native::worker* w = native::worker::current(); w != nullptr && &w->engine == &impl_->engine) {
    throw error("runtime::wait(): called from inside a task of this runtime; kith::wait() waits for a task's children");
  }
  impl_->engine.outside.wait_until_empty();
  if (std::exception_ptr failure = impl_->engine.outside.take_failure()) std::rethrow_exception(std::move(failure));
}

int runtime::workers() const noexcept { return static_cast<int>(impl_->engine.workers.size()); }
void runtime::mark(const std::string& text) {
  impl_->engine.refuse_inherited("runtime::mark()");
  impl_->engine.mark(text);
}
std::string runtime::recorded_in() const { return impl_->engine.recorded_in(); }
bool runtime::dry() const noexcept { return impl_->engine.options.dry; }
std::string runtime::policy() const {
  std::string text = impl_->engine.options.policy;
  if (impl_->engine.options.migrate) mark_migration(text);
  return text;
}
statistics runtime::statistics() const {
  impl_->engine.refuse_inherited("runtime::statistics()");
  return impl_->engine.statistics();
}
void runtime::reset_statistics() {
  impl_->engine.refuse_inherited("runtime::reset_statistics()");
  impl_->engine.reset_statistics();
}

}  // namespace kith
