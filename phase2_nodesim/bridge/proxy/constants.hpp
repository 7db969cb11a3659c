// Converts the wire's constants to those of the native MPI library, and back.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace manynode::bridge {

MPI_Datatype native_type(std::int64_t basic);
// Bytes of an element in memory, and in MPI's count.
std::int64_t span_of(std::int64_t basic);
std::int64_t size_of(std::int64_t basic);
MPI_Op native_op(std::int64_t op);
int native_rank(std::int64_t rank);
int native_tag(std::int64_t tag);
std::int64_t wire_rank(int rank);
std::int64_t wire_tag(int tag);
// The bridge's error class of a native error code.
std::int64_t wire_error(int code);

}  // namespace manynode::bridge
