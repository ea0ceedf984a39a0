// libFuzzer: recordings whose cells, rows and tables were changed.
#include "fuzz/recording_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  kith::test::recording_input({bytes, count}).run();
  return 0;
}
