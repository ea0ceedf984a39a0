// Tasks whose code runs on a stack of the program's own, in a library, in a half of a join, or beside another runtime,
// for tests/cli/check_test.py, which greps for the marks after `//!`. Its argument selects the case.
#include <kith/kith.hpp>

#include <ucontext.h>

#include <csignal>
#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t count = 1000;
const kith::task_type good("good"), bad("bad");

struct fiber_job {
  ucontext_t back, here;
  const int* in;
  int* out;
  int* hidden;
};
fiber_job* job;
alignas(64) char other_stack[1 << 16];

void fiber() {
  volatile int part[16] = {};
  for (std::size_t i = 0; i < count; ++i) part[i % 16] = part[i % 16] + job->in[i];
  for (int i = 0; i < 16; ++i) job->out[i] = part[i];
  if (job->hidden != nullptr) job->hidden[10] = 1;  //! in a fiber
}

void on_fiber(const int* in, int* out, int* hidden) {
  fiber_job mine{{}, {}, in, out, hidden};
  job = &mine;
  getcontext(&mine.here);
  mine.here.uc_stack.ss_sp = other_stack;
  mine.here.uc_stack.ss_size = sizeof other_stack;
  mine.here.uc_link = &mine.back;
  makecontext(&mine.here, fiber, 0);
  swapcontext(&mine.back, &mine.here);
}

int* written_by_handler;
void handler(int) { written_by_handler[20] = 1; }  //! in a handler

void in_handler() {
  stack_t alternate{}, none{};
  alternate.ss_sp = other_stack;
  alternate.ss_size = sizeof other_stack;
  none.ss_flags = SS_DISABLE;
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  sigaltstack(&none, nullptr);
}

int sum(const int* data, std::size_t n) {
  if (n == 1) return *data;
  const auto [low, high] = kith::join([=] { return sum(data, n / 2); }, [=] { return sum(data + n / 2, n - n / 2); });
  return low + high;
}

void run_some(std::size_t cell) {
  for (int i = 0; i < 5; ++i) {
    kith::runtime rt;
    std::vector<int> data(count);
    rt.run([&] { kith::spawn([cell](std::span<int> d) { d[cell] = 1; }, good, kith::inout(data)); });
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  if (what == "two-threads") {
    std::thread one(run_some, 3), other(run_some, 700);
    one.join();
    other.join();
    return 0;
  }
  kith::runtime rt;
  std::vector<int> in(count, 1), other(count), out(64);
  std::vector<char> text(count, 'x');
  int* const hidden = other.data();
  const char* const letters = text.data();
  written_by_handler = hidden;
  rt.run([&] {
    kith::spawn([](std::span<int> d, std::span<char> t) { d[0] = t[0] = 1; }, good, kith::inout(other),
                kith::inout(text));
    kith::wait();
    const auto spawn = [&](const kith::task_type& type, auto&& body) {
      kith::spawn(body, type, kith::in(in), kith::inout(out));
    };
    if (what == "fiber")
      spawn(bad, [=](std::span<const int> i, std::span<int> o) { on_fiber(i.data(), o.data(), hidden); });
    if (what == "fiber-fine")
      spawn(good, [](std::span<const int> i, std::span<int> o) { on_fiber(i.data(), o.data(), nullptr); });
    if (what == "handler") spawn(bad, [](std::span<const int> i, std::span<int> o) { o[0] = i[0], in_handler(); });
    if (what == "joined") spawn(good, [](std::span<const int> i, std::span<int> o) { o[0] = sum(i.data(), 64); });
    if (what == "library") {
      spawn(bad, [=](std::span<const int> i, std::span<int> o) {
        std::ostringstream s;
        s.write(letters + 100, 50);  //! in a library
        o[0] = static_cast<int>(s.str().size()) + i[0];
      });
    }
    if (what == "arguments") spawn(good, [=](std::span<const int> i, std::span<int> o) { o[0] = argv[1][0] + i[0]; });
  });
  std::printf("%s\n", what.c_str());
}
