// The instructions that the program counts itself: the thread's count, and its registration with the library.
//
// Code that src/counting/as has assembled adds to the count of the thread that runs it. The library reads it on that
// thread.
#include "base/counters.hpp"

#include <cstdint>

// The assembler's additions use this name, and the model of thread-local data that programs have.
extern "C" {
constinit thread_local std::uint64_t kith_instructions [[gnu::tls_model("local-exec")]] = 0;
}

namespace {

[[maybe_unused]] const bool registered =
    (kith::set_instruction_count([]() -> const std::uint64_t* { return &kith_instructions; }), true);

}  // namespace
