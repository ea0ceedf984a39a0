// Maps and unmaps address space in whole pages.
#pragma once

#include <cstddef>

namespace kith {

/// The size of this system's pages.
std::size_t page_size() noexcept;
/// The size of its transparent huge pages; 0 if it gives none (not built in, or switched off).
std::size_t huge_page_size() noexcept;

/// The same if the system gives huge pages of any size without a request; else 0.
std::size_t unasked_huge_page_size() noexcept;

/// Maps `bytes` of untouched zeroes at a multiple of `alignment`. They take no memory until they are touched.
/// REQUIRES: both are whole pages, and the alignment is a power of two. Throws std::bad_alloc.
void* map_pages(std::size_t bytes, std::size_t alignment);
/// Requests huge pages in the range.
void want_huge_pages(void* begin, std::size_t bytes) noexcept;
/// The range gets no huge pages from now on, even if the system gives them without a request.
void refuse_huge_pages(void* begin, std::size_t bytes) noexcept;
void unmap_pages(void* begin, std::size_t bytes) noexcept;

}  // namespace kith
