/* Shell completion: what can follow the words typed so far, from the tables of options and verbs.
 *
 * The protocol is cobra's, so that kubectl understands it from kubectl_complete-slipway: a line
 * "value<TAB>description" for each candidate, then ":DIRECTIVE". Only values that begin with the
 * last word are printed; for "--flag=wo" the candidates are values alone, without "--flag=".
 *
 * What a cluster or a file has to say comes from a struct completer, a function for each hint. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/str.h"
#include "cli/groups.h"
#include "cli/options.h"

struct cli;

/* Bits of the directive, as cobra has them. */
enum {
    COMPLETE_ERROR = 1,
    COMPLETE_NO_SPACE = 2,
    COMPLETE_NO_FILES = 4,
    COMPLETE_KEEP_ORDER = 32,
};

struct completion {
    const char *prefix;                       /* what the candidate must begin with */
    const struct connection_opts *connection; /* flags typed so far */
    struct str out;
    unsigned directive;
    size_t n;
};

/* Adds a candidate if it has the prefix; `about` may be NULL. Names come from outside: one that is
 * not printable is left out, descriptions are made printable. */
void completion_add(struct completion *c, const char *value, const char *about);

/* Adds what there is, or nothing: completion never reports errors. Must be quick. */
typedef void complete_fn(struct cli *cli, struct completion *c);
struct completer {
    complete_fn *by_hint[HINT_COUNT]; /* NULL: nothing to offer */
};
/* The one of the program (completer.c). */
extern const struct completer completer;

/* Completes the last of the words (there may be none: then an empty one) and appends the answer. */
void complete_words(struct cli *cli, int argc, char *const *argv, struct str *out);

#endif
