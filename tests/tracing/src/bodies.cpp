// Bodies of tasks with a mistake, which compilers inline into Kith's own functions; the folder has a name that Kith
// uses, too. For lines_test.py, which greps for the marks after `//!`.
#include <kith/kith.hpp>

#include <span>
#include <vector>

int main(int argc, char**) {
  kith::runtime rt;
  std::vector<int> data(100), other(100);
  int* const hidden = other.data();
  rt.run([&] {
    kith::spawn(
        [](std::span<int> d) {
          d.data()[d.size()] = 1;  //! behind the range
        },
        kith::task_type("plain"), kith::inout(data.data(), 50));
    kith::wait();
    kith::spawn(
        [hidden, argc](std::span<int> d) {  // compilers join the last lines of both branches
          if (argc > 5) {
            d[1] = 3;
            hidden[7] = 5;  //! one branch
          } else {
            d[2] = 4;
            hidden[7] = 5;  //! the other branch
          }
          d[0] = 1;
        },
        kith::task_type("joined"), kith::inout(data));
  });
}
