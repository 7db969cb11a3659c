// Encodes numbers as 8-bit integers: a block of 256 numbers is sent as its largest absolute value (a float) and, for
// each number, its share of that in steps of 1/127.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "network.hpp"

namespace manynode::caffe {

using Numbers = std::vector<double>;
using Encoded = std::vector<std::byte>;

// `to` has encoded_bytes(from.size()) bytes. Both functions use all threads.
void encode(std::span<const double> from, Encoded& to);

// `add`: adds to the old values instead of replacing them.
void decode(const Encoded& from, bool add, std::span<double> to);

}  // namespace manynode::caffe
