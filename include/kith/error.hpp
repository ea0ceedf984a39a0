#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace kith {

/// The cause of an error, for programs that treat causes differently.
enum class error_kind : std::uint8_t {
  misuse,     // a call with wrong arguments, at a wrong time or from a wrong thread
  setting,    // a wrong value of an option, of an environment variable or of a policy's option
  input,      // a file that cannot be read, or has wrong contents
  resources,  // a limit was reached, or the system refused memory, a thread or a file
  cancelled,  // the task or node was cancelled, and has no result
};

/// Thrown by Kith for wrong input or wrong use. The text names what was wrong, where, and what was expected. For a
/// broken invariant inside Kith nothing is thrown: the program aborts and prints the invariant's name.
class error : public std::runtime_error {
 public:
  /// `what`: one sentence that names what was wrong, where, and what was expected.
  explicit error(const std::string& what, error_kind kind = error_kind::misuse)
      : std::runtime_error(what), kind_(kind) {}
  /// The cause.
  error_kind kind() const noexcept { return kind_; }

 private:
  error_kind kind_;
};

}  // namespace kith
