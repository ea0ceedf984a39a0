#include "places_app.hpp"

#include <chrono>

namespace kith::apps {

places_result run(places_app& program, place_runtime& on) {
  using clock = std::chrono::steady_clock;
  program.prepare(on);
  on.reset_statistics();
  places_result r;
  const auto began = clock::now();
  program.solve(on);
  r.seconds = std::chrono::duration<double>(clock::now() - began).count();
  r.places = on.statistics();
  r.check = on.dry() ? nothing_to_verify() : program.verify(on);
  return r;
}

void read_parameters(place_options& o, const arguments& a) {
  const auto is = [&a](const char* name, const char* one, const char* other, const std::string& expected) {
    const std::string word = a.text(name);
    if (word != one && word != other) throw error("--" + std::string(name) + " " + word + ": expected " + expected);
    return word == one;
  };
  const bool ads = is("as", "ads", "cws", "ads, cws or custom");
  o.scheduling = ads ? place_scheduling::ads : place_scheduling::cws;
  o.waiting = is("waiting", "works", "blocks", "works or blocks") ? place_waiting::works : place_waiting::blocks;
  o.admission = is("admission", "refusals", "credits", "refusals or credits") ? place_admission::refusals
                                                                              : place_admission::credits;
}

}  // namespace kith::apps
