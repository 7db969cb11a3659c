/* The protocol between guest and proxy, over two FIFOs per rank. The guest sends a request for every call that it does
 * not answer itself and waits for the reply:
 *
 *   request:  struct mb_header, notes (text), list (64-bit numbers), payload (data of the application)
 *   reply:    struct mb_header, list, payload
 *
 * Both ends run on one host, and numbers are in its byte order. Data travels in elements of basic datatypes without
 * gaps: derived datatypes exist only in the guest.
 */
#ifndef MANYNODE_BRIDGE_WIRE_H
#define MANYNODE_BRIDGE_WIRE_H

#include <stdint.h>

#define MB_MAGIC 0x3142424du /* "MBB1": the version is part of it */
enum { MB_WORDS = 10, MB_PIECE = 4096 /* a write of at most this to a FIFO that polls as writable never blocks */ };

/* Calls; those of the second list serve the shim itself and are never recorded. */
/* clang-format off */
#define MB_RECORDED_CALLS(X) \
  X(Init) X(Init_thread) X(Finalize) X(Abort) \
  X(Send) X(Ssend) X(Rsend) X(Recv) X(Isend) X(Issend) X(Irsend) X(Irecv) X(Sendrecv) X(Sendrecv_replace) \
  X(Probe) X(Iprobe) \
  X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) X(Request_free) \
  X(Send_init) X(Ssend_init) X(Rsend_init) X(Recv_init) X(Start) X(Startall) \
  X(Barrier) X(Bcast) X(Reduce) X(Allreduce) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) \
  X(Alltoall) X(Alltoallv) X(Reduce_scatter) X(Reduce_scatter_block) X(Scan) X(Exscan) \
  X(Ibarrier) X(Ibcast) X(Ireduce) X(Iallreduce) X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv) X(Iallgather) \
  X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ireduce_scatter) X(Ireduce_scatter_block) X(Iscan) X(Iexscan) \
  X(Comm_dup) X(Comm_split) X(Comm_create) X(Comm_free) X(Cart_create) X(Cart_sub)
/* clang-format on */
#define MB_UNRECORDED_CALLS(X) X(Dims_create) X(Comm_set_errhandler) X(notes)

#define MB_NUMBER(name) MB_##name,
enum mb_call_number { MB_none, MB_RECORDED_CALLS(MB_NUMBER) MB_UNRECORDED_CALLS(MB_NUMBER) MB_CALLS };
#undef MB_NUMBER

struct mb_header {
  uint32_t magic;
  uint16_t call;        /* enum mb_call_number; a reply repeats it */
  uint16_t notes_bytes; /* MPI_Pcontrol since the last request: "<level> <name>" and NUL for each */
  uint64_t entry_ns;    /* when this call was entered */
  uint64_t exit_ns;     /* when the recorded call before it was left */
  uint64_t site;        /* call site: an address in the guest's program */
  uint64_t list_count;
  uint64_t payload_bytes;
  int64_t word[MB_WORDS]; /* in a reply, word[0] is the MPI error class */
};

/* One completed request in a reply's list. */
enum mb_completion_word {
  MB_DONE_INDEX,  /* in the array of the call */
  MB_DONE_SOURCE, /* the status */
  MB_DONE_TAG,
  MB_DONE_ERROR,
  MB_DONE_BYTES,    /* in MPI's count */
  MB_DONE_PAYLOAD,  /* bytes of the reply's payload that belong to this request */
  MB_DONE_EXTERNAL, /* it came from a rank outside the simulated node */
  MB_DONE_WORDS
};

/* words of replies */
enum mb_reply_word {
  MB_R_RESULT,
  MB_R_SOURCE, /* the status of the one message that the call was about */
  MB_R_TAG,
  MB_R_BYTES,
  MB_R_EXTERNAL, /* data came from a rank outside the simulated node */
  MB_R_FLAG,
  MB_R_INDEX,    /* of Waitany and Testany; the number of Waitsome and Testsome; MB_UNDEFINED */
  MB_R_COMM = 1, /* a new communicator: number and own rank in it; the list holds its ranks in MPI_COMM_WORLD */
  MB_R_RANK
};

/* words of the reply to Init and Init_thread; the payload is the processor's name, NUL, the MPI library's version, NUL
 */
enum mb_init_word { MB_I_RANK = 1, MB_I_SIZE, MB_I_INJECT };

/* words of a collective's request, and its flags */
enum mb_collective_word {
  MB_C_COMM,
  MB_C_ROOT,
  MB_C_OP,
  MB_C_FLAGS,
  MB_C_REQUEST,
  MB_C_SEND_COUNT,
  MB_C_SEND_TYPE,
  MB_C_RECV_COUNT,
  MB_C_RECV_TYPE
};
enum { MB_SEND_IN_PLACE = 1, MB_RECV_IN_PLACE = 2 };

/* words of a point-to-point request; sendrecv has the receiving half in the second set */
enum mb_message_word {
  MB_P_COMM,
  MB_P_PEER,
  MB_P_TAG,
  MB_P_COUNT,
  MB_P_TYPE,
  MB_P_REQUEST,
  MB_P_SOURCE = 5,
  MB_P_RECV_TAG,
  MB_P_RECV_COUNT,
  MB_P_RECV_TYPE
};

