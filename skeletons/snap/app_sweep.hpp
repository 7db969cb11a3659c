// Transport sweeps of one rank: the octants, the chunks, the messages, and the cell with its fix-up.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "app_problem.hpp"
#include "geometry.hpp"
#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::snap {

using PhaseLabel = manynode::PhaseLabel<Work>;

class Sweeper {
 public:
  Sweeper(const Settings& settings, const ProcessGrid& grid, int rank, const Problem& problem);

  // Adds to `flux` the scalar flux of `source` (both [group * cells + cell]) through all octants, without incoming flux
  // from outside the domain.
  void sweep(const Vector& source, Vector& flux);

  // In the last sweep: particles that left the domain through this rank's faces, and corrected negative fluxes.
  double leakage() const { return leakage_; }
  std::int64_t fixups() const { return fixups_; }

 private:
  struct Octant {
    int x;
    Corner corner;
  };

  void receive_faces(const Corner& corner, int tag);
  void send_faces(const Corner& corner, int tag);
  void sweep_chunk(const Octant& octant, int group, int first_x, const Vector& source, Vector& flux);
  double sweep_cell(double total, double source, double* in_x, double* in_y, double* in_z);
  double fix_up(std::size_t angle, double total, double source, std::array<double, 3>& faces);
  void count_leakage(const Corner& corner);
  void count_leakage_x();

  Settings settings_;
  ProcessGrid grid_;
  int rank_;
  const Problem& problem_;
  Quadrature quadrature_;
  std::array<Vector, 3> strength_;  // cosine over cell width, by axis
  Vector centre_;                   // of one cell, by angle
  Vector face_x_;                   // [z][y][angle]: between chunks of this rank
  // Fluxes between ranks, [z][x][angle] and [y][x][angle]. A chunk turns received fluxes into outgoing ones in face_*.
  Vector received_y_, received_z_;
  Vector face_y_, face_z_;
  std::vector<MPI_Request> sends_;
  double leakage_{0};
  std::int64_t fixups_{0};
};

}  // namespace manynode::snap
