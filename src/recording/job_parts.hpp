// Which parts on disk belong to one job of several places.
#pragma once

#include <string>
#include <vector>

namespace kith {

/// Groups files that have parts: those whose parts belong to one job are grouped, in their order. Parts with addresses
/// form groups of one, because addresses of several places cannot be merged.
std::vector<std::vector<std::string>> by_job(const std::vector<std::string>& files);
/// `file`, and the files beside it whose parts belong to the same job, in the order of their numbers.
std::vector<std::string> parts_of_job(const std::string& file);

}  // namespace kith
