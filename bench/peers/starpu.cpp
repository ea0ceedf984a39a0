// StarPU: tasks name data handles without content, from which StarPU derives the dependences.
#include "serve.hpp"

#include <sched.h>
#include <starpu.h>

#include <type_traits>
#include <vector>

namespace {

using namespace kith::bench;

template <class Callable>
void run_callable(void**, void* argument) {
  (*static_cast<Callable*>(argument))();
}

/// The codelet of tasks with `inputs` inputs. The first handle, if there is one, is updated; the others are read.
template <class Callable, int updated, int inputs>
starpu_codelet* codelet() {
  static starpu_codelet one = [] {
    starpu_codelet c;
    starpu_codelet_init(&c);
    c.cpu_funcs[0] = run_callable<Callable>;
    c.nbuffers = updated + inputs;
    for (int i = 0; i < updated + inputs; ++i) c.modes[i] = i < updated ? STARPU_RW : STARPU_R;
    return c;
  }();
  return &one;
}

template <class Body>
struct starpu_emitter {
  std::vector<starpu_data_handle_t>& cells;
  Body body;

  template <class... In>
  void task(std::int64_t x, In... in) {
    submit<1, sizeof...(In)>(body.make(x, in...), x, in...);
  }
  void free_task() { submit<0, 0>(body.make()); }
  void reader(std::int64_t x) { submit<0, 1>(body.make(), x); }

 private:
  template <int updated, int inputs, class Callable, class... Cell>
  void submit(Callable work, Cell... cell) {
    static_assert(std::is_trivially_copyable_v<Callable> && std::is_trivially_destructible_v<Callable>);
    starpu_task* t = starpu_task_create();
    t->cl = codelet<Callable, updated, inputs>();
    t->cl_arg = std::malloc(sizeof(Callable));
    new (t->cl_arg) Callable(work);
    t->cl_arg_size = sizeof(Callable);
    t->cl_arg_free = 1;
    [[maybe_unused]] int i = 0;
    ((t->handles[i++] = cells[static_cast<std::size_t>(cell)]), ...);
    if (starpu_task_submit(t) != 0) throw std::runtime_error("starpu_task_submit refused a task");
  }
};

class starpu_system {
 public:
  starpu_system(int workers, bool realtime) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = workers;
    if (const int failed = starpu_init(&conf); failed != 0) {
      throw std::runtime_error("starpu_init failed with " + std::to_string(failed));
    }
    // The submitting thread shares a core with a worker, and idle workers spin. With equal real-time
    // priorities they would keep it out for a whole time slice, 100 ms.
    sched_param above{};
    above.sched_priority = 51;
    if (realtime && sched_setscheduler(0, SCHED_RR, &above) != 0) {
      throw std::runtime_error("no real-time priority 51 for the submitting thread; run with --no-realtime");
    }
  }
  ~starpu_system() { starpu_shutdown(); }

  std::string version() const {
    int major = 0, minor = 0, release = 0;
    starpu_get_version(&major, &minor, &release);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  }
  bool can(bool prebuilt, bool) const { return !prebuilt; }
  std::int64_t live_limit() const { return 0; }

  template <class Program, class Body>
  double run(const Program& program, Body body, bool) {
    std::vector<starpu_data_handle_t> cells(static_cast<std::size_t>(program.cells()));
    for (starpu_data_handle_t& c : cells) starpu_void_data_register(&c);
    body.creating();
    const double from = now_nanoseconds();
    program.emit(starpu_emitter<Body>{cells, body});
    body.created();
    starpu_task_wait_for_all();
    const double to = now_nanoseconds();
    for (starpu_data_handle_t c : cells) starpu_data_unregister_no_coherency(c);
    return to - from;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const child_options options = child_options_of(argc, argv);
  starpu_system system(options.workers, options.realtime);
  return server(system).loop();
}
