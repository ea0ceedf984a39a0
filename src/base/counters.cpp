#include "base/counters.hpp"

#include "base/atomic.hpp"

namespace kith {

namespace {
constinit atomic<counter_opener> opener{nullptr};
}

counter_opener the_counter_opener() noexcept { return opener.load(relaxed); }
void set_counter_opener(counter_opener o) noexcept { opener.store(o, relaxed); }

}  // namespace kith
