// How the functions of libgomp's ABI are declared: by their C names, and the only ones that the library shows.
#pragma once

#define KITH_OPENMP_API extern "C" [[gnu::visibility("default")]]
