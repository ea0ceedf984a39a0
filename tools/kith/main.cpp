// kith, the command line. The verbs are in verbs.hpp.
#include "verbs.hpp"

int main(int argc, char** argv) {
  return kith::tools::run(
      {"kith", "Kith runs task graphs so that work stays near its data.", KITH_VERSION,
       "`kith VERB --help` says more about a verb. A wrong command line ends with exit code 2.", kith::tools::verbs},
      argc, argv);
}
