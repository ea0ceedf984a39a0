#include "openmp/error.hpp"

#include "openmp/abi.hpp"
#include "openmp/kmpc/source_location.hpp"

#include <string>

using namespace kith::openmp::kmpc;

/// `severity`: 1 for a warning, else the program ends. `text` may be null.
KITH_OPENMP_API void __kmpc_error(const location* at, int severity, const char* text) {
  std::string where;
  if (const auto source = source_location_of(at)) where.append(source->file).append(":").append(source->line);
  kith::openmp::reach_error(severity != 1, text != nullptr ? text : "", where);
}
