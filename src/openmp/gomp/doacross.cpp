// ordered depend(source) and ordered depend(sink: ...): see doacross.hpp.
#include "openmp/abi.hpp"
#include "openmp/construct.hpp"

#include <array>
#include <cstdarg>
#include <vector>

using namespace kith::openmp;

using ull = unsigned long long;

namespace {

/// The nest that the running code is in; null: no loop that was entered as one.
doacross* nest() {
  const share_position& p = member_of(here()).shares;
  return p.at == nullptr ? nullptr : p.at->crossing.get();
}

void post(const std::uint64_t* at) {
  doacross* const in = nest();
  if (in == nullptr) return;
  in->post(at);
  here().team->blocked.wake();
}

void wait(const std::uint64_t* at) {
  const doacross::place p = nest()->find(at);
  wait_in_loop(*here().team, [&] { return p.progress->load(kith::acquire) >= p.needed; });  // pairs with post()
}

/// Waits for the iteration whose other numbers follow as arguments, of the type that `read` takes from the list.
template <class Read>
void wait_for(std::uint64_t first, Read read) {
  const doacross* const in = nest();
  if (in == nullptr) return;
  constexpr std::size_t usual = 8;
  std::array<std::uint64_t, usual> few{};
  std::vector<std::uint64_t> many(in->loops() > usual ? in->loops() : 0);
  std::uint64_t* const at = many.empty() ? few.data() : many.data();
  at[0] = first;
  for (std::size_t i = 1; i < in->loops(); ++i) at[i] = read();
  wait(at);
}

}  // namespace

KITH_OPENMP_API void GOMP_doacross_post(long* at) { post(reinterpret_cast<const std::uint64_t*>(at)); }
KITH_OPENMP_API void GOMP_doacross_ull_post(ull* at) { post(reinterpret_cast<const std::uint64_t*>(at)); }

// NOLINTBEGIN(cert-dcl50-cpp): the ABI has variable arguments

KITH_OPENMP_API void GOMP_doacross_wait(long first, ...) {
  va_list others;
  va_start(others, first);
  wait_for(static_cast<std::uint64_t>(first), [&] { return static_cast<std::uint64_t>(va_arg(others, long)); });
  va_end(others);
}

KITH_OPENMP_API void GOMP_doacross_ull_wait(ull first, ...) {
  va_list others;
  va_start(others, first);
  wait_for(first, [&] { return std::uint64_t{va_arg(others, ull)}; });
  va_end(others);
}

// NOLINTEND(cert-dcl50-cpp)
