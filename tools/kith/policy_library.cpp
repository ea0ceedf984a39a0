#include "policy_library.hpp"

#include "command_line/command_line.hpp"
#include "policy/contract/register_policy.hpp"

#include <kith/error.hpp>

#include <dlfcn.h>

#include <exception>

namespace kith::tools {

namespace {

void load(const std::string& file) {
  // dlopen() would look for a name without a slash among the system's libraries.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    throw error("--policy-library " + file + ": cannot be loaded: " + (why != nullptr ? why : "no reason given"));
  }
  void* const entry = ::dlsym(library, policy_library_symbol);
  if (entry == nullptr) {
    throw error("--policy-library " + file + ": has no function " + policy_library_symbol +
                "(); expected a library of policies (docs/policies.md)");
  }
  const int compiled_with = [&] {
    try {
      return reinterpret_cast<policy_library_entry*>(entry)();
    } catch (const std::exception& e) {
      throw error("--policy-library " + file + ": " + e.what());
    } catch (...) {
      throw error("--policy-library " + file + ": " + policy_library_symbol + "() threw what is no std::exception");
    }
  }();
  if (compiled_with != policy_interface) {
    throw error("--policy-library " + file + ": compiled with the headers of policy contract " +
                std::to_string(compiled_with) + ", this is " + std::to_string(policy_interface) + "; compile it again");
  }
}

}  // namespace

void add_policy_library(CLI::App& command, std::vector<std::string>& files) {
  one_value_each_time(
      command.add_option("--policy-library", files, "a shared library with more policies (docs/policies.md)"))
      ->type_name("FILE.so");
}

void load_policy_libraries(const std::vector<std::string>& files) {
  for (const std::string& file : files) load(file);
}

}  // namespace kith::tools
