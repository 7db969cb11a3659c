/* Endings other than MPI_Finalize: exit, and signals that end the program. What was recorded so far is written and the
 * file flagged incomplete; then the signal goes where it would have gone without this library. SIGKILL cannot be
 * watched. */
#define _GNU_SOURCE
#include "markers.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const int watched[] = {SIGTERM, SIGINT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { WATCHED = sizeof watched / sizeof *watched };
static struct sigaction before[WATCHED];
static pid_t owner;

/* QEMU 7.2 enters handlers with a stack that is not aligned as the ABI says; aligned stores would end the program. */
#if defined __x86_64__
__attribute__((force_align_arg_pointer))
#endif
static void on_signal(int number, siginfo_t* info, void* context) {
  if (getpid() == owner) mk_write(MK_FILE_INCOMPLETE);
  for (int i = 0; i < WATCHED; i++) {
    if (watched[i] != number) continue;
    const struct sigaction* old = &before[i];
    if (old->sa_flags & SA_SIGINFO) {
      old->sa_sigaction(number, info, context);
    } else if (old->sa_handler == SIG_IGN) {
      return;
    } else if (old->sa_handler != SIG_DFL) {
      old->sa_handler(number);
    } else {
      /* the default action, as if this handler had never been: blocked here, delivered on return */
      sigaction(number, old, NULL);
      raise(number);
    }
    return;
  }
}

/* A signal that the program ignores ends nothing, so it is left alone. */
void mk_watch_endings(void) {
  owner = getpid();
  for (int i = 0; i < WATCHED; i++) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(watched[i], NULL, &before[i]) != 0) continue;
    if (!(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_IGN) continue;
    sigaction(watched[i], &action, NULL);
  }
}

__attribute__((destructor)) static void at_exit(void) {
  if (owner && getpid() == owner) mk_write(MK_FILE_INCOMPLETE);
}
