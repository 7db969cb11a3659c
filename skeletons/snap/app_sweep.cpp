// The sweep: diamond differences in space. Each octant starts at its corner; faces are exchanged chunk by chunk.
#include "app_sweep.hpp"

#include <algorithm>

namespace manynode::snap {
namespace {

int neighbour_or_null(const ProcessGrid& grid, int rank, int step_y, int step_z) {
  const int there = neighbour(grid, rank, step_y, step_z);
  return there == kNoNeighbour ? MPI_PROC_NULL : there;
}

// Position `i` of `count`, in the order of a direction.
int along(int direction, int i, int count) { return direction > 0 ? i : count - 1 - i; }

// The particles that pass through a face in the angles of one octant: cosine times flux, summed over the face's cells.
double current(const Vector& face, const Vector& cosine) {
  double sum = 0;
  for (std::size_t i = 0; i < face.size(); i += cosine.size()) {
    for (std::size_t a = 0; a < cosine.size(); ++a) {
      sum += cosine[a] * face[i + a];
    }
  }
  return sum;
}

}  // namespace

Sweeper::Sweeper(const Settings& settings, const ProcessGrid& grid, int rank, const Problem& problem)
    : settings_(settings), grid_(grid), rank_(rank), problem_(problem), quadrature_(settings.angles) {
  const std::array<const Vector*, 3> cosines = {&quadrature_.x, &quadrature_.y, &quadrature_.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const double cosine : *cosines[axis]) {
      strength_[axis].push_back(cosine / kCellWidth);
    }
  }
  const auto angles = static_cast<std::size_t>(settings.angles);
  centre_.resize(angles);
  face_x_.resize(angles * static_cast<std::size_t>(settings.ny) * static_cast<std::size_t>(settings.nz));
  received_y_.resize(static_cast<std::size_t>(settings.face_y()));
  received_z_.resize(static_cast<std::size_t>(settings.face_z()));
  face_y_ = received_y_;
  face_z_ = received_z_;
}

void Sweeper::sweep(const Vector& source, Vector& flux) {
  leakage_ = 0;
  fixups_ = 0;
  const int chunks = settings_.chunks();
  for (std::size_t i = 0; i < kCorners.size(); ++i) {
    for (int group = 0; group < settings_.groups; ++group) {
      // Both octants of the corner form one pipeline: down x and up again.
      for (int stage = 0; stage < 2 * chunks; ++stage) {
        const Octant octant{stage < chunks ? -1 : 1, kCorners[i]};
        const int tag = sweep_tag(settings_, i, group);
        receive_faces(octant.corner, tag);
        {
          const PhaseLabel label(Work::Sweep);
          if (stage % chunks == 0) {
            std::fill(face_x_.begin(), face_x_.end(), 0.0);
          }
          sweep_chunk(octant, group, settings_.chunk * along(octant.x, stage % chunks, chunks), source, flux);
          count_leakage(octant.corner);
          if (stage % chunks == chunks - 1) {
            count_leakage_x();
          }
        }
        send_faces(octant.corner, tag);
      }
    }
  }
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  sends_.clear();
}

