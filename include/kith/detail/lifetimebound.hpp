// Marks a member function whose result refers to its object, so that Clang warns where the object is a temporary.
#pragma once

#if __has_cpp_attribute(clang::lifetimebound)
#define KITH_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define KITH_LIFETIMEBOUND
#endif
