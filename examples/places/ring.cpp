// A sum that goes around all places. Each place waits for the rest of the ring, and holds no worker meanwhile.
#include <kith/activity.hpp>
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <cstdio>

static kith::activity<int> sum_from(int place) {
  const int mine = 10 * (kith::here() + 1);
  if (place + 1 == kith::places()) co_return mine;
  co_return mine + co_await kith::at(place + 1).async<sum_from>(place + 1);
}

static kith::activity<> report() {
  co_await kith::async_finish([] {
    for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn([] { /* what has to come before */ });
  });
  std::printf("sum %d\n", co_await kith::at(0).async<sum_from>(0));
}

int main() {
  kith::place_runtime places;
  places.run([] { kith::at(0).spawn<report>(); });
}