// Every rank makes all calls, so that all ranks have the same compute phases; at the border, the peer is MPI_PROC_NULL.
void Sweeper::receive_faces(const Corner& corner, int tag) {
  MPI_Recv(received_y_.data(), static_cast<int>(received_y_.size()), MPI_DOUBLE,
           neighbour_or_null(grid_, rank_, -corner.y, 0), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(received_z_.data(), static_cast<int>(received_z_.size()), MPI_DOUBLE,
           neighbour_or_null(grid_, rank_, 0, -corner.z), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  // The next chunk overwrites the faces that were sent last.
  if (!sends_.empty()) {
    MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  }
}

void Sweeper::send_faces(const Corner& corner, int tag) {
  sends_.resize(2);
  MPI_Isend(face_y_.data(), static_cast<int>(face_y_.size()), MPI_DOUBLE, neighbour_or_null(grid_, rank_, corner.y, 0),
            tag, MPI_COMM_WORLD, &sends_[0]);
  MPI_Isend(face_z_.data(), static_cast<int>(face_z_.size()), MPI_DOUBLE, neighbour_or_null(grid_, rank_, 0, corner.z),
            tag, MPI_COMM_WORLD, &sends_[1]);
}

void Sweeper::sweep_chunk(const Octant& octant, int group, int first_x, const Vector& source, Vector& flux) {
  const auto take = [](const Vector& received, Vector& face, bool from_a_rank) {
    if (from_a_rank) {
      std::copy(received.begin(), received.end(), face.begin());
    } else {
      std::fill(face.begin(), face.end(), 0.0);
    }
  };
  take(received_y_, face_y_, neighbour(grid_, rank_, -octant.corner.y, 0) != kNoNeighbour);
  take(received_z_, face_z_, neighbour(grid_, rank_, 0, -octant.corner.z) != kNoNeighbour);

  const std::size_t first_of_group = static_cast<std::size_t>(group) * problem_.cells();
  for (int k = 0; k < settings_.nz; ++k) {
    const int z = along(octant.corner.z, k, settings_.nz);
    for (int j = 0; j < settings_.ny; ++j) {
      const int y = along(octant.corner.y, j, settings_.ny);
      double* const face_x = &face_x_[static_cast<std::size_t>((z * settings_.ny + y) * settings_.angles)];
      const std::size_t line = static_cast<std::size_t>(z * settings_.ny + y) * static_cast<std::size_t>(settings_.nx);
      for (int i = 0; i < settings_.chunk; ++i) {
        const int x = along(octant.x, i, settings_.chunk);
        double* const face_y = &face_y_[static_cast<std::size_t>((z * settings_.chunk + x) * settings_.angles)];
        double* const face_z = &face_z_[static_cast<std::size_t>((y * settings_.chunk + x) * settings_.angles)];
        const std::size_t cell = line + static_cast<std::size_t>(first_x + x);
        flux[first_of_group + cell] +=
            sweep_cell(problem_.total(group, cell), source[first_of_group + cell], face_x, face_y, face_z);
      }
    }
  }
}

// Replaces the incoming fluxes of a cell by the outgoing ones and returns the cell's scalar flux, summed over the
// octant's angles. Diamond differences: the flux in the middle is the mean of two opposite faces.
double Sweeper::sweep_cell(double total, double source, double* in_x, double* in_y, double* in_z) {
  const double* const sx = strength_[0].data();
  const double* const sy = strength_[1].data();
  const double* const sz = strength_[2].data();
  double* const centre = centre_.data();
  const std::size_t angles = centre_.size();
  for (std::size_t a = 0; a < angles; ++a) {
    centre[a] =
        (source + 2 * (sx[a] * in_x[a] + sy[a] * in_y[a] + sz[a] * in_z[a])) / (total + 2 * (sx[a] + sy[a] + sz[a]));
  }
  double sum = 0;
  for (std::size_t a = 0; a < angles; ++a) {
    const double twice = 2 * centre[a];
    if (twice < in_x[a] || twice < in_y[a] || twice < in_z[a]) {
      std::array<double, 3> faces = {in_x[a], in_y[a], in_z[a]};
      sum += fix_up(a, total, source, faces);
      in_x[a] = faces[0];
      in_y[a] = faces[1];
      in_z[a] = faces[2];
    } else {
      sum += centre[a];
      in_x[a] = twice - in_x[a];
      in_y[a] = twice - in_y[a];
      in_z[a] = twice - in_z[a];
    }
  }
  return sum * quadrature_.weight;
}

// Sets negative outgoing fluxes to zero and solves the cell's balance again for the others by diamond differences,
// until none is negative. `faces` are the incoming fluxes and become the outgoing ones.
double Sweeper::fix_up(std::size_t angle, double total, double source, std::array<double, 3>& faces) {
  std::array<bool, 3> zero{};
  for (;;) {
    double numerator = source;
    double denominator = total;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double strength = strength_[axis][angle];
      numerator += strength * faces[axis] * (zero[axis] ? 1 : 2);
      denominator += zero[axis] ? 0 : 2 * strength;
    }
    const double centre = numerator / denominator;
    bool again = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!zero[axis] && 2 * centre < faces[axis]) {
        zero[axis] = true;
        ++fixups_;
        again = true;
      }
    }
    if (!again) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        faces[axis] = zero[axis] ? 0 : 2 * centre - faces[axis];
      }
      return centre;
    }
  }
}

void Sweeper::count_leakage(const Corner& corner) {
  const double per_current = kFaceArea * quadrature_.weight;
  if (neighbour(grid_, rank_, corner.y, 0) == kNoNeighbour) {
    leakage_ += per_current * current(face_y_, quadrature_.y);
  }
  if (neighbour(grid_, rank_, 0, corner.z) == kNoNeighbour) {
    leakage_ += per_current * current(face_z_, quadrature_.z);
  }
}

// Every rank has both ends of x.
void Sweeper::count_leakage_x() { leakage_ += kFaceArea * quadrature_.weight * current(face_x_, quadrature_.x); }

}  // namespace manynode::snap
