#include "task/type_names.hpp"

#include <kith/task.hpp>

#include <mutex>
#include <vector>

namespace kith {

namespace {

struct registry {
  std::mutex guard;
  std::vector<std::string> names{"task"};
};
registry& types() {
  static registry& r = *new registry;  // used by static objects of the program: never destroyed
  return r;
}

}  // namespace

task_type::task_type(const char* name) {
  registry& r = types();
  std::lock_guard lock(r.guard);
  if (r.names.size() > 0xffff)
    throw error(std::string("task_type '") + name + "': more than 65535 types in this process");
  number_ = static_cast<std::uint16_t>(r.names.size());
  r.names.emplace_back(name);
}

std::string task_type_name(std::uint16_t number) {
  registry& r = types();
  std::lock_guard lock(r.guard);
  return number < r.names.size() ? r.names[number] : "?";
}

}  // namespace kith
