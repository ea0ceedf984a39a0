#include "tracing/callers.hpp"

#include "tracing/blocks.hpp"

#include <unwind.h>

namespace kith::tracing {

namespace {

struct search {
  std::uintptr_t pc;
  bool in_library = false;
  std::uintptr_t found = 0;
};

_Unwind_Reason_Code look(_Unwind_Context* frame, void* what) noexcept {
  search& s = *static_cast<search*>(what);
  const std::uintptr_t here = _Unwind_GetIP(frame);
  if (here == s.pc || here + 1 == s.pc) s.in_library = true;  // an interposed function may have two sites
  if (!s.in_library || offset_in_program(here) == 0) return _URC_NO_REASON;
  s.found = here;
  return _URC_END_OF_STACK;
}

}  // namespace

std::uintptr_t caller_in_program(std::uintptr_t pc) noexcept {
  const recorder_section section;  // the unwinder may allocate
  search s{.pc = pc};
  _Unwind_Backtrace(look, &s);
  return s.found;
}

}  // namespace kith::tracing
