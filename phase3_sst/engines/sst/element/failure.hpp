// Errors inside SST: prints the toolkit's one-line report on stderr and ends the process. SST itself would turn an
// exception into an abort.
#pragma once

#include <exception>

#include "manynode/error_report.hpp"

namespace manynode::sst_element {

// A mistake in an input file other than the run file, such as a timing profile.
class InputError : public UserError {
 public:
  explicit InputError(const UserError& error) : UserError(error) {}
};

// As in manynode/errors.py.
int exit_code(const std::exception& error);

// Prints the error, once for all threads, and ends the process.
[[noreturn]] void fail(const std::exception& error);

}  // namespace manynode::sst_element
