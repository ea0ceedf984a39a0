#pragma once

#include <stdexcept>

namespace kith {

/// What Kith throws for wrong input or wrong use. The text names what was wrong, where, and what was expected. A
/// broken invariant inside Kith throws nothing: it aborts the program and prints its name.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kith
