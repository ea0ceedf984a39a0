// Threads started inside a task inherit the CPUs that its worker may run on, unless a guard prevents it.
#include <kith/kith.hpp>

#include <sched.h>

#include <cstdio>
#include <thread>

int main() {
  const auto mine = [] {  // CPUs that the calling thread may run on
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    return set;
  };
  const cpu_set_t before = mine();
  const auto as_before = [&](const cpu_set_t& set) { return CPU_EQUAL(&before, &set) ? "as before" : "bound"; };

  kith::runtime_options on;
  on.bind = "cores";
  on.workers = 1;
  kith::runtime rt(on);
  rt.run([&] {
    cpu_set_t pool;
    {
      const kith::unbound guard;
      std::thread([&] { pool = mine(); }).join();  // or the first parallel region of OpenMP, or system()
    }
    std::printf("a thread of the program: %s\n", as_before(pool));
  });
  std::printf("the caller after run: %s\n", as_before(mine()));
}
