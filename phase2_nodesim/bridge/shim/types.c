/* Datatypes: the basic ones, and contiguous and strided ones made of them. They exist in the guest only; the proxy sees
 * basic elements without gaps. */
#include <string.h>

#include "shim.h"

static struct mb_table types = {.slot_bytes = sizeof(struct mb_type)};

static const struct {
  int64_t size, span;
} basics[MB_BASIC_TYPE_COUNT] = {
#define X(number, name, type, bytes) [number] = {bytes, sizeof(type)},
    MB_BASIC_TYPES(X)
#undef X
};

/* mpi.h is written by hand: its numbers must be the wire's. */
#define X(number, name, type, bytes) _Static_assert(MPI_##name == number, "number of MPI_" #name);
MB_BASIC_TYPES(X)
#undef X
#define X(number, name) _Static_assert(MPI_##name == number, "number of MPI_" #name);
MB_OPERATIONS(X)
#undef X
_Static_assert(MPI_PROC_NULL == MB_PROC_NULL && MPI_ANY_SOURCE == MB_ANY_SOURCE && MPI_ANY_TAG == MB_ANY_TAG &&
                   MPI_UNDEFINED == MB_UNDEFINED && MPI_COMM_WORLD == MB_COMM_WORLD && MPI_COMM_SELF == MB_COMM_SELF,
               "constants of the wire");

int64_t mb_basic_size(int basic) { return basics[basic].size; }
int64_t mb_basic_span(int basic) { return basics[basic].span; }

static bool is_free(const void* slot) { return ((const struct mb_type*)slot)->references == 0; }

static void make_basics(void) {
  for (int i = 0; i < MB_BASIC_TYPE_COUNT; i++) {
    struct mb_type* type = mb_slot(&types, mb_new_slot(&types, is_free));
    *type = (struct mb_type){.references = 1, .basic = i, .contiguous = true, .elements = 1, .extent = basics[i].span};
  }
}

struct mb_type* mb_type_of(MPI_Datatype datatype) {
  if (!types.used) make_basics();
  struct mb_type* type = datatype > 0 ? mb_slot(&types, datatype) : NULL;
  return type && type->references ? type : NULL;
}

bool mb_buffer_of(struct mb_buffer* buffer, const char* call, const void* at, int64_t count, MPI_Datatype datatype) {
  *buffer = (struct mb_buffer){.at = (char*)at, .type = mb_type_of(datatype), .count = count};
  if (!buffer->type) {
    mb_wrong(call, MPI_ERR_TYPE, "no such datatype (%d); only basic, contiguous and vector types are bridged",
             datatype);
    return false;
  }
  if (count < 0) {
    mb_wrong(call, MPI_ERR_COUNT, "negative count %lld", (long long)count);
    return false;
  }
  return true;
}

/* A type may be freed while requests and other types use it. */
void mb_hold(const struct mb_buffer* buffer) {
  if (buffer->type) buffer->type->references++;
}

static void let_go(struct mb_type* type) {
  while (type && type->basic > 0 && --type->references == 0) type = type->child;
}

void mb_release(const struct mb_buffer* buffer) { let_go(buffer->type); }

static int make(const char* call, MPI_Datatype old, int64_t count, int64_t blocklength, int64_t stride,
                MPI_Datatype* new_type) {
  struct mb_type* child = mb_type_of(old);
  if (!child) return mb_wrong(call, MPI_ERR_TYPE, "no such datatype (%d)", old);
  if (count < 0 || blocklength < 0) return mb_wrong(call, MPI_ERR_ARG, "negative count or block length");
  if (stride < 0 && count > 1)
    return mb_wrong(call, MPI_ERR_ARG, "a negative stride is not bridged; start at the other end");
  const int number = mb_new_slot(&types, is_free);
  struct mb_type* type = mb_slot(&types, number);
  const int64_t block = blocklength * child->extent;
  *type = (struct mb_type){
      .references = 1,
      .basic = child->basic,
      .contiguous = child->contiguous && (count <= 1 || blocklength == 0 || stride == block),
      .elements = count * blocklength * child->elements,
      .extent = count == 0 || blocklength == 0 ? 0 : (count - 1) * stride + block,
      .count = count,
      .blocklength = blocklength,
      .stride = stride,
      .child = child,
  };
  child->references++;
  *new_type = number;
  return MPI_SUCCESS;
}

int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make("MPI_Type_contiguous", oldtype, 1, count, 0, newtype);
}

int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const struct mb_type* old = mb_type_of(oldtype);
  return make("MPI_Type_vector", oldtype, count, blocklength, stride * (old ? old->extent : 0), newtype);
}

int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make("MPI_Type_create_hvector", oldtype, count, blocklength, stride, newtype);
}

int MPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  const struct mb_type* old = mb_type_of(oldtype);
  return make("MPI_Type_dup", oldtype, 1, 1, old ? old->extent : 0, newtype);
}

int MPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
  if (lb != 0) return mb_wrong("MPI_Type_create_resized", MPI_ERR_ARG, "a lower bound other than 0 is not bridged");
  const int result = MPI_Type_dup(oldtype, newtype);
  if (result != MPI_SUCCESS) return result;
  struct mb_type* type = mb_type_of(*newtype);
  type->contiguous = type->contiguous && type->extent == extent;
  type->extent = extent;
  return MPI_SUCCESS;
}

int MPI_Type_commit(MPI_Datatype* datatype) {
  return mb_type_of(*datatype) ? MPI_SUCCESS
                               : mb_wrong("MPI_Type_commit", MPI_ERR_TYPE, "no such datatype (%d)", *datatype);
}

int MPI_Type_free(MPI_Datatype* datatype) {
  struct mb_type* type = mb_type_of(*datatype);
  if (!type || !type->child)
    return mb_wrong("MPI_Type_free", MPI_ERR_TYPE, "no datatype of the program (%d)", *datatype);
  let_go(type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int MPI_Type_size(MPI_Datatype datatype, int* size) {
  const struct mb_type* type = mb_type_of(datatype);
  if (!type) return mb_wrong("MPI_Type_size", MPI_ERR_TYPE, "no such datatype (%d)", datatype);
  *size = (int)(type->elements * basics[type->basic].size);
  return MPI_SUCCESS;
}

int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  const struct mb_type* type = mb_type_of(datatype);
  if (!type) return mb_wrong("MPI_Type_get_extent", MPI_ERR_TYPE, "no such datatype (%d)", datatype);
  *lb = 0;
  *extent = type->extent;
  return MPI_SUCCESS;
}

int MPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  const struct mb_type* type = mb_type_of(datatype);
  if (!type) return mb_wrong("MPI_Get_elements", MPI_ERR_TYPE, "no such datatype (%d)", datatype);
  *count = (int)(status->mb_bytes / basics[type->basic].size);
  return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  const struct mb_type* type = mb_type_of(datatype);
  if (!type) return mb_wrong("MPI_Get_count", MPI_ERR_TYPE, "no such datatype (%d)", datatype);
  const int64_t size = type->elements * basics[type->basic].size;
  if (size == 0)
    *count = status->mb_bytes == 0 ? 0 : MPI_UNDEFINED;
  else
    *count = status->mb_bytes % size == 0 ? (int)(status->mb_bytes / size) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Get_address(const void* location, MPI_Aint* address) {
  *address = (MPI_Aint)location;
  return MPI_SUCCESS;
}
