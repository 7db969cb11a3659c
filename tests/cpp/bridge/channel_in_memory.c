#include "channel_in_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/shim.h"

static unsigned char content[1 << 20];
static size_t used, read_to, longest;
struct mb_guest mb_guest;

void mb_put(const void* data, size_t bytes) {
  if (used + bytes > sizeof content) abort();
  memcpy(content + used, data, bytes);
  used += bytes;
}

void mb_flush(void) {}

void mb_get(void* data, size_t bytes) {
  if (read_to + bytes > used) abort(); /* a real channel would wait for ever */
  memcpy(data, content + read_to, bytes);
  read_to += bytes;
  if (bytes > longest) longest = bytes;
}

void mb_fatal(const char* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", call);
  vfprintf(stderr, format, arguments);
  abort();
}

int mb_wrong(const char* call, int error, const char* format, ...) {
  (void)call;
  (void)format;
  return error;
}

static size_t put(struct mb_buffer buffer) {
  used = read_to = longest = 0;
  mb_put_buffer(&buffer);
  if (used != mb_bytes(&buffer)) abort();
  return used;
}

static size_t get(struct mb_buffer buffer, size_t bytes) {
  read_to = longest = 0;
  mb_get_buffer(&buffer, bytes);
  return used - read_to;
}

static struct mb_buffer items(const void* at, int count, MPI_Datatype datatype) {
  struct mb_buffer buffer;
  if (!mb_buffer_of(&buffer, "test", at, count, datatype)) abort();
  return buffer;
}

static struct mb_buffer in_blocks(const void* at, const int* counts, const int* displs, int blocks,
                                  MPI_Datatype datatype) {
  return (struct mb_buffer){
      .at = (char*)at, .type = mb_type_of(datatype), .counts = counts, .displs = displs, .blocks = blocks};
}

size_t channel_put(const void* at, int count, MPI_Datatype datatype) { return put(items(at, count, datatype)); }
size_t channel_put_blocks(const void* at, const int* counts, const int* displs, int blocks, MPI_Datatype datatype) {
  return put(in_blocks(at, counts, displs, blocks, datatype));
}
size_t channel_get(void* at, int count, MPI_Datatype datatype, size_t bytes) {
  return get(items(at, count, datatype), bytes);
}
size_t channel_get_blocks(void* at, const int* counts, const int* displs, int blocks, MPI_Datatype datatype,
                          size_t bytes) {
  return get(in_blocks(at, counts, displs, blocks, datatype), bytes);
}
size_t channel_longest_get(void) { return longest; }
const unsigned char* channel_content(void) { return content; }

static struct mb_buffer held;

void datatype_hold(MPI_Datatype datatype) {
  held = (struct mb_buffer){.type = mb_type_of(datatype), .count = 1};
  mb_hold(&held);
}

int datatype_is_alive(MPI_Datatype datatype) { return mb_type_of(datatype) != NULL; }

void datatype_release(MPI_Datatype datatype) {
  (void)datatype;
  mb_release(&held);
}
