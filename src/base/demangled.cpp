#include "base/demangled.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace kith {

std::string demangled(const char* name) {
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, nullptr), std::free);
  return text ? text.get() : name;
}

}  // namespace kith
