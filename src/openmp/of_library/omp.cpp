#include "openmp/icv.hpp"

constinit const kith::openmp::library_defaults kith::openmp::of_library{schedule_kind::static_, false};
