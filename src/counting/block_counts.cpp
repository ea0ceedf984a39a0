// The instructions that the program counts itself: the thread's numbers, and their registration with the library.
//
// Code that src/counting/as has assembled adds to the numbers of the thread that runs it. The library reads them on
// that thread.
#include "base/counters.hpp"

#include <cstdint>

// The assembler's additions use this name, and the model of thread-local data that programs have.
extern "C" {
[[gnu::tls_model(
    "local-exec")]] constinit thread_local std::uint64_t kith_instructions[kith::counters_of_program.size()] = {};
}

namespace {

[[maybe_unused]] const bool registered =
    (kith::set_instruction_count([]() -> const std::uint64_t* { return kith_instructions; }), true);

}  // namespace
