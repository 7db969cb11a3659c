/* Writing the file of one rank. It may run in a signal handler, so it uses system calls, the stack and mapped memory
 * only (and snprintf without floating point). A file appears under its name when it is whole; a failure leaves a reason
 * beside it if that is possible, and nothing on the application's output. */
#define _GNU_SOURCE
#include "markers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct sink {
  int file;
  int failed; /* errno */
  uint64_t sum;
  uint64_t bytes;
};

static void put(struct sink* sink, const void* data, uint64_t bytes) {
  const char* at = data;
  sink->sum = mk_sum_words(sink->sum, data, bytes);
  sink->bytes += bytes;
  while (bytes > 0 && !sink->failed) {
    const ssize_t done = write(sink->file, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      sink->failed = done < 0 ? errno : EIO;
      return;
    }
    at += done;
    bytes -= (uint64_t)done;
  }
}

struct text {
  char* at;
  size_t room, used;
};

static void add(struct text* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text->at + text->used, text->room - text->used, format, arguments);
  va_end(arguments);
  if (length > 0) text->used += (size_t)length < text->room - text->used ? (size_t)length : text->room - text->used - 1;
}

static void add_string(struct text* text, const char* key, const char* value) {
  add(text, ", \"%s\": \"", key);
  for (; *value; value++) {
    const unsigned char c = (unsigned char)*value;
    if (c == '"' || c == '\\')
      add(text, "\\%c", c);
    else if (c < ' ' || c > 126)
      add(text, "\\u%04x", c);
    else
      add(text, "%c", c);
  }
  add(text, "\"");
}

static void read_first(const char* path, char* to, size_t room) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? 0 : read(file, to, room - 1);
  if (file >= 0) close(file);
  if (got < 0) got = 0;
  for (ssize_t i = 0; i + 1 < got; i++) /* arguments in /proc/self/cmdline are separated by NUL */
    if (!to[i]) to[i] = ' ';
  to[got] = 0;
}

/* Moves the records of finished calls together; calls that were under way are dropped. Returns their number. */
static uint64_t compact(bool* used_operations, size_t record_bytes) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < mk_record_slots(); i++) {
    struct mk_record* record = mk_record_at(i);
    if (!(record->flags & MK_RECORD_DONE)) continue;
    used_operations[record->operation] = true;
    if (kept != i) memcpy(mk_record_at(kept), record, record_bytes);
    kept++;
  }
  return kept;
}

static void describe(struct text* text, const bool* used_operations) {
  static const char* const modes[] = {"time", "perf", "callgrind", "qemu"};
  char buffer[2048], host[256] = "";
  uint64_t unused;
  add(text, "{\"mpi\": \"%s\", \"pid\": %d, \"thread_level\": %d, \"polite\": %d, \"on_valgrind\": %s", MK_MPI_NAME,
      (int)getpid(), mk_state.thread_level, mk_state.polite, mk_state.on_valgrind ? "true" : "false");
  add_string(text, "library_version", mk_state.library_version);
  gethostname(host, sizeof host - 1);
  add_string(text, "host", host);
  const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
  buffer[length > 0 ? length : 0] = 0;
  add_string(text, "program", mk_guest.on ? mk_strings(&unused) + mk_guest.program : buffer);
  read_first("/proc/self/cmdline", buffer, sizeof buffer);
  add_string(text, "command", buffer);
  add_string(text, "clock", mk_clock_name());
  add_string(text, "counter_mode", modes[mk_state.counter_mode]);
  add_string(text, "counter_notes", mk_counter_notes);
  add(text, ", \"counters\": [");
  for (int i = 0; i < mk_counter_count; i++) add(text, "%s\"%s\"", i ? ", " : "", mk_counter_names[i]);
  add(text, "], \"operations\": {");
  const char* comma = "";
  for (int i = 0; i < MK_OPERATIONS; i++)
    if (used_operations[i]) {
      add(text, "%s\"%d\": \"%s\"", comma, i, mk_operation_names[i]);
      comma = ", ";
    }
  add(text, "}}");
  while (text->used % 8) text->at[text->used++] = ' ';
}

