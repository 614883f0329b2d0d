// Data-parallel loops over oneTBB. No other file includes oneTBB.
//
// All loops of the process share one set of worker threads, also loops within loops, so nothing
// that waits for another thread (a lock held over a loop, a queue) may stand in a body: the worker
// that would end the wait may be the one that waits. Bodies compute.
#pragma once

#include <cstddef>
#include <functional>

#include "base/checkpoint.h"

namespace cuzk::base {

// Worker threads that parallel loops may use; at least 1. Defaults to the CPUs this process may
// use.
std::size_t thread_count() noexcept;

// Caps the threads of every later loop, 0 for the default. Call it before work starts.
void set_thread_count(std::size_t count);

// Calls body(first, last) for disjoint pieces that cover [begin, end). A piece longer than `grain`
// may be cut in half, so pieces can be as short as about grain / 2. Returns when all are done. May
// be nested. The first exception of a body ends the loop early (pieces that run are finished, later
// ones are dropped) and is thrown to the caller: only memory that was refused may travel so.
void parallel_for(std::size_t begin, std::size_t end, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body);

// Calls body(i) once for each i below `count`, each a piece of some milliseconds. While
// `checkpoint` wants something no further piece begins; when those that run are done the caller
// passes it and goes on with the rest. False where the checkpoint said no: some pieces are not done
// then. Nothing is asked where there is no checkpoint.
bool parallel_tasks(std::size_t count, Checkpoint* checkpoint,
                    const std::function<void(std::size_t)>& body);

// Runs the callables side by side and returns when all are done.
void parallel_invoke(const std::function<void()>& first, const std::function<void()>& second);

}  // namespace cuzk::base
