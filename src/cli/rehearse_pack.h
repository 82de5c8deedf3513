/* A rehearsal as bytes, for the way from the process that ran it to the one that tells of it. */
#ifndef CLI_REHEARSE_PACK_H
#define CLI_REHEARSE_PACK_H

#include "base/str.h"
#include "cli/rehearse_run.h"

/* Appends it. */
void rehearsal_pack(const struct rehearsal *r, struct str *out);
/* False, and nothing to free, when the bytes are not whole. */
bool rehearsal_unpack(struct view bytes, struct rehearsal *out);

#endif
