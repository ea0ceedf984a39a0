#include "openmp/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace kith::openmp {

void reach_error(bool fatal, std::string_view text, std::string_view where) {
  std::string message = "kith: ";
  if (fatal) message += "fatal: ";
  message += "directive `error` reached";
  if (!where.empty()) message.append(" at ").append(where);
  if (!text.empty()) message.append(": ").append(text);
  std::fprintf(stderr, "%s\n", message.c_str());
  if (fatal) std::exit(EXIT_FAILURE);
}

}  // namespace kith::openmp
