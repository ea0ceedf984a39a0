// Modes of the program job that use places wrongly, and check the errors, and that places work afterwards.
#include "job.hpp"

#include <kith/collectives.hpp>
#include <kith/kith.hpp>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace job {

namespace {

/// The exception of place_runtime's constructor.
std::string refusal_of(const kith::place_options& o) {
  try {
    const kith::place_runtime places(o);
  } catch (const kith::error& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

int run_again() {
  int last = 0;
  bool is_last = false;
  {
    const kith::place_runtime places(options());
    last = places.places() - 1;
    is_last = places.has_place(last);
  }
  const auto check_refusal = [&](const kith::place_options& wrong, const std::string& why) {
    check(refusal_of(wrong).find(why) == 0, "wrong options are refused");
    const std::string here = refusal_of(is_last ? wrong : options());
    check(here.find(is_last ? why : "place " + std::to_string(last) + " cannot start: " + why) == 0,
          "all places are told which one cannot start, and why");
  };
  kith::place_options wrong = options();
  wrong.fab_slots = 0;
  check_refusal(wrong, "place_options::fab_slots = 0");
  wrong = options();
  wrong.each.policy = "none";
  check_refusal(wrong, "no policy 'none'");
  wrong = options();
  wrong.places = last + 2;
  check_refusal(wrong, "places: " + std::to_string(last + 2) + " are asked for");
  wrong = options();
  if (is_last) wrong.on_loss = kith::place_loss::survivors_go_on;
  check(last == 0 || refusal_of(wrong).find("another place_options::on_loss than place 0") != std::string::npos,
        "processes that do not agree on losses");
  kith::place_runtime places(options());
  places.run([] { check_collectives(); });
  if (places.has_place(0)) std::puts("fine: again");
  return 0;
}

namespace {

/// Place 0 calls another collective than the others; all get an error.
void call_another(int which) {
  const bool other = kith::here() == 0;
  std::vector<int> few(1, 1), many(100'000, 1);
  std::vector<float> floats(1, 1);
  kith::barrier();
  std::string thrown = "nothing";
  try {
    switch (which) {
      case 0: other ? kith::barrier() : kith::all_reduce(std::span(few), kith::reduction::sum); break;
      case 1:
        other ? kith::all_reduce(std::span(few), kith::reduction::sum)
              : kith::all_reduce(std::span(floats), kith::reduction::sum);
        break;
      case 2: kith::all_reduce(std::span(other ? few : many), kith::reduction::sum); break;
      case 3: kith::broadcast(std::span(many), other ? 0 : 1); break;
      default: kith::all_reduce(std::span(many), other ? kith::reduction::least : kith::reduction::sum); break;
    }
  } catch (const kith::error& e) {
    thrown = e.what();
  }
  check(thrown.find("collective 1 of place") != std::string::npos && thrown.find(" differs from ") != std::string::npos,
        "a collective that differs is refused at all places");
  check(few == std::vector<int>(1, 1) && many == std::vector<int>(many.size(), 1), "and changes nothing");
}

}  // namespace

int run_differ() {
  for (int which = 0; which < 5; ++which) {
    kith::place_runtime places(options());
    places.run([which] {
      kith::finish([&] {
        for (int p = 0; p < kith::places(); ++p) kith::at(p).spawn<call_another>(which);
      });
      kith::finish([] { kith::at(kith::places() - 1).spawn<add>(4, 1L); });
      check(sum_of_all() == serial_sum(4, 1), "activities go on");
    });
    if (places.has_place(0) && which == 4) std::puts("fine: differ");
  }
  return 0;
}

int run_fewer() {
  const auto whole_run = [] {
    kith::place_runtime places(options());
    places.run([] { check_collectives(); });
    return places.has_place(0);
  };
  if (!whole_run()) return 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      whole_run();
      check(false, "there are no places without the other processes");
    } catch (const kith::error& e) {
      check(std::string(e.what()).find("fewer place_runtimes") != std::string::npos, "place 0 is told that others end");
    }
  }
  std::puts("fine: fewer");
  return 0;
}

namespace {

std::unique_ptr<kith::place_runtime> until_the_end;

}  // namespace

int run_late() {
  until_the_end = std::make_unique<kith::place_runtime>(options());
  until_the_end->run([] { check_collectives(); });
  if (until_the_end->has_place(0)) std::puts("fine: late");
  return 0;
}

}  // namespace job
