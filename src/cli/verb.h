/* A verb: one descriptor row and one function, one file (cmd_NAME.c) each.
 *
 * Dispatch, help, manual pages and completion read the row; nothing about a verb is written
 * anywhere else. Texts may say {prog} for the name the program was called by. Paragraphs of `text`
 * are separated by an empty line; lines that begin with a blank are shown as they are. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/exit.h"
#include "cli/groups.h"
#include "cli/options.h"

struct cli;

enum { VERB_EXAMPLES = 3 };

struct verb_example {
    const char *what; /* a sentence without full stop */
    const char *line; /* what follows {prog} */
};

/* A group of options, and where its struct is in the verb's options struct. */
struct verb_options {
    const struct option_group *group;
    size_t base;
};

struct verb {
    const char *name;
    const char *summary; /* a line, as in "slipway VERB: ..." */
    const char *args;    /* the arguments in the synopsis: "[NODE...]"; NULL: none */
    const char *text;
    struct verb_example examples[VERB_EXAMPLES];
    const struct verb_options *options; /* ends with group NULL; the general ones are added */
    size_t opts_size;                   /* of the options struct; 0: none */
    int min_args, max_args;             /* max -1: any number */
    enum hint arg_hint;                 /* what an argument is, for completion */
    const char *const *arg_words;       /* with HINT_WORDS */
    const char *const *quiet_words;     /* arguments that are taken besides, and in no list */
    const enum exit_code *exits;        /* besides 0, 1, 64 and 141, which all have; ends with 0 */
    const char *const *see_also;        /* verbs and topics; NULL-terminated or NULL */
    bool answers;                       /* it does nothing: its code is part of what it prints */
    bool common;                        /* named by the bare program */
    bool hidden;                        /* in no list */
    bool raw;                           /* gets the words as they are: no option is parsed */
    size_t connection; /* where its struct has the connection flags, if it has use for them and
                          does not show them; 0: accepted and dropped */

    /* Called with options parsed into cli->opts and argv holding the arguments alone, their number
     * checked. Returns the exit code. Output goes to cli->out and is flushed by the caller. */
    int (*run)(struct cli *cli, int argc, char **argv);
};

/* All verbs in the order in which help lists them; NULL-terminated. */
extern const struct verb *const verbs[];
/* NULL when there is none of that name. */
const struct verb *verb_find(const char *name);
/* The name of the visible verb that is nearest, or NULL. */
const char *verb_suggest(const char *name);

/* The options a verb understands, bound to its struct (NULL when they are only looked at). */
void verb_option_set(const struct verb *verb, struct general_opts *general, void *opts,
                     struct option_set *set);
/* Adds the connection flags to those of a verb that does not show them: kubectl takes them for
 * every command, so that an alias with --context in it serves for all. `opts` as above. */
void verb_accept_connection(const struct verb *verb, void *opts, struct option_set *set);
/* All shared groups, for flags that stand before the verb. */
struct shared_opts {
    struct connection_opts connection;
    struct output_opts output;
};
void verb_shared_set(struct general_opts *general, struct shared_opts *shared,
                     struct option_set *set);

#endif
