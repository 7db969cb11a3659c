#include "constants.hpp"

#include <stdexcept>

#include "../wire.h"

namespace manynode::bridge {
namespace {

struct Basic {
  MPI_Datatype type;
  std::int64_t span;
  std::int64_t size;
};

const Basic& basic_of(std::int64_t number) {
  static const Basic basics[MB_BASIC_TYPE_COUNT] = {{MPI_DATATYPE_NULL, 0, 0},
#define X(number, name, type, bytes) {MPI_##name, sizeof(type), bytes},
                                                    MB_BASIC_TYPES(X)
#undef X
  };
  if (number < 0 || number >= MB_BASIC_TYPE_COUNT) {
    throw std::runtime_error("the guest names a datatype that does not exist");
  }
  return basics[number];
}

}  // namespace

MPI_Datatype native_type(std::int64_t basic) { return basic_of(basic).type; }
std::int64_t span_of(std::int64_t basic) { return basic_of(basic).span; }
std::int64_t size_of(std::int64_t basic) { return basic_of(basic).size; }

MPI_Op native_op(std::int64_t op) {
  static const MPI_Op ops[MB_OPERATION_COUNT] = {MPI_OP_NULL,
#define X(number, name) MPI_##name,
                                                 MB_OPERATIONS(X)
#undef X
  };
  if (op < 0 || op >= MB_OPERATION_COUNT) {
    throw std::runtime_error("the guest names an operation that does not exist");
  }
  return ops[op];
}

int native_rank(std::int64_t rank) {
  return rank == MB_PROC_NULL ? MPI_PROC_NULL : rank == MB_ANY_SOURCE ? MPI_ANY_SOURCE : static_cast<int>(rank);
}

int native_tag(std::int64_t tag) { return tag == MB_ANY_TAG ? MPI_ANY_TAG : static_cast<int>(tag); }

std::int64_t wire_rank(int rank) {
  return rank == MPI_PROC_NULL ? MB_PROC_NULL : rank == MPI_ANY_SOURCE ? MB_ANY_SOURCE : rank;
}

std::int64_t wire_tag(int tag) { return tag == MPI_ANY_TAG ? MB_ANY_TAG : tag; }

std::int64_t wire_error(int code) {
  if (code == MPI_SUCCESS) {
    return 0;
  }
  int kind = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &kind);
  // In the order of the bridge's mpi.h, from 1.
  static const int kinds[] = {MPI_ERR_BUFFER,   MPI_ERR_COUNT,   MPI_ERR_TYPE,      MPI_ERR_TAG,     MPI_ERR_COMM,
                              MPI_ERR_RANK,     MPI_ERR_REQUEST, MPI_ERR_ROOT,      MPI_ERR_GROUP,   MPI_ERR_OP,
                              MPI_ERR_TOPOLOGY, MPI_ERR_DIMS,    MPI_ERR_ARG,       MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE,
                              MPI_ERR_OTHER,    MPI_ERR_INTERN,  MPI_ERR_IN_STATUS, MPI_ERR_PENDING};
  std::int64_t number = 1;
  for (const int known : kinds) {
    if (known == kind) {
      return number;
    }
    ++number;
  }
  return 14;  // unknown
}

}  // namespace manynode::bridge
