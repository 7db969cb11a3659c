// The result of the ranks of one process, as files: ranks-P.csv and part-P.json (the README lists their members).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rank_program.hpp"

namespace manynode::sst_element {

// Sorted by job and rank.
using Programs = std::vector<const RankProgram*>;

std::string ranks_csv(const Programs& programs);

// `iteration_ends`: [job][step]. Jobs without ranks here also have entries.
std::string part_json(const Programs& programs, const std::vector<std::vector<network::Picoseconds>>& iteration_ends,
                      const World& world);

// Writes `text` under a temporary name, then renames it. Throws UserError.
void write_file(const std::string& folder, const std::string& name, const std::string& text);

}  // namespace manynode::sst_element
