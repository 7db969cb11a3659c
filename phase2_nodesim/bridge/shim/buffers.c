/* The application's data between memory and the channel. Data in one piece goes straight from and to its place, so that
 * the simulated core does not touch it (the simulator copies); data with gaps passes through a small buffer. */
#include <string.h>

#include "shim.h"

static bool walk_type(const struct mb_type* type, char* at, int64_t items, mb_visit visit, void* context) {
  if (items <= 0) return true;
  if (type->contiguous) return visit(context, at, (size_t)(items * type->extent));
  if (!type->child) { /* a basic type: without gaps between its items */
    return visit(context, at, (size_t)(items * type->extent));
  }
  for (int64_t i = 0; i < items; i++)
    for (int64_t block = 0; block < type->count; block++)
      if (!walk_type(type->child, at + i * type->extent + block * type->stride, type->blocklength, visit, context))
        return false;
  return true;
}

void mb_walk(const struct mb_buffer* buffer, mb_visit visit, void* context) {
  const struct mb_type* type = buffer->type;
  if (!type) return;
  if (!buffer->counts) {
    walk_type(type, buffer->at, buffer->count, visit, context);
    return;
  }
  for (int i = 0; i < buffer->blocks; i++)
    if (!walk_type(type, buffer->at + buffer->displs[i] * type->extent, buffer->counts[i], visit, context)) return;
}

int64_t mb_elements(const struct mb_buffer* buffer) {
  if (!buffer->type) return 0;
  int64_t items = buffer->count;
  if (buffer->counts) {
    items = 0;
    for (int i = 0; i < buffer->blocks; i++) items += buffer->counts[i];
  }
  return items * buffer->type->elements;
}

uint64_t mb_bytes(const struct mb_buffer* buffer) {
  return buffer->type ? (uint64_t)(mb_elements(buffer) * mb_basic_span(buffer->type->basic)) : 0;
}

static bool in_one_piece(const struct mb_buffer* buffer) { return !buffer->counts && buffer->type->contiguous; }

static bool put_piece(void* context, char* at, size_t bytes) {
  (void)context;
  mb_put(at, bytes);
  return true;
}

void mb_put_buffer(const struct mb_buffer* buffer) {
  if (mb_bytes(buffer) == 0) return;
  if (in_one_piece(buffer)) mb_flush(); /* what is written next is not copied */
  mb_walk(buffer, put_piece, NULL);
}

struct incoming {
  uint64_t left; /* in the channel */
  size_t from, to;
  unsigned char staged[MB_PIECE];
};

static bool get_piece(void* context, char* at, size_t bytes) {
  struct incoming* incoming = context;
  while (bytes > 0) {
    if (incoming->from == incoming->to) {
      if (incoming->left == 0) return false;
      incoming->from = 0;
      incoming->to = incoming->left < MB_PIECE ? (size_t)incoming->left : MB_PIECE;
      incoming->left -= incoming->to;
      mb_get(incoming->staged, incoming->to);
    }
    size_t piece = incoming->to - incoming->from;
    if (piece > bytes) piece = bytes;
    memcpy(at, incoming->staged + incoming->from, piece);
    incoming->from += piece;
    at += piece;
    bytes -= piece;
  }
  return true;
}

/* Takes `bytes` of payload, which is at most what `buffer` holds. */
void mb_get_buffer(const struct mb_buffer* buffer, uint64_t bytes) {
  static struct incoming incoming;
  if (bytes == 0) return;
  if (bytes > mb_bytes(buffer)) mb_fatal("", "the proxy sent %llu bytes too many", (unsigned long long)bytes);
  if (in_one_piece(buffer)) {
    mb_get(buffer->at, (size_t)bytes);
    return;
  }
  incoming.left = bytes;
  incoming.from = incoming.to = 0;
  mb_walk(buffer, get_piece, &incoming);
}
