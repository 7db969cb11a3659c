// A choice in which one collective has one algorithm.
#pragma once

#include <string>

#include "manynode/primitive.hpp"

namespace manynode::test {

inline CollectiveChoice chosen(const std::string& collective, const std::string& algorithm) {
  CollectiveChoice choice;
  for (const CollectiveField& field : collective_fields()) {
    if (field.collective == collective) {
      choice.*field.algorithm = algorithm;
    }
  }
  return choice;
}

}  // namespace manynode::test
