#include "openmp/fatal.hpp"

#include <cstdio>
#include <cstdlib>

namespace kith::openmp {

void die(const char* what) noexcept {
  std::fprintf(stderr, "kith: %s\n", what);
  std::_Exit(1);
}

void die(const std::exception_ptr& why) noexcept {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& e) {
    die(e.what());
  } catch (...) {
    die("a task has thrown an exception that no code catches");
  }
}

}  // namespace kith::openmp
