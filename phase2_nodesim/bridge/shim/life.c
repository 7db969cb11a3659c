/* Begin and end of the program, and questions that need no proxy. */
#define _DEFAULT_SOURCE /* on_exit */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

struct mb_guest mb_guest;

static const char* setting(const char* name) {
  const char* value = getenv(name);
  if (!value || !*value)
    mb_fatal("MPI_Init",
             "%s is not set. This program is linked with manynode's bridge library: it runs as the guest of a "
             "simulation, which manynode starts. To run it alone, link it with an MPI library",
             name);
  return value;
}

static int open_fifo(const char* directory, const char* name, int flags) {
  char path[1024];
  snprintf(path, sizeof path, "%s/rank-%d.%s", directory, mb_guest.rank, name);
  const long file = mb_open_file(path, flags);
  if (file < 0) mb_fatal("MPI_Init", "cannot open %s (error %ld): the proxy of this rank does not run", path, -file);
  return (int)file;
}

/* A simulator of several guests knows the exit code of the last one only. */
static void at_exit(int code, void* unused) {
  (void)unused;
  if (code == 0 || mb_guest.host_clock) return;
  mb_say("", "ended with exit code %d", code);
  mb_end(code);
}

static void begin(int number, uint64_t entry_ns, const void* site, int thread_level) {
  if (mb_guest.initialized) mb_fatal(mb_call_names[number], "called twice");
  const char* directory = setting("MANYNODE_BRIDGE_DIR");
  mb_guest.rank = atoi(setting("MANYNODE_BRIDGE_RANK"));
  mb_mark_end(MB_MARK_CALL);
  mb_guest.thread_level = thread_level < MPI_THREAD_SERIALIZED ? thread_level : MPI_THREAD_SERIALIZED;
  if (mb_guest.host_clock) signal(SIGPIPE, SIG_IGN); /* a proxy that is gone is found by the write's error */
  mb_link_sleeping();
  mb_guest.request_fd = open_fifo(directory, "request", O_WRONLY);
  mb_guest.reply_fd = open_fifo(directory, "reply", O_RDONLY);
  mb_guest.initialized = true;
  mb_guest.exit_ns = entry_ns;
  on_exit(at_exit, NULL);

  struct mb_call call;
  mb_open(&call, number, entry_ns, site);
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  char texts[MPI_MAX_PROCESSOR_NAME + MPI_MAX_LIBRARY_VERSION_STRING];
  if (call.reply.payload_bytes > sizeof texts) mb_fatal("MPI_Init", "the proxy's answer is too long");
  mb_get(texts, call.reply.payload_bytes);
  const size_t name_bytes = strnlen(texts, call.reply.payload_bytes) + 1;
  snprintf(mb_guest.processor_name, sizeof mb_guest.processor_name, "%s", texts);
  snprintf(mb_guest.library_version, sizeof mb_guest.library_version, "%s", texts + name_bytes);
  mb_guest.rank = (int)call.reply.word[MB_I_RANK];
  mb_guest.size = (int)call.reply.word[MB_I_SIZE];
  mb_guest.inject = (enum mb_inject)call.reply.word[MB_I_INJECT];
  mb_make_first_comms();
  if (mb_guest.inject == MB_INJECT_NIC) mb_start_helper(directory);
  mb_leave(&call);
}

/* Before main: the simulator's time, unless the environment names the host's clock or no simulation has started us. */
__attribute__((constructor)) static void choose_clock(void) {
  const char* clock = getenv("MANYNODE_BRIDGE_CLOCK");
  mb_guest.host_clock = !getenv("MANYNODE_BRIDGE_DIR") || (clock && strcmp(clock, "host") == 0);
}

int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  begin(MB_Init, mb_now(), MB_SITE, MPI_THREAD_SINGLE);
  return MPI_SUCCESS;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  (void)argc;
  (void)argv;
  begin(MB_Init_thread, mb_now(), MB_SITE, required);
  *provided = mb_guest.thread_level;
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  MB_ENTER(Finalize);
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  const int result = mb_leave(&call);
  mb_guest.finalized = true;
  return result;
}

int MPI_Abort(MPI_Comm comm, int errorcode) {
  (void)comm; /* the native MPI libraries end the whole job as well */
  MB_ENTER(Abort);
  mb_say("MPI_Abort", "called with error code %d", errorcode);
  call.request.word[0] = errorcode;
  mb_request(&call, NULL, 0, NULL);
  /* the job ends, and with it the proxy: not before it has read this */
  char byte;
  while (mb_arch_syscall(SYS_read, mb_guest.reply_fd, (long)&byte, 1, 0) > 0) continue;
  mb_end(errorcode & 0xff ? errorcode & 0xff : 1);
}

int MPI_Initialized(int* flag) {
  *flag = mb_guest.initialized;
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag) {
  *flag = mb_guest.finalized;
  return MPI_SUCCESS;
}

int MPI_Query_thread(int* provided) {
  *provided = mb_guest.thread_level;
  return MPI_SUCCESS;
}

int MPI_Is_thread_main(int* flag) {
  *flag = 1; /* only one thread may call */
  return MPI_SUCCESS;
}

double MPI_Wtime(void) { return (double)mb_now() * 1e-9; }

double MPI_Wtick(void) { return 1e-9; }

int MPI_Get_processor_name(char* name, int* resultlen) {
  *resultlen = snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", mb_guest.processor_name);
  return MPI_SUCCESS;
}

int MPI_Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int MPI_Get_library_version(char* version, int* resultlen) {
  *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "manynode bridge to %s",
                        mb_guest.initialized ? mb_guest.library_version : "a native MPI library");
  if (*resultlen >= MPI_MAX_LIBRARY_VERSION_STRING) *resultlen = MPI_MAX_LIBRARY_VERSION_STRING - 1;
  return MPI_SUCCESS;
}

int MPI_Error_class(int errorcode, int* errorclass) {
  *errorclass = errorcode;
  return MPI_SUCCESS;
}

int MPI_Error_string(int errorcode, char* string, int* resultlen) {
  static const char* const texts[MPI_ERR_LASTCODE] = {"no error",
                                                      "invalid buffer",
                                                      "invalid count",
                                                      "invalid datatype",
                                                      "invalid tag",
                                                      "invalid communicator",
                                                      "invalid rank",
                                                      "invalid request",
                                                      "invalid root",
                                                      "invalid group",
                                                      "invalid operation",
                                                      "invalid topology",
                                                      "invalid dimensions",
                                                      "invalid argument",
                                                      "unknown error",
                                                      "message truncated",
                                                      "other error",
                                                      "internal MPI error",
                                                      "error code is in the status",
                                                      "pending request"};
  const bool known = errorcode >= 0 && errorcode < MPI_ERR_LASTCODE;
  *resultlen = snprintf(string, MPI_MAX_ERROR_STRING, "%s", texts[known ? errorcode : MPI_ERR_UNKNOWN]);
  return MPI_SUCCESS;
}

int MPI_Op_create(MPI_User_function* function, int commute, MPI_Op* op) {
  (void)function;
  (void)commute;
  (void)op;
  mb_fatal("MPI_Op_create",
           "operations of the program's own are not bridged (the native MPI library cannot call into the guest); "
           "use a predefined operation");
}

int MPI_Op_free(MPI_Op* op) {
  (void)op;
  mb_fatal("MPI_Op_free", "operations of the program's own are not bridged");
}
