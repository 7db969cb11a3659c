/* Polite waiting: a rank that waits long for a slow simulated one tests and sleeps instead of spinning, so that many
 * waiting ranks do not take the cores from the few that are simulated. What is recorded does not change. */
#define _GNU_SOURCE
#include "markers.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "counter_math.h"

/* A message that is under way arrives within some tests; after them each sleep is twice as long as the one before, up
 * to a fifth of a millisecond, which is short beside a simulated rank's progress and long beside a test. Under valgrind
 * a test costs as much as a long sleep: there the ranks that wait would take the cores from those that compute, unless
 * they test seldom. So they do where ranks take turns to compute: nobody measures how long a call takes, and each test
 * disturbs who computes. */
enum { EAGER_TESTS = 50, FIRST_SLEEP_NS = 5000, LONGEST_SLEEP_NS = 200000 };
enum { EAGER_TESTS_SELDOM = 2, FIRST_SLEEP_SELDOM_NS = 100000, LONGEST_SLEEP_SELDOM_NS = 3000000 };
/* External ranks are many to a core, and wait for simulated ones most of the time. A test takes some 8 us with the
 * switches around it: with this much sleep for each rank of the job that shares a core, all tests together take less
 * than a tenth of the cores (with a fifth of a millisecond, 96 of SNAP's ranks took three quarters of two cores). */
enum { SLEEP_PER_SHARING_NS = 125000, LONGEST_SLEEP_EXTERNAL_NS = 10000000 };

static long longest_sleep_ns = LONGEST_SLEEP_NS;

void mk_polite_init(void) {
  mk_state.polite = (int)mk_parse_number(getenv("MANYNODE_MARKERS_POLITE"), 0);
  if (mk_state.polite != 1) return;
  (void)setpriority(PRIO_PROCESS, 0, 19);
  int ranks = 1;
  mk_real.Comm_size(MPI_COMM_WORLD, &ranks);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const long shared = ranks / (cores > 0 ? cores : 1) * SLEEP_PER_SHARING_NS;
  if (shared > longest_sleep_ns) longest_sleep_ns = shared;
  if (longest_sleep_ns > LONGEST_SLEEP_EXTERNAL_NS) longest_sleep_ns = LONGEST_SLEEP_EXTERNAL_NS;
}

static void pause_after(unsigned tests) {
  if (mk_node_in_vain()) return; /* it has slept there */
  const bool seldom = mk_state.on_valgrind || mk_takes_turns();
  const unsigned eager = seldom ? EAGER_TESTS_SELDOM : EAGER_TESTS;
  if (tests < eager) return;
  const unsigned doublings = tests - eager < 16 ? tests - eager : 16;
  const long longest = seldom ? LONGEST_SLEEP_SELDOM_NS : longest_sleep_ns;
  long sleep_ns = (seldom ? (long)FIRST_SLEEP_SELDOM_NS : (long)FIRST_SLEEP_NS) << doublings;
  if (sleep_ns > longest) sleep_ns = longest;
  nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
}

/* Until `call` sets the flag or fails; leaves its result in `result`. */
#define POLITELY(call)                                                \
  int flag = 0, result = MPI_SUCCESS;                                 \
  for (unsigned tests = 0; result == MPI_SUCCESS && !flag; tests++) { \
    mk_await_quiet();                                                 \
    mk_node_look();                                                   \
    result = (call);                                                  \
    if (!flag) pause_after(tests);                                    \
  }

int mk_polite_probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  POLITELY(mk_real.Iprobe(source, tag, comm, &flag, status));
  return result;
}

int mk_polite_mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  POLITELY(mk_real.Improbe(source, tag, comm, &flag, message, status));
  return result;
}

#ifdef OPEN_MPI
static bool is_polled(MPI_Request request) { return (void)request, false; }
static void forget_polled(MPI_Request request) { (void)request; }
#else
/* MPICH's own addition, for its files: requests that complete only while a wait or a test of theirs calls a function.
 */
enum { MOST_POLLED = 64 };
static pthread_mutex_t polled_lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Request polled[MOST_POLLED];
static int polled_count; /* MOST_POLLED: any request may be one */

static bool is_polled(MPI_Request request) {
  if (polled_count == 0 || polled_count == MOST_POLLED) return polled_count != 0;
  bool found = false;
  pthread_mutex_lock(&polled_lock);
  for (int i = 0; i < polled_count; i++) found = found || polled[i] == request;
  pthread_mutex_unlock(&polled_lock);
  return found;
}

static void forget_polled(MPI_Request request) {
  if (polled_count == 0 || polled_count == MOST_POLLED) return;
  pthread_mutex_lock(&polled_lock);
  for (int i = 0; i < polled_count; i++)
    if (polled[i] == request) polled[i] = polled[--polled_count];
  pthread_mutex_unlock(&polled_lock);
}

static void note_polled(MPI_Request request) {
  forget_polled(request);
  pthread_mutex_lock(&polled_lock);
  if (polled_count < MOST_POLLED) polled[polled_count++] = request;
  pthread_mutex_unlock(&polled_lock);
}

#define POLLED(name, declaration, ...)                                           \
  static int polled_##name declaration {                                         \
    static int(*real) declaration;                                               \
    if (!real) *(void**)&real = mk_find_symbol("PMPIX_" #name);                  \
    const int result = real ? real(__VA_ARGS__) : MPI_ERR_UNSUPPORTED_OPERATION; \
    if (result == MPI_SUCCESS) note_polled(*request);                            \
    return result;                                                               \
  }                                                                              \
  int MPIX_##name declaration { return polled_##name(__VA_ARGS__); }             \
  int PMPIX_##name declaration { return polled_##name(__VA_ARGS__); }

POLLED(Grequest_class_allocate, (MPIX_Grequest_class class, void* state, MPI_Request* request), class, state, request)
POLLED(Grequest_start,
       (MPI_Grequest_query_function * query, MPI_Grequest_free_function* release, MPI_Grequest_cancel_function* cancel,
        MPIX_Grequest_poll_function* poll, MPIX_Grequest_wait_function* wait, void* state, MPI_Request* request),
       query, release, cancel, poll, wait, state, request)
#endif

int mk_polite_wait(MPI_Request* request, MPI_Status* status) {
  forget_polled(*request);
  POLITELY(mk_real.Test(request, &flag, status));
  return result;
}

/* Asks for one request after the other without completing it, and leaves the rest to the call itself. MPI_Testall would
 * be another call: MPICH's knows no partitioned requests, and neither sets the errors of statuses nor reports errors as
 * MPI_Waitall does. */
int mk_polite_waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  int done = requests ? 0 : count;
  for (unsigned tests = 0; done < count; tests++) {
    mk_await_quiet();
    mk_node_look();
    for (int flag = 1; flag && done < count; done += flag)
      if (is_polled(requests[done]) ||
          mk_real.Request_get_status(requests[done], &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        flag = 1;
    if (done < count) pause_after(tests);
  }
  for (int i = 0; i < count && requests; i++) forget_polled(requests[i]);
  return mk_real.Waitall(count, requests, statuses);
}

int mk_polite_waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  POLITELY(mk_real.Testany(count, requests, index, &flag, status));
  /* where nothing is active, MPICH's test leaves the status alone */
  return result == MPI_SUCCESS && *index == MPI_UNDEFINED ? mk_real.Waitany(count, requests, index, status) : result;
}

int mk_polite_waitsome(int count, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
  *outcount = 0;
  POLITELY((result = mk_real.Testsome(count, requests, outcount, indices, statuses), flag = *outcount != 0, result));
  return result;
}
