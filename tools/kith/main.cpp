// kith, the command line. The verbs are in verbs.hpp.
#include "verbs.hpp"

int main(int argc, char** argv) {
  return kith::tools::run(
      {"kith", "Kith runs task graphs so that work stays near its data.", KITH_VERSION,
       "`kith help VERB` says more about a verb. With --json an error is JSON as well, on standard output: {\"error\": "
       "{\"command\", \"message\", \"hint\"}}; the same in words is on standard error.\nExit code: 2 for a wrong "
       "command "
       "line; else each verb says its own.",
       kith::tools::verbs, kith::tools::placeholders},
      argc, argv);
}
