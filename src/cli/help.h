/* Help texts, made from the tables of verbs, options, topics and exit codes. `prog` is what the
 * program was called by. No line is wider than 80 columns. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/str.h"

struct option;
struct topic;
struct verb;

/* The program alone: what it is and the commonest verbs. */
void help_overview(const char *prog, struct str *out);
/* All verbs and topics. */
void help_index(const char *prog, struct str *out);
void help_verb(const char *prog, const struct verb *verb, struct str *out);
void help_topic(const char *prog, const struct topic *topic, struct str *out);

/* "slipway status [NODE...] [flags]", without the program. */
void help_synopsis(const struct verb *verb, struct str *out);
/* "-o, --output=FORMAT", "    --dry-run[=WHERE]". */
void help_spelling(const struct option *o, struct str *out);

/* One sentence each, also for the manual page. */
extern const char help_what[];

#endif
