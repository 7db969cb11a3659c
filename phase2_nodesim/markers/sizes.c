/* Bytes of messages. MPI_Type_size_x answers for every datatype in a few nanoseconds; null handles are not asked about,
 * because that would call the application's error handler. */
#include "markers.h"

uint64_t mk_type_bytes(MPI_Datatype datatype) {
  MPI_Count size = 0;
  if (datatype == MPI_DATATYPE_NULL || mk_real.Type_size_x(datatype, &size) != MPI_SUCCESS || size < 0) return 0;
  return (uint64_t)size;
}

uint64_t mk_sum_int(const int* counts, MPI_Datatype datatype, int n) {
  uint64_t sum = 0;
  for (int i = 0; counts && i < n; i++) sum += (uint64_t)(counts[i] > 0 ? counts[i] : 0);
  return sum ? sum * mk_type_bytes(datatype) : 0;
}

uint64_t mk_sum_count(const MPI_Count* counts, MPI_Datatype datatype, int n) {
  uint64_t sum = 0;
  for (int i = 0; counts && i < n; i++) sum += (uint64_t)(counts[i] > 0 ? counts[i] : 0);
  return sum ? sum * mk_type_bytes(datatype) : 0;
}

uint64_t mk_sum_types_int(const int* counts, const MPI_Datatype* types, int n) {
  uint64_t sum = 0;
  for (int i = 0; counts && i < n; i++) sum += mk_bytes(counts[i], types[i]);
  return sum;
}

uint64_t mk_sum_types_count(const MPI_Count* counts, const MPI_Datatype* types, int n) {
  uint64_t sum = 0;
  for (int i = 0; counts && i < n; i++) sum += mk_bytes(counts[i], types[i]);
  return sum;
}
