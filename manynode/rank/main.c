/* manynode-rank COMMAND...: runs one rank of a job and, when it ends, notes rank and exit code in the file
 * $MANYNODE_RANK_ENDS before anybody else can know. Launchers end all ranks when one is lost and do not say for
 * certain which one it was; the first bad end in that file does. And it tells when all ranks have ended, whatever else
 * the launcher waits for. Otherwise the rank's end is passed on as it is.
 *
 * The rank's stderr goes straight to the file $MANYNODE_RANK_ERRORS: an MPI library says there why it gives up, then
 * asks the launcher to end the job, and what still lies in the launcher's pipe by then is lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void pass_on(int number) {
  if (child > 0) kill(child, number);
}

static void note(int code) {
  static const char* const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
  const char* path = getenv("MANYNODE_RANK_ENDS");
  const char* rank = NULL;
  for (size_t i = 0; !rank && i < sizeof names / sizeof *names; i++) rank = getenv(names[i]);
  if (!path || !rank) return;
  char line[64];
  const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC); /* made by who started the job */
  const int length = snprintf(line, sizeof line, "%.20s %d\n", rank, code);
  if (file >= 0 && write(file, line, (size_t)length) == length) close(file);
}

static void keep_errors(void) {
  const char* path = getenv("MANYNODE_RANK_ERRORS");
  const int file = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1; /* made by who started the job */
  if (file >= 0) dup2(file, STDERR_FILENO);
}

int main(int argc, char** argv) {
  static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
  const pid_t self = getpid();
  if (argc < 2) {
    fprintf(stderr, "usage: manynode-rank COMMAND [ARGUMENT...]\n");
    return 2;
  }
  child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no rank outlives this process */
    if (getppid() != self) _exit(1);
    keep_errors();
    execvp(argv[1], argv + 1);
    fprintf(stderr, "manynode-rank: cannot run %s: %s\n", argv[1], strerror(errno));
    _exit(127);
  }
  if (child < 0) {
    perror("manynode-rank: fork");
    return 1;
  }
  for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) signal(passed[i], pass_on);
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 1;
  child = 0;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    note(-number);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the rank has left its own */
    signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
  }
  note(WEXITSTATUS(status));
  return WEXITSTATUS(status);
}
