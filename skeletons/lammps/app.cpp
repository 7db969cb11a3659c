// Molecular dynamics as LAMMPS does it, as a program: a Lennard-Jones liquid, velocity Verlet, neighbour lists with a
// skin, bricks of space on a 3-D grid of ranks. README.md says what is left out.
//
// Each piece of computation between two MPI calls has a label; these labels are the skeleton's phases.
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "app_force.hpp"

namespace manynode::lammps {
namespace {

constexpr double kTimeStep = 0.005;

class Dynamics {
 public:
  Dynamics(const Settings& settings, int rank, int size) : settings_(settings), atoms_(settings, rank, size) {
    for (const Vector& velocity : atoms_.velocities()) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        sums_[axis] += velocity[axis];
        sums_[3] += velocity[axis] * velocity[axis];
      }
    }
  }

  // Gives the atoms their temperature and no momentum, and finds the first forces.
  void start() {
    MPI_Allreduce(MPI_IN_PLACE, sums_.data(), kVelocitySums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    scale_velocities();
    atoms_.borders();
    {
      const PhaseLabel label(Work::Neighbour);
      forces_.build(atoms_);
      pairs_ = forces_.compute(atoms_);
      first_ = {kinetic_energy(), pairs_.energy};
    }
    MPI_Allreduce(MPI_IN_PLACE, first_.data(), kEnergySums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }

  void run() {
    bool reduced = true;
    for (int step = 1; step <= settings_.iterations; ++step) {
      {
        // Without sums in between, the end of a step and the beginning of the next are one phase, with the name of the
        // former.
        std::optional<PhaseLabel> label;
        if (reduced) {
          label.emplace(Work::Integrate);
        }
        half_kick();
        drift();
        if (settings_.rebuilds(step)) {
          atoms_.prepare_exchange();
        }
      }
      if (settings_.rebuilds(step)) {
        atoms_.exchange();
        atoms_.borders();
        const PhaseLabel label(Work::Neighbour);
        forces_.build(atoms_);
        finish_step();
      } else {
        atoms_.forward();
        const PhaseLabel label(Work::Force);
        finish_step();
      }
      reduced = settings_.reduces(step);
      for (int i = 0; reduced && i < settings_.reductions; ++i) {
        MPI_Allreduce(MPI_IN_PLACE, &thermo_[static_cast<std::size_t>(i)], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      }
    }
  }

  // Kinetic and potential energy, momentum (3), atoms, weighted squares of the velocities, weights: over all ranks.
  std::array<double, kFinalSums> sums() {
    std::array<double, kFinalSums> sums{};
    {
      const PhaseLabel label(Work::Final);
      sums = {kinetic_energy(), pairs_.energy};
      for (std::size_t i = 0; i < atoms_.count(); ++i) {
        const Vector& velocity = atoms_.velocities()[i];
        // Weights that differ from atom to atom, so that a lost or duplicated atom changes the sum.
        const double weight = static_cast<double>(1 + atoms_.numbers()[i] % 7);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          sums[2 + axis] += velocity[axis];
          sums[6] += weight * velocity[axis] * velocity[axis];
        }
        sums[5] += 1;
        sums[7] += weight;
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), kFinalSums, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sums;
  }

  const std::array<double, kEnergySums>& first() const { return first_; }
  // Of the last output, over all ranks as far as it was asked for: kinetic and potential energy, virial, momentum.
  const std::array<double, 6>& thermo() const { return thermo_; }
  const Atoms& atoms() const { return atoms_; }

 private:
  void scale_velocities() {
    const auto total = static_cast<double>(atoms_.total());
    double squares = sums_[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      squares -= sums_[axis] * sums_[axis] / total;
    }
    const double factor = std::sqrt(3 * total * settings_.temperature / squares);
    for (Vector& velocity : atoms_.velocities()) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        velocity[axis] = factor * (velocity[axis] - sums_[axis] / total);
      }
    }
  }

  void half_kick() {
    for (std::size_t i = 0; i < atoms_.count(); ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        atoms_.velocities()[i][axis] += 0.5 * kTimeStep * forces_.forces()[i][axis];
      }
    }
  }

  void drift() {
    for (std::size_t i = 0; i < atoms_.count(); ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        atoms_.positions()[i][axis] += kTimeStep * atoms_.velocities()[i][axis];
      }
    }
  }

  // New forces, the second half of the velocities' step, and this rank's sums.
  void finish_step() {
    pairs_ = forces_.compute(atoms_);
    half_kick();
    thermo_ = {kinetic_energy(), pairs_.energy, pairs_.virial};
    for (const Vector& velocity : atoms_.velocities()) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        thermo_[3 + axis] += velocity[axis];
      }
    }
  }

  double kinetic_energy() {
    double sum = 0;
    for (const Vector& velocity : atoms_.velocities()) {
      sum += 0.5 * (velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
    }
    return sum;
  }

  Settings settings_;
  Atoms atoms_;
  Forces forces_;
  PairSums pairs_;
  std::array<double, kVelocitySums> sums_{};
  std::array<double, kEnergySums> first_{};
  std::array<double, 6> thermo_{};
};

// Prints the result and returns whether it is valid: energy and momentum are what they were, and no atom is lost.
bool report(const Settings& settings, int size, const Dynamics& dynamics, const std::array<double, kFinalSums>& sums,
            double seconds) {
  const Triple grid = process_grid(size);
  const std::int64_t total = dynamics.atoms().total();
  const auto atoms = static_cast<double>(total);
  const double first = (dynamics.first()[0] + dynamics.first()[1]) / atoms;
  const double last = (sums[0] + sums[1]) / atoms;
  const double momentum = std::hypot(sums[2], sums[3], sums[4]) / atoms;
  std::printf("process_grid: %d %d %d\n", grid[0], grid[1], grid[2]);
  std::printf("atoms: %lld\n", static_cast<long long>(total));
  std::printf("first_energy: %.9f\n", first);
  std::printf("last_energy: %.9f\n", last);
  std::printf("temperature: %.9f\n", 2 * sums[0] / (3 * atoms));
  std::printf("momentum: %.3e\n", momentum);
  print_end(sums[6] / sums[7], seconds / settings.iterations);
  // Velocity Verlet with this time step keeps the energy to some thousandths of the well's depth; a wrong force, ghost
  // or boundary does not.
  constexpr double kDrift = 0.01;
  return std::abs(last - first) < kDrift && momentum < 1e-9 && std::llround(sums[5]) == total;
}

bool run(const Settings& settings, const Job& job) {
  std::unique_ptr<Dynamics> dynamics;
  {
    const PhaseLabel label(Work::Setup);
    dynamics = std::make_unique<Dynamics>(settings, job.rank, job.size);
  }
  dynamics->start();
  const double start = MPI_Wtime();
  dynamics->run();
  const double seconds = MPI_Wtime() - start;

  const std::array<double, kFinalSums> sums = dynamics->sums();
  return job.rank != 0 || report(settings, job.size, *dynamics, sums, seconds);
}

}  // namespace

}  // namespace manynode::lammps

int main(int argc, char** argv) {
  using namespace manynode;
  return run_mini_app(argc, argv, {lammps::kName, lammps::parameter_declarations()}, lammps::settings, lammps::run);
}
