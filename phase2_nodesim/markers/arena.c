/* Memory of the markers library: records in chunks that never move, interned strings, call sites. All of it comes from
 * mmap; growing adds a chunk or maps a larger table and never touches the application's heap. */
#define _GNU_SOURCE
#include "markers.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 18, MAX_CHUNKS = 1 << 20 };

static struct {
  char** chunks; /* reserved, not populated: the kernel gives pages as they are used */
  uint64_t reserved;
  size_t record_bytes;
  uint64_t records_per_chunk;
} records;

static struct {
  char* text; /* one address range reserved at start, so that references stay valid */
  uint64_t used;
  uint32_t* table; /* offsets, open addressing */
  uint32_t table_size, entries;
} strings;

static struct {
  struct mk_call_site* list;
  uint32_t* table; /* number + 1 */
  uint32_t table_size, count;
  void* last_address;
  uint32_t last_number;
} sites;

enum { STRINGS_RESERVED = 64 << 20, SITES_RESERVED = 1 << 20, STRING_LIMIT = 4096 };

static void* map(size_t bytes, int flags) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void* mk_allocate(size_t bytes) { return map(bytes, MAP_NORESERVE); }

void mk_set_record_bytes(size_t bytes) {
  records.record_bytes = bytes;
  records.records_per_chunk = CHUNK_BYTES / bytes;
}

/* A zeroed slot and its number, or NULL when there is no memory. */
struct mk_record* mk_new_record(uint64_t* number) {
  if (!records.chunks && !(records.chunks = mk_allocate(MAX_CHUNKS * sizeof(char*)))) return NULL;
  const uint64_t chunk = records.reserved / records.records_per_chunk;
  if (chunk >= MAX_CHUNKS) return NULL;
  /* populated at once: page faults would otherwise hit every sixtieth call */
  if (!records.chunks[chunk] && !(records.chunks[chunk] = map(CHUNK_BYTES, MAP_POPULATE))) return NULL;
  *number = records.reserved++;
  return mk_record_at(*number);
}

struct mk_record* mk_record_at(uint64_t number) {
  char* chunk = records.chunks[number / records.records_per_chunk];
  return (struct mk_record*)(chunk + (number % records.records_per_chunk) * records.record_bytes);
}

void mk_drop_last_record(void) { memset(mk_record_at(--records.reserved), 0, records.record_bytes); }

uint64_t mk_record_slots(void) { return records.reserved; }

static uint32_t hash_text(const char* text) {
  uint32_t hash = 2166136261u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

/* Byte by byte: the C library's comparison takes more instructions near the end of a page, so that the counts of a
 * phase would depend on where the stack lies, that is on the length of the environment. */
static bool same_text(const char* one, const char* other) {
  while (*one && *one == *other) one++, other++;
  return *one == *other;
}

/* The offset of `text` in the string section; equal texts share one. 0 (the empty string) when memory is short. */
uint32_t mk_intern(const char* text) {
  if (!*text) return 0;
  if (!strings.text) {
    strings.table_size = 1 << 16;
    strings.table = mk_allocate(strings.table_size * sizeof *strings.table);
    strings.text = mk_allocate(STRINGS_RESERVED);
    if (!strings.text || !strings.table) return 0;
    strings.used = 1;
  }
  uint32_t slot = hash_text(text) % strings.table_size;
  while (strings.table[slot]) {
    if (same_text(strings.text + strings.table[slot], text)) return strings.table[slot];
    slot = (slot + 1) % strings.table_size;
  }
  const size_t length = strnlen(text, STRING_LIMIT);
  if (strings.used + length + 1 > STRINGS_RESERVED || strings.entries >= strings.table_size / 2)
    return 0; /* more than 32,768 different names are no names */
  const uint32_t offset = (uint32_t)strings.used;
  memcpy(strings.text + offset, text, length);
  strings.used += length + 1;
  strings.table[slot] = offset;
  strings.entries++;
  return offset;
}

const char* mk_strings(uint64_t* bytes) {
  *bytes = strings.text ? strings.used : 0;
  return strings.text;
}

static void describe_site(struct mk_call_site* site, void* address) {
  Dl_info info;
  struct link_map* module = NULL;
  char program[STRING_LIMIT];
  site->address = (uint64_t)(uintptr_t)address;
  if (mk_guest.on) { /* in a program at a fixed address (phase2_nodesim/bridge), where this process has none */
    site->module_offset = site->address;
    site->module = mk_guest.program;
    return;
  }
  if (!dladdr1(address, &info, (void**)&module, RTLD_DL_LINKMAP) || !info.dli_fbase) return;
  if (module && module->l_name && !*module->l_name) {
    /* the executable: dladdr gives argv[0], which may be relative to a folder that is gone */
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
      program[length] = 0;
      info.dli_fname = program;
    }
  }
  site->module_offset = site->address - (uint64_t)(uintptr_t)info.dli_fbase;
  site->module = info.dli_fname ? mk_intern(info.dli_fname) : 0;
  if (info.dli_sname) {
    site->symbol = mk_intern(info.dli_sname);
    site->symbol_offset = site->address - (uint64_t)(uintptr_t)info.dli_saddr;
  }
}

/* The number of a call site. It is described when it is first seen, because its module may be gone at the end. */
uint32_t mk_site_number(void* address) {
  if (address == sites.last_address && sites.count) return sites.last_number;
  if (!sites.list) {
    sites.table_size = SITES_RESERVED;
    sites.list = mk_allocate(SITES_RESERVED / 2 * sizeof *sites.list);
    sites.table = mk_allocate(sites.table_size * sizeof *sites.table);
    if (!sites.list || !sites.table) return 0;
  }
  const uint64_t hash = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;
  uint32_t slot = (uint32_t)(hash >> 32) & (sites.table_size - 1);
  while (sites.table[slot] && sites.list[sites.table[slot] - 1].address != (uint64_t)(uintptr_t)address)
    slot = (slot + 1) & (sites.table_size - 1);
  if (!sites.table[slot]) {
    if (sites.count >= SITES_RESERVED / 2) return 0;
    describe_site(&sites.list[sites.count], address);
    sites.table[slot] = ++sites.count;
  }
  sites.last_address = address;
  sites.last_number = sites.table[slot] - 1;
  return sites.last_number;
}

const struct mk_call_site* mk_sites(uint32_t* count) {
  *count = sites.count;
  return sites.list;
}
