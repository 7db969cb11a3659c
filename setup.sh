#!/bin/sh
# Installs the system packages that the named sets lack: with apt as root or through sudo, else it lists them.
#   ./setup.sh run        what `make demo` and the mini-apps need
#   ./setup.sh run test   and what `make test` needs besides
# Engines that no registry has (SST, gem5) are not installed: see docs/concepts/engines.md.
set -eu

run="build-essential cmake mpich libmpich-dev valgrind binutils nlohmann-json3-dev libcli11-dev librandom123-dev libfmt-dev \
libfftw3-dev libopenblas-openmp-dev libscotch-dev libcapstone-dev qemu-user python3-venv"
# Open MPI and Fortran for the markers' tests, unmodified MPI programs to profile, a browser to open the report in,
# SimGrid for the engine simgrid, Slurm for jobs of a cluster: optional at run time, always there in continuous integration.
test="libgtest-dev gfortran openmpi-bin libopenmpi-dev netpipe-mpich2 netpipe-openmpi chromium chromium-driver \
libsimgrid-dev slurmctld slurmd slurm-client munge"

wanted=""
for set_name in "$@"; do
  case $set_name in
    run) wanted="$wanted $run" ;;
    test) wanted="$wanted $test" ;;
    *) echo "setup.sh: unknown set '$set_name' (known: run, test)" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup.sh: this is no Debian or Ubuntu; install by hand what these packages hold:" >&2
  echo "  $wanted" >&2
  exit 0
fi

missing=""
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo"
else
  echo "These system packages are missing, and installing them needs root. Ask for:" >&2
  echo "  apt-get install --no-install-recommends$missing" >&2
  echo "then run make again." >&2
  exit 1
fi

echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
# Another package manager may hold the lock on a machine that has just started: wait for it.
$as_root apt-get -o DPkg::Lock::Timeout=120 update -qq
# No recommended packages: those of qemu-user register binary formats with the kernel.
# shellcheck disable=SC2086 # a list of package names
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -qq \
  --no-install-recommends $missing >/dev/null
