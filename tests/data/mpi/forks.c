/* Each rank starts a process that sleeps for argv[2] seconds and writes its process id to the file argv[3]; then all
 * end well, or sleep as well with a further argument. argv[1]: plain (a child), daemon (a child of a child, in a
 * session of its own, as daemons are; it ignores SIGTERM). */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void sleeper(char** argv) {
  char name[4096];
  snprintf(name, sizeof name, "%s.part", argv[3]);
  FILE* file = fopen(name, "w");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  rename(name, argv[3]);
  unsetenv("LD_PRELOAD");
  execlp("sleep", "sleep", argv[2], NULL);
  _exit(1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int daemon = strcmp(argv[1], "daemon") == 0;
  if (fork() == 0) {
    if (daemon) {
      signal(SIGTERM, SIG_IGN);
      setsid();
      if (fork() != 0) _exit(0);
    }
    sleeper(argv);
  }
  while (access(argv[3], F_OK) != 0) usleep(10000);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 4) sleep(1000);
  MPI_Finalize();
  return 0;
}
