// manynode-bridge-proxy GUEST-PROGRAM: a rank of the native MPI job that stands for a simulated one. Its settings come
// from the environment (README.md); the guest's program is only named in what is recorded.
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include "proxy.hpp"

namespace manynode::bridge {
namespace {

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') {
    throw std::runtime_error(std::string(name) + " is not set; manynode starts proxies with it");
  }
  return value;
}

mb_inject inject_setting() {
  const std::string value = setting("MANYNODE_BRIDGE_INJECT");
  if (value == "nic") {
    return MB_INJECT_NIC;
  }
  if (value == "flush") {
    return MB_INJECT_FLUSH;
  }
  if (value == "none") {
    return MB_INJECT_NONE;
  }
  throw std::runtime_error("MANYNODE_BRIDGE_INJECT is '" + value + "'; allowed: none, flush, nic");
}

// The whole job ends with this process, whatever MPI is doing in another thread. Said once.
[[noreturn]] void fail(int rank, const char* what) {
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  if (!said.test_and_set()) {
    std::fprintf(stderr, "manynode-bridge-proxy: rank %d: %s\n", rank, what);
    std::fflush(nullptr);
  }
  _exit(1);
}

int run(int argc, char** argv) {
  int rank = -1;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    Settings settings;
    settings.directory = setting("MANYNODE_BRIDGE_DIR");
    settings.first = std::atoi(setting("MANYNODE_BRIDGE_FIRST"));
    settings.ranks = std::atoi(setting("MANYNODE_BRIDGE_RANKS"));
    settings.inject = inject_setting();
    const char* report = std::getenv("MANYNODE_BRIDGE_REPORT");
    settings.report = report != nullptr ? report : "";
    settings.program = argc > 1 ? argv[1] : "";
    if (rank < settings.first || rank >= settings.first + settings.ranks) {
      throw std::runtime_error(
          "this is no rank of the simulated node; the job's blocks and MANYNODE_BRIDGE_FIRST and "
          "_RANKS do not fit");
    }
    Proxy proxy(settings, rank, size);
    // MPI may wait for others for long: that the guest has ended is seen all the same.
    std::thread([&proxy, rank] {
      proxy.watch();
      if (!proxy.finished()) {
        fail(rank, "its guest ended without MPI_Finalize");
      }
    }).detach();
    proxy.serve();
  } catch (const std::exception& error) {
    fail(rank, error.what());
  }
  std::fflush(nullptr);
  _exit(0);  // the watching thread has nothing left to see
}

}  // namespace
}  // namespace manynode::bridge

int main(int argc, char** argv) { return manynode::bridge::run(argc, argv); }
