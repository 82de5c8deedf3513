/* Manual pages in mdoc, made from the tables of verbs, options, topics and exit codes. */
#ifndef CLI_MAN_H
#define CLI_MAN_H

#include "base/str.h"

struct verb;

/* slipway(1). */
void man_program(struct str *out);
/* slipway-VERB(1). */
void man_verb(const struct verb *verb, struct str *out);

#endif
