/* Details of records: lists of words, equal ones stored once. The section grows by moving; records have offsets. */
#define _GNU_SOURCE
#include "markers.h"

#include <string.h>
#include <sys/mman.h>

struct words {
  int64_t* at;
  uint64_t used, room;
};

static struct words open_detail; /* of the record at hand: first its length */
static struct words section;

enum { FIRST_ROOM = 1 << 13, TABLE = 1 << 16, MOST_PROBES = 16 };
static uint32_t* known; /* offsets by hash; details beyond its room are stored again */

static bool grow(struct words* words, uint64_t needed) {
  if (needed <= words->room) return true;
  uint64_t room = words->room ? words->room : FIRST_ROOM;
  while (room < needed) room *= 2;
  int64_t* moved = words->at ? mremap(words->at, words->room * sizeof *moved, room * sizeof *moved, MREMAP_MAYMOVE)
                             : mk_allocate(room * sizeof *moved);
  if (!moved || moved == MAP_FAILED) return false;
  words->at = moved;
  words->room = room;
  return true;
}

/* Without memory the detail ends too early; its length says so to a reader that expects more. */
void mk_put(int64_t word) {
  if (!open_detail.used) {
    if (!grow(&open_detail, 1)) return;
    open_detail.used = 1;
  }
  if (!grow(&open_detail, open_detail.used + 1)) return;
  open_detail.at[open_detail.used++] = word;
}

#define PUT(name, type, counts_declaration, bytes)                  \
  void name(const type* counts, counts_declaration, int n) {        \
    mk_put(counts && n > 0 ? n : 0);                                \
    for (int i = 0; counts && i < n; i++) mk_put((int64_t)(bytes)); \
  }
PUT(mk_put_counts_int, int, MPI_Datatype datatype, mk_bytes(counts[i], datatype))
PUT(mk_put_counts_count, MPI_Count, MPI_Datatype datatype, mk_bytes(counts[i], datatype))
PUT(mk_put_typed_int, int, const MPI_Datatype* types, mk_bytes(counts[i], types[i]))
PUT(mk_put_typed_count, MPI_Count, const MPI_Datatype* types, mk_bytes(counts[i], types[i]))

static uint64_t hash_of(const int64_t* words, uint64_t count) {
  uint64_t hash = count;
  for (uint64_t i = 0; i < count; i++) hash = (hash ^ (uint64_t)words[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 32;
  return hash;
}

uint32_t mk_take_detail(void) {
  const uint64_t count = open_detail.used;
  open_detail.used = 0;
  if (count < 2 || (!known && !(known = mk_allocate(TABLE * sizeof *known)))) return 0;
  open_detail.at[0] = (int64_t)count - 1;
  const uint64_t hash = hash_of(open_detail.at, count);
  uint32_t* slot = NULL;
  for (unsigned i = 0; i < MOST_PROBES; i++) {
    slot = &known[(hash + i) & (TABLE - 1)];
    if (!*slot) break;
    const int64_t* other = section.at + *slot;
    if (other[0] == open_detail.at[0] && memcmp(other, open_detail.at, count * sizeof *other) == 0) return *slot;
    slot = NULL;
  }
  if (!section.used) section.used = 1; /* offset 0 is no detail */
  if (section.used + count > UINT32_MAX || !grow(&section, section.used + count)) return 0;
  const uint32_t offset = (uint32_t)section.used;
  memcpy(section.at + offset, open_detail.at, count * sizeof(int64_t));
  section.used += count;
  if (slot) *slot = offset;
  return offset;
}

const int64_t* mk_details(uint32_t* words) {
  *words = (uint32_t)section.used;
  return section.at;
}
