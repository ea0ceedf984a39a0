// fib: the n-th Fibonacci number by two calls for each number, as a measure of the cost of a join.
//
// Joins, or coroutines that fork, and no other work. BOTS has the same program with tasks. Property checked:
//  F1  the number is that of the addition of its two predecessors, step by step.
#include "list.hpp"

namespace kith::apps {

namespace {

constexpr parameter fib_parameters[] = {
    {"size", "40", "24", "the number's index"},
    {"alone", "20", "12", "from this index on, a call goes on alone; 2: each call joins"},
    {"coroutines", flag, flag, "coroutines in place of joins"},
};

std::int64_t fib_alone(std::int64_t n) { return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2); }

std::int64_t fib_joined(std::int64_t n, std::int64_t alone) {
  if (n < alone) return fib_alone(n);
  const auto [a, b] = join([=] { return fib_joined(n - 1, alone); }, [=] { return fib_joined(n - 2, alone); });
  return a + b;
}

coroutine<std::int64_t> fib_forked(std::int64_t n, std::int64_t alone) {
  if (n < alone) co_return fib_alone(n);
  const auto [a, b] = co_await both([=] { return fib_forked(n - 1, alone); }, [=] { return fib_forked(n - 2, alone); });
  co_return a + b;
}

class fib final : public app {
 public:
  explicit fib(const arguments& a)
      : size_(a.number("size", 0, 60)), alone_(a.number("alone", 2, 60)), coroutines_(a.on("coroutines")) {}

  void prepare(const target&) override { found_ = -1; }
  void solve(const target& where) override {
    static const task_type type{"fib"};
    where.on.run([&] {
      spawn([this] { found_ = coroutines_ ? sync_wait(fib_forked(size_, alone_)) : fib_joined(size_, alone_); }, type);
    });
  }
  verdict verify() override {
    std::int64_t number = 0, next = 1;
    for (std::int64_t i = 0; i < size_; ++i) number = std::exchange(next, number + next);
    return {found_ == number, "fib(" + std::to_string(size_) + ") is " + std::to_string(found_) + ", by addition " +
                                  std::to_string(number)};
  }
  std::vector<figure> figures() const override { return {{"number", found_}}; }
  std::span<std::byte> output() override { return std::as_writable_bytes(std::span(&found_, 1)); }

 private:
  std::int64_t size_, alone_;
  bool coroutines_;
  std::int64_t found_ = -1;
};

}  // namespace

const entry fib_entry = {"fib", "BOTS", "a Fibonacci number by recursion: nothing but joins, or coroutines",
                         fib_parameters, make<fib>};

}  // namespace kith::apps
