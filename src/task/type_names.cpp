#include "task/type_names.hpp"

#include "base/fork.hpp"

#include <kith/task.hpp>

#include <mutex>
#include <unordered_map>
#include <vector>

namespace kith {

namespace {

struct registry {
  std::mutex guard;
  std::vector<std::string> names{"task"};
  std::unordered_map<std::string, std::uint16_t> by_name;  // types of single tasks' names
};
registry& types() {
  static registry& r = []() -> registry& {
    registry& made = *new registry;  // never destroyed, because static objects of the program use it
    keep_over_fork(made.guard);
    return made;
  }();
  return r;
}
[[maybe_unused]] const registry& types_before_main = types();  // base/fork.hpp says why

}  // namespace

task_type::task_type(const char* name) {
  registry& r = types();
  std::lock_guard lock(r.guard);
  if (r.names.size() > 0xffff)
    throw error(std::string("task_type '") + name + "': more than 65535 types in this process", error_kind::resources);
  number_ = static_cast<std::uint16_t>(r.names.size());
  r.names.emplace_back(name);
}

name::name(const std::string& text) {
  registry& r = types();
  {
    std::lock_guard lock(r.guard);
    if (const auto known = r.by_name.find(text); known != r.by_name.end()) {
      number_ = known->second;
      return;
    }
  }
  number_ = task_type(text.c_str()).number();
  std::lock_guard lock(r.guard);
  number_ = r.by_name.try_emplace(text, number_).first->second;
}

std::string task_type_name(std::uint16_t number) {
  registry& r = types();
  std::lock_guard lock(r.guard);
  return number < r.names.size() ? r.names[number] : "?";
}

}  // namespace kith
