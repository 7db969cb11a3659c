/* Memory of the shim: pages that are never given back. */
#include <sys/mman.h>

#include "shim.h"

enum { SLOTS_PER_CHUNK = 256 };

void* mb_allocate(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) mb_fatal("", "no memory for %zu bytes", bytes);
  return memory;
}

int64_t* mb_list_room(int which, int64_t count) {
  static struct {
    int64_t* at;
    int64_t room;
  } lists[2];
  if (count > lists[which].room) {
    int64_t room = 512;
    while (room < count) room *= 2;
    lists[which].at = mb_allocate((size_t)room * sizeof(int64_t));
    lists[which].room = room;
  }
  return lists[which].at;
}

void* mb_slot(struct mb_table* table, int number) {
  if (number < 0 || number >= table->used) return NULL;
  return (char*)table->chunks[number / SLOTS_PER_CHUNK] + (size_t)(number % SLOTS_PER_CHUNK) * table->slot_bytes;
}

int mb_new_slot(struct mb_table* table, bool (*is_free)(const void* slot)) {
  static const int most = SLOTS_PER_CHUNK * (int)(sizeof table->chunks / sizeof *table->chunks);
  for (int i = 0; is_free && i < table->used; i++)
    if (is_free(mb_slot(table, i))) return i;
  if (table->used == most) mb_fatal("", "more than %d requests, datatypes, communicators or groups at once", most);
  void** chunk = &table->chunks[table->used / SLOTS_PER_CHUNK];
  if (!*chunk) *chunk = mb_allocate(SLOTS_PER_CHUNK * table->slot_bytes);
  return table->used++;
}
