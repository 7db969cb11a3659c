#include "failure.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>

namespace manynode::sst_element {

namespace {

constexpr int kExitInput = 3;

}  // namespace

int exit_code(const std::exception& error) {
  if (dynamic_cast<const InputError*>(&error) != nullptr) return kExitInput;
  return dynamic_cast<const UserError*>(&error) != nullptr ? kExitUsage : kExitFailed;
}

void fail(const std::exception& error) {
  // Never released: only the first error is reported, and other threads must not continue.
  static std::mutex one_only;
  one_only.lock();
  std::fflush(nullptr);
  print_error(std::cerr, error);
  // Exit without destructors and MPI_Finalize, because other threads are still simulating. mpirun then ends the other
  // processes.
  std::_Exit(exit_code(error));
}

}  // namespace manynode::sst_element
