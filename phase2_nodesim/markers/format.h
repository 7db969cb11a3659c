/* The marker file: the calls of one rank, one file per rank, written by the preloaded library and read by
 * manynode/markers.py.
 *
 *   offset 0      struct mk_file_header   (128 bytes; the last word is a checksum of the words before it)
 *   metadata      JSON object, UTF-8, padded with blanks to a multiple of 8
 *   strings       NUL-terminated strings back to back; a reference is a byte offset; offset 0 is the empty string
 *   call sites    struct mk_call_site (32 bytes each)
 *   details       detail_words 64-bit words: lists of numbers that some records refer to (below)
 *   records       record_count records of record_bytes each: struct mk_record, then counter_count 64-bit counters
 *   end           struct mk_file_end (24 bytes): record count, sum of all words between header and end, magic backwards
 *
 * All numbers are little endian, every section starts at a multiple of 8, and the sections follow each other without
 * gap in the order above. A reader can check every offset against the file's size before it reads anything. A record
 * describes one MPI call; its counters and its phase describe the compute phase *before* that call. The metadata names
 * the operations ("operations": number -> name) and the counters ("counters": list).
 *
 * A waiting rank may look for its messages millions of times. Of consecutive calls in vain (MK_RECORD_IN_VAIN) the
 * first has a record, and the second one has a record that also stands for all that follow: its compute phase is the
 * sum of theirs, in time and in counters, so is the time within it, and bytes2 is the number of those that follow. A
 * phase with a label of its own is kept apart. Under callgrind, where each phase has its dump, and for guests of a
 * simulator every call has its record.
 *
 * A detail is a word n and n words; a record refers to it by the offset of its first word in the section, and equal
 * details are stored once. Requests of a rank are numbered from 0 in the order of the calls that made them
 * (mk_record.request). Details count them backwards from the call: 1 is the last one made before it, 2 the one before
 * that; 0 stands for a null or inactive request, or a cancelled one, MK_UNKNOWN for one that is not known. The words
 * are
 *
 *   MPI_Wait*, MPI_Test*, MPI_Request_free: the requests completed or freed, in the order of the call's array. No
 *       detail: none (a test in vain).
 *   MPI_Cancel: the request cancelled, whose receive got nothing. No detail: it came too late, or a second time.
 *   MPI_Start, MPI_Startall: the requests started.
 *   A call that makes a communicator: its number (MK_NONE: this rank is not in it); its topology (MK_TOPOLOGY_...);
 *       its size; how many ranks are listed (0: those of MPI_COMM_WORLD in order); these, as ranks of MPI_COMM_WORLD.
 *       Then of a Cartesian one the number of dimensions, extents, periods (0 or 1) and own coordinates; of a graph the
 *       number of sources, of destinations, the sources, the destinations, as ranks of the communicator.
 *   A call that makes a window: its number; its size, how many ranks are listed, and these, as above.
 *   Other calls on a window: its number; of MPI_Win_start and MPI_Win_post the size of the group and its ranks; of
 *       MPI_Win_lock 1 if the lock is exclusive, else 0.
 *   MPI_Sendrecv and its kin: the tag of the receive.
 *   Collectives with counts for each rank: how many blocks are sent, the bytes of each, how many are received, the
 *       bytes of each; by rank of the communicator or by neighbour.
 */
#ifndef MANYNODE_MARKERS_FORMAT_H
#define MANYNODE_MARKERS_FORMAT_H

#include <stdint.h>

#ifdef __cplusplus
#define MK_STATIC_ASSERT static_assert
#else
#define MK_STATIC_ASSERT _Static_assert
#endif

#define MK_MAGIC "MNMARKER"
#define MK_MAGIC_END "REKRAMNM"
#define MK_VERSION 3u
#define MK_MAX_COUNTERS 40

/* flags of the file */
#define MK_FILE_INCOMPLETE 1u /* the rank ended without MPI_Finalize */
#define MK_FILE_TRUNCATED 2u  /* MANYNODE_MARKERS_MAX_RECORDS was reached */

