// Which loops of the body have an iteration at whose end a request is open, on any rank. All ranks must agree where a
// step ends, and a rank alone does not know what is open on others.
#pragma once

#include <vector>

#include "program.hpp"

namespace manynode::derived {

// By item of the body; false for what is no loop. Looks at two iterations of each loop whose requests are as before
// after one. Errors are those of the walk.
std::vector<bool> open_ends(const Program& program);

}  // namespace manynode::derived
