// Guests that do what the bridge handles or refuses, named by argv[1]; native ranks only take part. C++, because the
// C++ library sleeps by itself.
#include <mpi.h>
#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#ifdef MANYNODE_BRIDGE
constexpr bool kGuest = true;
#else
constexpr bool kGuest = false;
#endif

static void own_operation(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; i++) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

static double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Seconds that `rest` takes by MPI's clock.
template <typename Rest>
static void measure(const char* name, Rest rest) {
  const double start = MPI_Wtime();
  rest();
  std::printf("%s took %.2f\n", name, MPI_Wtime() - start);
}

static void sleep_in_all_ways() {
  measure("sleep", [] { sleep(1); });
  measure("usleep", [] { usleep(200000); });
  measure("nanosleep", [] {
    const timespec time{0, 200000000};
    nanosleep(&time, nullptr);
  });
  measure("clock_nanosleep", [] {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 200000000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_nsec -= 1000000000;
      until.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  });
  measure("sleep_for", [] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
  measure("select", [] {
    timeval time{0, 200000};
    select(0, nullptr, nullptr, nullptr, &time);
  });
  measure("poll", [] { poll(nullptr, 0, 200); });
}

static void refused(const std::string& way) {
  if (way == "select") {
    fd_set files;
    FD_ZERO(&files);
    FD_SET(0, &files);
    select(1, &files, nullptr, nullptr, nullptr);
  } else if (way == "poll") {
    pollfd file{0, POLLIN, 0};
    poll(&file, 1, -1);
  } else if (way == "epoll_wait") {
    epoll_event event{};
    epoll_wait(epoll_create1(0), &event, 1, -1);
  } else if (way == "pause") {
    pause();
  } else if (way == "fork") {
    if (fork() == 0) _exit(0);
  } else if (way == "system") {
    std::exit(std::system("true"));
  } else if (way == "popen") {
    popen("true", "r");
  } else if (way == "posix_spawn") {
    char name[] = "true";
    char* arguments[] = {name, nullptr};
    posix_spawn(nullptr, "/bin/true", nullptr, nullptr, arguments, nullptr);
  } else if (way == "MPI_Op_create") {
    MPI_Op op;
    MPI_Op_create(own_operation, 1, &op);
  }
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "no init" && kGuest) return 0;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (way == "forever") {
    for (;;) {
      int sum = 0;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      if (!kGuest) usleep(20000);
    }
  } else if (way == "delay") {
    const double start = MPI_Wtime();
    const double used = cpu_seconds();
    if (!kGuest && rank == size - 1) sleep(5);
    MPI_Barrier(MPI_COMM_WORLD);
    if (kGuest) std::printf("waited %.2f used %.2f\n", MPI_Wtime() - start, cpu_seconds() - used);
  } else if (way == "sleep") {
    if (kGuest) sleep_in_all_ways();
  } else if (way == "exit" && kGuest) {
    std::exit(0);
  } else if (way == "crash" && kGuest) {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  } else if (way == "abort" && kGuest) {
    MPI_Abort(MPI_COMM_WORLD, 7);
  } else if (way == "wrong rank" && kGuest) {
    MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  } else if (way == "wrong type" && kGuest) {
    MPI_Send(&rank, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
  } else if (kGuest && way != "code") {
    refused(way);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return way == "code" && kGuest ? 3 : 0;
}
