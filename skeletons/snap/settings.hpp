// Builds the settings from the parameters that application.yaml declares; also message tags. The mini-app and the
// skeleton share this file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "declared/snap.hpp"
#include "manynode/error_report.hpp"

namespace manynode::snap {

struct Settings {
  int nx{0};
  int ny{0};
  int nz{0};
  int chunk{0};
  int angles{0};
  int groups{0};
  int outers{0};
  int inners{0};

  int chunks() const { return nx / chunk; }
  std::int64_t cells() const { return std::int64_t{1} * nx * ny * nz; }
  // Values on the face between a chunk and the next rank in y, or in z.
  std::int64_t face_y() const { return std::int64_t{1} * angles * chunk * nz; }
  std::int64_t face_z() const { return std::int64_t{1} * angles * chunk * ny; }
};

// Sums over all ranks at the end.
enum class Sum : std::uint8_t { Source, Removal, Leakage, Flux, Weight, NegativeFluxes, Fixups };
inline constexpr std::size_t kSums = 7;

// Messages of one corner and group arrive in the order of the chunks.
inline int sweep_tag(const Settings& settings, std::size_t corner, int group) {
  return static_cast<int>(corner) * settings.groups + group;
}

// From complete parameters; throws UserError if the chunks do not fill x or the problem is too large.
inline Settings settings(const Parameters& parameters) {
  const auto number = [&](const char* name) { return static_cast<int>(parameters.integer(name, 1)); };
  const Settings out{number("nx"),     number("ny"),     number("nz"),     number("chunk"),
                     number("angles"), number("groups"), number("outers"), number("inners")};
  if (out.nx % out.chunk != 0) {
    throw UserError("the cells of snap in x cannot be cut into chunks", "chunk", std::to_string(out.chunk),
                    "a divisor of nx, which is " + std::to_string(out.nx), "choose another chunk or another nx");
  }
  constexpr std::int64_t kMostValues = std::int64_t{1} << 30;
  if (out.cells() > kMostValues / out.groups) {
    throw UserError("the mesh of snap is too large", "nx, ny, nz, groups",
                    std::to_string(out.cells()) + " cells, " + std::to_string(out.groups) + " groups",
                    "a product of at most " + std::to_string(kMostValues), "spread the problem over more ranks");
  }
  if (std::max(out.face_y(), out.face_z()) > kMostValues) {
    throw UserError("the messages of snap are too long", "chunk, angles, ny, nz",
                    std::to_string(std::max(out.face_y(), out.face_z())) + " values on a face",
                    "at most " + std::to_string(kMostValues), "choose a smaller chunk");
  }
  return out;
}

}  // namespace manynode::snap
