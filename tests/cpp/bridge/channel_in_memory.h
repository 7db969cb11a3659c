/* The guest library's channel as a piece of memory: what is put into it can be looked at and got out again. */
#ifndef MANYNODE_TESTS_CHANNEL_IN_MEMORY_H
#define MANYNODE_TESTS_CHANNEL_IN_MEMORY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Puts `count` items (or blocks of items with displacements) into the channel; returns the number of bytes in it. */
size_t channel_put(const void* at, int count, MPI_Datatype datatype);
size_t channel_put_blocks(const void* at, const int* counts, const int* displs, int blocks, MPI_Datatype datatype);
/* Gets the first `bytes` of the channel into the items or blocks; returns how many were left in it. */
size_t channel_get(void* at, int count, MPI_Datatype datatype, size_t bytes);
size_t channel_get_blocks(void* at, const int* counts, const int* displs, int blocks, MPI_Datatype datatype,
                          size_t bytes);
/* The longest piece that was asked for at once. */
size_t channel_longest_get(void);
const unsigned char* channel_content(void);

/* Uses a datatype as a pending request does, and lets go of it. */
void datatype_hold(MPI_Datatype datatype);
int datatype_is_alive(MPI_Datatype datatype);
void datatype_release(MPI_Datatype datatype);

#ifdef __cplusplus
}
#endif

#endif
