// The functions that places know, and their numbers.
#include "base/demangled.hpp"
#include "base/invariant.hpp"
#include "places/activity_name.hpp"
#include "places/message.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string_view>

namespace kith {

namespace {

// Constant-initialised, because functions register themselves before main() in any order.
constinit detail::remote_function* last_registered = nullptr;
constinit std::vector<detail::remote_function*>* numbered = nullptr;  // by number, from 1 on; never freed
constinit std::vector<name>* names = nullptr;                         // of the tasks that run them, likewise
constinit std::mutex numbering;

}  // namespace

detail::remote_function::remote_function(const char* n, remote_code c, bool progress) noexcept
    : name(n), code(c), by_progress(progress), registered_before(std::exchange(last_registered, this)) {}

std::uint32_t distributed::number_functions() {
  const std::lock_guard lock(numbering);
  if (numbered == nullptr) {
    std::multimap<std::string_view, detail::remote_function*> by_name;
    for (detail::remote_function* f = last_registered; f != nullptr; f = f->registered_before)
      by_name.emplace(f->name, f);
    auto all = std::make_unique<std::vector<detail::remote_function*>>();
    auto types = std::make_unique<std::vector<name>>();
    for (const auto& [mangled, f] : by_name) {
      all->push_back(f);
      types->emplace_back(activity_name(demangled(f->name)));
    }
    for (std::size_t i = 0; i < all->size(); ++i) (*all)[i]->number = static_cast<std::uint32_t>(i + 1);
    names = types.release();
    numbered = all.release();
  }
  return static_cast<std::uint32_t>(numbered->size());
}

void distributed::expect_numbered(const detail::remote_function& f, int place) {
  if (f.number != 0) return;
  throw error("at(" + std::to_string(place) +
              "): the function was loaded after the first place_runtime was made; load libraries before that");
}

const detail::remote_function& distributed::function_of(std::uint32_t number) {
  KITH_INVARIANT(numbered != nullptr && number >= 1 && number <= numbered->size(), "a checked function number");
  return *(*numbered)[number - 1];
}

name distributed::task_name_of(const detail::remote_function& f) {
  KITH_INVARIANT(names != nullptr && f.number >= 1 && f.number <= names->size(), "a numbered function");
  return (*names)[f.number - 1];
}

}  // namespace kith
