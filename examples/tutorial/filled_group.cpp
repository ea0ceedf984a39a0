// A group that its own tasks fill: a quicksort in which no task waits.
#include <kith/kith.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

void sort(kith::group& parts, std::span<int> v) {
  while (v.size() > 1000) {
    const int pivot = v[v.size() / 2];
    const auto equal = std::partition(v.begin(), v.end(), [pivot](int x) { return x < pivot; });
    const auto greater = std::partition(equal, v.end(), [pivot](int x) { return x == pivot; });
    const std::span<int> less(v.begin(), equal);
    parts.spawn([&parts, less] { sort(parts, less); });  // a task of the group adds another one
    v = {greater, v.end()};
  }
  std::sort(v.begin(), v.end());
}

int main() {
  kith::runtime rt;
  std::vector<int> numbers(100000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 100003);
  rt.run([&] {
    kith::group parts;
    parts.spawn([&] { sort(parts, numbers); });
    parts.wait();  // for all of them, whoever added them
  });
  std::puts(std::is_sorted(numbers.begin(), numbers.end()) ? "sorted" : "not sorted");
}
