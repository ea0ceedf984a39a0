// Address space in whole pages.
#pragma once

#include <cstddef>

namespace kith {

/// Of this system.
std::size_t page_size() noexcept;
/// Of its transparent huge pages; 0 if it gives none (not built in, or switched off).
std::size_t huge_page_size() noexcept;

/// The same if the system gives them to memory that nobody has asked them for, of any size (there may be smaller ones).
std::size_t unasked_huge_page_size() noexcept;

/// `bytes` of zeroes nobody has touched, at a multiple of `alignment`. They count for nothing until they are touched.
/// REQUIRES: both whole pages, alignment a power of two. Throws std::bad_alloc.
void* map_pages(std::size_t bytes, std::size_t alignment);
/// Asks for huge pages in the range.
void want_huge_pages(void* begin, std::size_t bytes) noexcept;
/// The range gets none from now on, not even where the system gives them unasked.
void refuse_huge_pages(void* begin, std::size_t bytes) noexcept;
void unmap_pages(void* begin, std::size_t bytes) noexcept;

}  // namespace kith
