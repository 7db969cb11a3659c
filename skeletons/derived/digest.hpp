// The digest that names the content of a file: SHA-256 (FIPS 180-4), as manynode.derived.skeleton_file.digest_of.
#pragma once

#include <string>
#include <string_view>

namespace manynode::derived {

// The first 16 hexadecimal digits.
std::string digest_of(std::string_view content);

}  // namespace manynode::derived
