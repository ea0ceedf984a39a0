#include "base/access_tracer.hpp"

#include "base/atomic.hpp"

namespace kith {

namespace {
constinit atomic<const access_tracer*> registered{nullptr};
}

const access_tracer* the_access_tracer() noexcept { return registered.load(relaxed); }
void set_access_tracer(const access_tracer& t) noexcept { registered.store(&t, relaxed); }

}  // namespace kith
