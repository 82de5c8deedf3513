/* How each blocker is found, beside what engine/blocker.c knows of it: meaning, hint and end. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "base/str.h"
#include "engine/blocker.h"

/* What is looked at to find it, as half a sentence. */
const char *explain_found(enum blocker_code code);
/* What is no code, and is explained all the same: see cli/explain_states.h. */
#define EXPLAIN_STATES "states"
/* The names of all codes, and that, for completion; NULL-terminated. */
extern const char *const explain_words[];
/* The code of that name, in whatever case its letters are; BLOCKER_CODES when there is none. */
enum blocker_code explain_find(const char *name);
const char *explain_severity(enum severity severity);

/* All that is known of a code, in lines of `width` columns (cli/text.h). */
void explain_print(struct str *out, enum blocker_code code, size_t width);
/* A line for each, or a few. */
void explain_list(struct str *out, size_t width);

#endif
