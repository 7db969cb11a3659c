// The workers of a run and the timed region. workers_threads.cpp has threads of this process, workers_mpi.cpp the ranks
// of an MPI job, in which the region is a compute phase that every engine of phase 2 reports under the task's label.
#pragma once

#include <functional>
#include <string>

#include "microbenchmark.hpp"

namespace manynode::calibration {

// To be called first and last by the main program.
void workers_begin(int* argc, char*** argv);
void workers_end();

// Workers that a task can have, and how many it has if it does not say.
int most_workers();
int standard_workers();

// Calls `work` once per worker at the same time, and returns when all have ended. `label` names the timed region. Under
// MPI `count` must be most_workers(), and each process has one worker.
void with_workers(int count, const std::string& label, const std::function<void(const Worker&)>& work);

// True in the one process or rank that reports.
bool reports();

// Starts the timed region once all workers are here.
void region_begin();
// Ends it; returns the seconds since region_begin() of this worker once all workers are here.
double region_end();

// The largest value of all workers, for each of them.
double largest(double value, const Worker& worker);

}  // namespace manynode::calibration
