// What takes tasks at their creation in place of the engine.
#pragma once

#include <kith/detail/creation.hpp>

#include <cstddef>
#include <string_view>

namespace kith::detail {

/// Takes what is created in a scope, instead of the engine: the tasks of a graph that is captured. The functions are
/// those of creation.hpp; the draft that begin() returns has no task.
class creation_sink {
 public:
  virtual draft begin(std::size_t closure_bytes, std::size_t closure_align) = 0;
  virtual task_ref submit(task_code, const declared&) = 0;
  virtual void abandon() noexcept = 0;
  /// Throws kith::error: the running code asks for something that needs tasks that run at once.
  [[noreturn]] virtual void refuse(std::string_view what) const = 0;

 protected:
  ~creation_sink() = default;
};

}  // namespace kith::detail