/* Injected memory operations of the node, done by the guest's helper thread on command of the proxy. */
enum mb_inject { MB_INJECT_NONE, MB_INJECT_FLUSH, MB_INJECT_NIC };
enum mb_helper_verb { MB_HELPER_READ = 1, MB_HELPER_WRITE, MB_HELPER_STOP };
struct mb_helper_command {
  uint32_t magic;
  uint32_t verb;
  int64_t request; /* whose buffer; 0: that of the call under way */
  uint64_t bytes;  /* at most this much of it */
};
struct mb_helper_done {
  uint32_t magic;
  uint32_t verb;
  uint64_t lines;
};

/* The byte of a rank in the state file; only MB_STATE_RUNNING needs the simulated core. */
enum mb_state { MB_STATE_ABSENT, MB_STATE_READY, MB_STATE_RUNNING, MB_STATE_WAITING, MB_STATE_FINISHED };

/* A guest's mark for the simulator's statistics, as MB_MARK_KINDS * rank + mark. */
enum mb_mark { MB_MARK_CALL, MB_MARK_PAUSE, MB_MARK_KINDS };

/* exit code of a guest whose proxy is gone (another party is to blame), and of a guest that refuses a call */
enum { MB_EXIT_PROXY_GONE = 86, MB_EXIT_REFUSED = 87 };

/* Basic datatypes: number, name without MPI_, C type in memory, bytes as MPI counts them. The pairs have gaps. */
struct mb_float_int {
  float value;
  int index;
};
struct mb_double_int {
  double value;
  int index;
};
struct mb_long_int {
  long value;
  int index;
};
struct mb_short_int {
  short value;
  int index;
};
struct mb_two_int {
  int value;
  int index;
};
#define MB_BASIC_TYPES(X)                              \
  X(1, CHAR, char, 1)                                  \
  X(2, SIGNED_CHAR, signed char, 1)                    \
  X(3, UNSIGNED_CHAR, unsigned char, 1)                \
  X(4, BYTE, unsigned char, 1)                         \
  X(5, WCHAR, int32_t, 4)                              \
  X(6, SHORT, short, 2)                                \
  X(7, UNSIGNED_SHORT, unsigned short, 2)              \
  X(8, INT, int, 4)                                    \
  X(9, UNSIGNED, unsigned, 4)                          \
  X(10, LONG, long, 8)                                 \
  X(11, UNSIGNED_LONG, unsigned long, 8)               \
  X(12, LONG_LONG, long long, 8)                       \
  X(13, UNSIGNED_LONG_LONG, unsigned long long, 8)     \
  X(14, FLOAT, float, 4)                               \
  X(15, DOUBLE, double, 8)                             \
  X(16, LONG_DOUBLE, long double, sizeof(long double)) \
  X(17, INT8_T, int8_t, 1)                             \
  X(18, INT16_T, int16_t, 2)                           \
  X(19, INT32_T, int32_t, 4)                           \
  X(20, INT64_T, int64_t, 8)                           \
  X(21, UINT8_T, uint8_t, 1)                           \
  X(22, UINT16_T, uint16_t, 2)                         \
  X(23, UINT32_T, uint32_t, 4)                         \
  X(24, UINT64_T, uint64_t, 8)                         \
  X(25, C_BOOL, uint8_t, 1)                            \
  X(26, C_FLOAT_COMPLEX, struct mb_two_int, 8)         \
  X(27, C_DOUBLE_COMPLEX, struct mb_two_doubles, 16)   \
  X(28, AINT, int64_t, 8)                              \
  X(29, COUNT, int64_t, 8)                             \
  X(30, OFFSET, int64_t, 8)                            \
  X(31, FLOAT_INT, struct mb_float_int, 8)             \
  X(32, DOUBLE_INT, struct mb_double_int, 12)          \
  X(33, LONG_INT, struct mb_long_int, 12)              \
  X(34, SHORT_INT, struct mb_short_int, 6)             \
  X(35, 2INT, struct mb_two_int, 8)
struct mb_two_doubles {
  double real, imaginary;
};
enum { MB_BASIC_TYPE_COUNT = 36 /* number 0 is none */ };

#define MB_OPERATIONS(X) \
  X(1, MAX)              \
  X(2, MIN)              \
  X(3, SUM) X(4, PROD) X(5, LAND) X(6, BAND) X(7, LOR) X(8, BOR) X(9, LXOR) X(10, BXOR) X(11, MINLOC) X(12, MAXLOC)
enum { MB_OPERATION_COUNT = 13 };

enum { MB_COMM_NULL, MB_COMM_WORLD, MB_COMM_SELF, MB_FIRST_COMM };
/* special ranks, the same on the wire for every native MPI */
enum { MB_PROC_NULL = -2, MB_ANY_SOURCE = -3, MB_ANY_TAG = -1, MB_UNDEFINED = -32766 };

#endif
