"""What 001 measured on Cori: what a simulation is compared with.

Table II: share of the run time in MPI, and in MPI_Allreduce (CrayPat, without congestor). Section IV-A: which
applications suffer (the median with endpoint congestion at least 1.4 times that without), a little (1.11 times), or not
(within a tenth). Skeletons that stand for an application of the paper have their own names here.
"""

from __future__ import annotations

from typing import NamedTuple


class Measured(NamedTuple):
    """An application of the paper: its name there, MPI share, share of MPI_Allreduce, and whether it suffers."""

    name: str
    mpi_share: float
    allreduce_share: float
    suffers: bool


# By skeleton. HACC's figures are of the whole code, of which the FFT is the part that communicates.
MEASURED = {
    "lammps": Measured("LAMMPS", 0.473, 0.254, True),
    "hacc": Measured("HACC", 0.671, 0.001, True),
    "milc": Measured("MILC", 0.619, 0.019, True),
    "hpcg": Measured("HPCG", 0.037, 0.002, False),
}

# Section IV-A: within it the median counts as unchanged, and from it on as a significant impact.
UNCHANGED = 1.10
SIGNIFICANT = 1.40
