#include "openmp/context.hpp"

#include "openmp/team.hpp"

#include <unistd.h>

#include <memory>
#include <utility>

namespace kith::openmp {

namespace {

/// A thread that no region has, alone in a team of its own.
struct initial_thread {
  openmp::team team{the_settings().first};
  context c = team.context_of(0);
};

/// Frees what a thread has when it ends. What runs later there, and uses OpenMP, makes it again, and that stays.
struct frees_at_end {
  initial_thread* it = nullptr;
  ~frees_at_end() {
    context_of_thread = nullptr;
    delete it;
  }
};
thread_local frees_at_end freed_at_end;

}  // namespace

constinit thread_local context* context_of_thread [[gnu::tls_model("initial-exec")]] = nullptr;

/// The main thread's lives until the end: destructors and exit handlers may use OpenMP.
context& make_initial_context() noexcept {
  initial_thread* const made = std::make_unique<initial_thread>().release();
  if (getpid() != gettid()) freed_at_end.it = made;
  context_of_thread = &made->c;
  return made->c;
}

icv_set& context::own_icv() {
  if (!own_environment) {
    own_environment = std::make_unique<data_environment>(*environment);
    environment = own_environment.get();
  }
  return own_environment->icv;
}

void context::share_environment() {
  if (own_environment) environment = &team->keep(std::move(own_environment));
}

}  // namespace kith::openmp
