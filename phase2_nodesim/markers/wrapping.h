/* Shared by the generated and the hand-written wrappers. */
#ifndef MANYNODE_MARKERS_WRAPPING_H
#define MANYNODE_MARKERS_WRAPPING_H

#include "markers.h"

#define MK_RETURN_ADDRESS __builtin_return_address(0)

#pragma GCC visibility push(hidden)
/* True if the call succeeded and the record may be filled in from its arguments; takes the lock that mk_end releases.
 */
bool mk_returned(struct mk_record* record, int result);
void mk_note_message(MPI_Message message, const struct mk_record* record);
void mk_fill_from_message(struct mk_record* record, MPI_Message message);
#pragma GCC visibility pop

#endif
