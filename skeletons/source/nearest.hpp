// Words for error messages: lists of names and the nearest match of a misspelt one.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace manynode {

inline std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// Levenshtein's distance: insertions, deletions and replacements.
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// "did you mean x?", or nothing when no name is near (half of the letters differ).
inline std::string did_you_mean(const std::string& name, const std::vector<std::string>& names) {
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  if (nearest == names.end() || 2 * edit_distance(name, *nearest) > std::max(name.size(), nearest->size())) {
    return {};
  }
  return "did you mean " + *nearest + "?";
}

}  // namespace manynode
