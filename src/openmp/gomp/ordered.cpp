// The ordered construct: regions that run in the order of a loop's iterations.
#include "openmp/ordered.hpp"

#include "openmp/abi.hpp"

KITH_OPENMP_API void GOMP_ordered_start() { kith::openmp::await_turn(); }
// The turn is the chunk's: the next one has it when the member asks for more.
KITH_OPENMP_API void GOMP_ordered_end() {}
