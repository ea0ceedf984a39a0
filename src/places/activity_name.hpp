// What recordings and statistics call the tasks of an activity.
#pragma once

#include <string>
#include <string_view>

namespace kith::distributed {

/// The name of a function, as its source has it: without parameters, result and anonymous namespaces. `type` is the
/// demangled name of the type that stands for it (detail::remote_function): a lambda, a detail::constant_function, or
/// what a kith::data_flow makes of these. Lambdas have a number within their function. Never throws for other texts:
/// what it does not understand it leaves as it is.
std::string activity_name(std::string_view type);

}  // namespace kith::distributed