/* peer: a rank of MPI_COMM_WORLD, or one of these */
#define MK_NONE (-1)
#define MK_ANY (-2)
#define MK_PROC_NULL (-3)
#define MK_UNKNOWN (-4) /* a process outside MPI_COMM_WORLD */

/* topologies of communicators */
#define MK_TOPOLOGY_NONE 0
#define MK_TOPOLOGY_CARTESIAN 1
#define MK_TOPOLOGY_GRAPH 2
#define MK_TOPOLOGY_INTER 3 /* an intercommunicator: the ranks are those of the remote group */

/* flags of a record */
#define MK_RECORD_DONE 1u            /* the call returned; only such records are written */
#define MK_RECORD_PHASE_INHERITED 2u /* the phase's name comes from a region opened in an earlier phase */
#define MK_RECORD_ANY_SOURCE 4u      /* posted with MPI_ANY_SOURCE; peer is the real source if it became known */
#define MK_RECORD_ERROR 8u           /* the call returned an error: peer, bytes and tag are not filled in */
#define MK_RECORD_NO_PHASE 16u       /* nothing was measured before this call (MPI_Init) */
#define MK_RECORD_WARM_UP 32u        /* the region "warm-up" was open during the phase before this call */
#define MK_RECORD_ANY_TAG 64u        /* posted with MPI_ANY_TAG; tag is the real one if it became known */
#define MK_RECORD_IN_VAIN 128u       /* a test or probe that found nothing */

struct mk_file_header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint32_t flags;
  int32_t rank;
  int32_t world_size;
  int32_t node; /* -1: not numbered by the library, the reader numbers the host names */
  uint32_t record_bytes;
  uint32_t counter_count;
  uint32_t call_site_count;
  uint32_t detail_words;
  uint64_t metadata_offset, metadata_bytes;
  uint64_t strings_offset, strings_bytes;
  uint64_t call_sites_offset;
  uint64_t records_offset, record_count;
  uint64_t file_bytes;
  uint64_t start_ns; /* CLOCK_MONOTONIC when MPI_Init was entered; record times are on the same clock */
  uint64_t checksum;
};

struct mk_call_site {
  uint64_t address;       /* return address in this process */
  uint64_t module_offset; /* the same, relative to the module's load address: what addr2line wants */
  uint64_t symbol_offset; /* distance from the nearest dynamic symbol */
  uint32_t module;        /* string: path of the executable or shared library */
  uint32_t symbol;        /* string: that symbol, empty when unknown */
};

struct mk_record {
  uint64_t time_in_ns;
  uint64_t time_out_ns;
  uint64_t bytes;
  uint64_t bytes2; /* of a call in vain: the calls that it stands for beside itself */
  uint32_t call_site;
  uint32_t phase; /* string */
  int32_t communicator;
  int32_t peer;
  int32_t peer2;
  int32_t tag;
  int32_t requests;
  uint16_t operation;
  uint16_t flags;
  uint32_t detail; /* offset of its first word; 0: none */
  int32_t request; /* number of the request that the call made, or MK_NONE */
};

struct mk_file_end {
  uint64_t record_count;
  uint64_t sum;
  char magic[8];
};

MK_STATIC_ASSERT(sizeof(struct mk_file_header) == 128, "the header is 128 bytes");
MK_STATIC_ASSERT(sizeof(struct mk_call_site) == 32, "a call site is 32 bytes");
MK_STATIC_ASSERT(sizeof(struct mk_record) == 72, "a record is 72 bytes");

/* Sum of 64-bit words: weak, but it finds every single flipped bit and is a vector operation in the reader too. */
static inline uint64_t mk_sum_words(uint64_t sum, const void* data, uint64_t bytes) {
  const unsigned char* at = (const unsigned char*)data;
  for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    __builtin_memcpy(&word, at + i, 8);
    sum += word;
  }
  return sum;
}

#endif
