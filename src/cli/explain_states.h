/* The states of maintenances and of slots, and the ways between them. */
#ifndef CLI_EXPLAIN_STATES_H
#define CLI_EXPLAIN_STATES_H

#include "base/str.h"

/* In lines of `width` columns (cli/text.h). */
void explain_states(struct str *out, size_t width);
/* For dot(1). */
void explain_states_dot(struct str *out);

#endif
