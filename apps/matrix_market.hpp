// Reads sparse matrices from Matrix Market files. For the programs of this folder.
#pragma once

#include "line_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::apps {

struct matrix {
  struct entry {
    std::uint32_t row, column;  // from 0
    double value;               // of a complex value, the real part; 1 if the file has no values
  };
  std::string source;
  std::uint32_t rows = 0, columns = 0;
  bool has_values = false;
  bool symmetric = false;      // the file said so; both (i, j) and (j, i) are listed
  std::vector<entry> entries;  // in the file's order
};

/// True if a file with this first line is a Matrix Market file.
bool is_matrix_market(std::string_view first_line);
/// Reads the rest of a file whose first line `in` has just read. Throws kith::error, with file and line.
matrix read_matrix_market(line_reader& in, const std::string& path);
/// Reads a whole file, which must have a symmetric matrix of real values. Throws kith::error for any other.
matrix read_symmetric_matrix(const std::string& path);
/// Sorted by rows, then columns, each position once: values at the same position are added up.
std::vector<matrix::entry> merged(std::vector<matrix::entry>);

}  // namespace kith::apps