static void write_sections(struct sink* sink, struct text* text, uint64_t records, uint32_t flags,
                           size_t record_bytes) {
  uint64_t strings_bytes;
  uint32_t site_count;
  static const char empty[8];
  const char* strings = mk_strings(&strings_bytes);
  const struct mk_call_site* sites = mk_sites(&site_count);
  uint32_t detail_words;
  const int64_t* details = mk_details(&detail_words);
  if (!strings || !strings_bytes) {
    strings = empty;
    strings_bytes = 1;
  }
  const uint64_t padded = (strings_bytes + 7) & ~(uint64_t)7; /* the area is zeroed and larger than what is used */
  struct mk_file_header header = {
      .magic = MK_MAGIC,
      .version = MK_VERSION,
      .header_bytes = sizeof header,
      .flags = flags | (mk_state.truncated ? MK_FILE_TRUNCATED : 0),
      .rank = mk_state.rank,
      .world_size = mk_state.world_size,
      .node = mk_state.node,
      .record_bytes = (uint32_t)record_bytes,
      .counter_count = (uint32_t)mk_counter_count,
      .call_site_count = site_count,
      .detail_words = detail_words,
      .metadata_offset = sizeof header,
      .metadata_bytes = text->used,
      .strings_bytes = padded,
      .record_count = records,
      .start_ns = mk_to_ns(mk_state.start),
  };
  header.strings_offset = header.metadata_offset + header.metadata_bytes;
  header.call_sites_offset = header.strings_offset + header.strings_bytes;
  header.records_offset = header.call_sites_offset + site_count * sizeof *sites + detail_words * sizeof *details;
  header.file_bytes = header.records_offset + records * record_bytes + sizeof(struct mk_file_end);
  header.checksum = mk_sum_words(0, &header, sizeof header - 8);
  put(sink, &header, sizeof header);
  sink->sum = 0;
  put(sink, text->at, text->used);
  put(sink, strings, padded);
  put(sink, sites, site_count * sizeof *sites);
  put(sink, details, detail_words * sizeof *details);
  for (uint64_t i = 0; i < records && !sink->failed; i++) {
    /* records of a chunk lie side by side: write as many at once */
    uint64_t run = 1;
    const char* from = (const char*)mk_record_at(i);
    while (i + run < records && (const char*)mk_record_at(i + run) == from + run * record_bytes) run++;
    put(sink, from, run * record_bytes);
    i += run - 1;
  }
  struct mk_file_end end = {.record_count = records, .sum = sink->sum};
  memcpy(end.magic, MK_MAGIC_END, 8);
  put(sink, &end, sizeof end);
}

static void leave_reason(const char* what, int error) {
  char path[sizeof mk_state.directory + 64];
  snprintf(path, sizeof path, "%s/rank-%06d.error", mk_state.directory, mk_state.rank);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return;
  char reason[256];
  const int length = snprintf(reason, sizeof reason, "%s: %s\n", what, strerror(error));
  if (length > 0 && write(file, reason, (size_t)length) < 0) (void)0; /* the disk is full for this too */
  close(file);
}

void mk_write(uint32_t flags) {
  static char metadata[24576];
  static bool used_operations[MK_OPERATIONS];
  char name[sizeof mk_state.directory + 64], partial[sizeof name + 16];
  if (!mk_state.directory[0] || __atomic_exchange_n(&mk_state.written, true, __ATOMIC_SEQ_CST)) return;
  mk_state.recording = false;
  snprintf(name, sizeof name, "%s/rank-%06d.mnmk", mk_state.directory, mk_state.rank);
  snprintf(partial, sizeof partial, "%s.partial", name);
  struct sink sink = {.file = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (sink.file < 0) {
    leave_reason("the marker file could not be created", errno);
    return;
  }
  const size_t record_bytes = sizeof(struct mk_record) + 8 * (size_t)mk_counter_count;
  const uint64_t records = compact(used_operations, record_bytes);
  mk_clock_stop();
  for (uint64_t i = 0; i < records; i++) {
    struct mk_record* record = mk_record_at(i);
    record->time_in_ns = mk_to_ns(record->time_in_ns);
    record->time_out_ns = mk_to_ns(record->time_out_ns);
  }
  struct text text = {.at = metadata, .room = sizeof metadata - 8};
  describe(&text, used_operations);
  write_sections(&sink, &text, records, flags, record_bytes);
  if (close(sink.file) != 0 && !sink.failed) sink.failed = errno;
  if (access(name, F_OK) == 0) mk_not_followed("MPI_Init", "a second program of the same rank");
  if (!sink.failed && rename(partial, name) != 0) sink.failed = errno;
  if (sink.failed) {
    unlink(partial);
    leave_reason("the marker file could not be written", sink.failed);
  }
}
