// Algorithms by name.
#pragma once

#include <string>

#include "algorithm.hpp"

namespace manynode::collectives {

// Throws UserError naming the algorithms of this collective when there is none of that name.
Algorithm find_algorithm(const std::string& collective, const std::string& name);

}  // namespace manynode::collectives
