// A chain of tasks, each of which spawns the next one as its last act.
#include <kith/kith.hpp>

#include <cstdio>
#include <cstdlib>

long ran = 0;

void step(long left) {
  ++ran;
  if (left > 0) kith::spawn([left] { step(left - 1); });
}

int main(int argc, char** argv) {
  const long length = argc > 1 ? std::atol(argv[1]) : 100000;
  kith::runtime rt;
  rt.run([length] { step(length); });
  std::printf("%ld tasks\n", ran);
}
