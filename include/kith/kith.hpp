// Kith: tasks that keep work near its data. This header has what most programs need.
//
// To be included where they are used: parallel_sort.hpp, pending_tasks.hpp, and the headers for several places:
// places.hpp, activity.hpp, collectives.hpp, distributed_array.hpp, array_halo.hpp, data_flow.hpp.
#pragma once

#include <kith/access.hpp>
#include <kith/captured_graph.hpp>
#include <kith/coroutine.hpp>
#include <kith/error.hpp>
#include <kith/fork_join.hpp>
#include <kith/future.hpp>
#include <kith/graph.hpp>
#include <kith/memory.hpp>
#include <kith/options.hpp>
#include <kith/parallel.hpp>
#include <kith/parallel_scan.hpp>
#include <kith/runtime.hpp>
#include <kith/static_graph.hpp>
#include <kith/statistics.hpp>
#include <kith/task.hpp>
#include <kith/unbound.hpp>
#include <kith/when_all.hpp>
