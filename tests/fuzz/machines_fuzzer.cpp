// libFuzzer: descriptions of machines.
#include "fuzz/machine_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  kith::test::use_machine({bytes, count});
  return 0;
}
