// Environment variables for a test.
#pragma once

#include <cstdlib>

namespace kith::test {

/// A variable that is set during the object's lifetime. No other thread may read the environment meanwhile.
class with_variable {
 public:
  with_variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~with_variable() { unsetenv(name_); }
  with_variable(const with_variable&) = delete;
  with_variable& operator=(const with_variable&) = delete;

 private:
  const char* name_;
};

}  // namespace kith::test
