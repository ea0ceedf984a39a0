// Functions of handles and accesses that are kept out of the header.
#include <kith/access.hpp>
#include <kith/error.hpp>

#include <sstream>

namespace kith::detail {

handle_base::handle_base(handle_base&& other) noexcept = default;

void refuse_count(const void* first, std::size_t count, std::size_t element) {
  std::ostringstream text;
  text << count << " elements of " << element << (element == 1 ? " byte" : " bytes") << " from " << first
       << ": no address space holds so many; expected at most " << most_bytes / element
       << ". A negative number that became unsigned, perhaps?";
  throw error(text.str());
}

}  // namespace kith::detail
