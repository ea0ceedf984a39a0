#include "base/counters.hpp"

#include "base/atomic.hpp"

namespace kith {

namespace {
constinit atomic<counter_opener> opener{nullptr};
constinit atomic<instruction_count> of_program{nullptr};
}  // namespace

counter_opener the_counter_opener() noexcept { return opener.load(relaxed); }
void set_counter_opener(counter_opener o) noexcept { opener.store(o, relaxed); }

instruction_count the_instruction_count() noexcept { return of_program.load(relaxed); }
void set_instruction_count(instruction_count c) noexcept { of_program.store(c, relaxed); }

}  // namespace kith
