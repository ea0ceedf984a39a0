// The directive `error`.
#include "openmp/abi.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::size_t ends_in_zero = ~std::size_t{0};

void print(const char* what, const char* text, std::size_t length) {
  if (text == nullptr) {
    std::fprintf(stderr, "kith: %sdirective `error` reached\n", what);
  } else if (length == ends_in_zero) {
    std::fprintf(stderr, "kith: %sdirective `error` reached: %s\n", what, text);
  } else {
    std::fprintf(stderr, "kith: %sdirective `error` reached: %.*s\n", what, static_cast<int>(length), text);
  }
}

}  // namespace

KITH_OPENMP_API void GOMP_warning(const char* text, std::size_t length) { print("", text, length); }

KITH_OPENMP_API void GOMP_error(const char* text, std::size_t length) {
  print("fatal: ", text, length);
  std::exit(EXIT_FAILURE);
}

/// LLVM's; `severity`: 1 for a warning, else the program ends.
KITH_OPENMP_API void __kmpc_error(const void*, int severity, const char* text) {
  if (severity == 1) {
    print("", text, ends_in_zero);
  } else {
    GOMP_error(text, ends_in_zero);
  }
}
