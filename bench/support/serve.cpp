#include "serve.hpp"

#include <sched.h>

#include <cstdlib>
#include <iostream>

namespace kith::bench {

child_options child_options_of(int argc, char** argv) {
  child_options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--realtime") {
      o.realtime = true;
    } else if (word == "--workers" && i + 1 < argc) {
      o.workers = std::atoi(argv[++i]);
    } else {
      std::cerr << argv[0] << ": unexpected \"" << word << "\"; this program is started by kith-bench\n";
      std::exit(2);
    }
  }
  if (o.realtime) {
    sched_param priority{};
    priority.sched_priority = 50;
    if (sched_setscheduler(0, SCHED_RR, &priority) != 0) {
      std::cerr << argv[0] << ": no real-time scheduling: not permitted; leave --realtime out, or run as root\n";
      std::exit(2);
    }
  }
  return o;
}

bool next_line(std::string& line) { return static_cast<bool>(std::getline(std::cin, line)); }

void answer(const std::string& line) { std::cout << line << '\n' << std::flush; }

}  // namespace kith::bench
