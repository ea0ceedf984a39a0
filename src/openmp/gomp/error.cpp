#include "openmp/error.hpp"

#include "openmp/abi.hpp"

#include <cstddef>

namespace {

std::string_view text_of(const char* text, std::size_t length) noexcept {
  constexpr std::size_t ends_in_zero = ~std::size_t{0};
  if (text == nullptr) return {};
  return length == ends_in_zero ? std::string_view(text) : std::string_view(text, length);
}

}  // namespace

KITH_OPENMP_API void GOMP_warning(const char* text, std::size_t length) {
  kith::openmp::reach_error(false, text_of(text, length), {});
}
KITH_OPENMP_API void GOMP_error(const char* text, std::size_t length) {
  kith::openmp::reach_error(true, text_of(text, length), {});
}
