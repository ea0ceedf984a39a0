// libFuzzer: messages between places.
#include "fuzz/message_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  kith::test::use_message({bytes, count});
  return 0;
}
