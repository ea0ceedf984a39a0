// What recordings and statistics call the tasks of an activity.
#pragma once

#include <string>
#include <string_view>

namespace kith::distributed {

/// The name of a function as written in the source: without parameters, result and anonymous namespaces. `type` is the
/// demangled name of the type that stands for the function (detail::remote_function): a lambda, a
/// detail::constant_function, or what a kith::data_flow makes of these. Lambdas are numbered within their function.
/// Text that it does not recognise stays as it is, and is no error.
std::string activity_name(std::string_view type);

}  // namespace kith::distributed
