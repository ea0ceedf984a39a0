// Errors from which an OpenMP program cannot go on: the calls of this library have no way to return them.
#pragma once

#include <exception>

namespace kith::openmp {

/// Prints "kith: WHAT" on stderr and ends the program with exit code 1, without its destructors: its threads still run.
[[noreturn]] void die(const char* what) noexcept;
/// The same, with the message of an exception.
[[noreturn]] void die(const std::exception_ptr& why) noexcept;

}  // namespace kith::openmp
