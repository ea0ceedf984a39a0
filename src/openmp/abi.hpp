// How the functions of both ABIs are declared: by their C names. The libraries show no others.
#pragma once

#define KITH_OPENMP_API extern "C" [[gnu::visibility("default")]]
