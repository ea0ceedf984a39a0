#include <kith/access.hpp>

namespace kith::detail {

handle_base::handle_base(const void* a, std::size_t b) noexcept : address(a), bytes(b) {}

handle_base::handle_base(handle_base&& other) noexcept = default;

}  // namespace kith::detail
