/* Command-line options: tables in, a plain struct out.
 *
 * A row says everything about an option: how it is spelled, what it takes, where it goes, what help
 * and completion say about it. Parsing, help, manual pages and completion all read the same rows.
 *
 * Spelling is kubectl's: flags and arguments in any order, "--" ends the flags, "--name=value" and
 * "--name value", "-ovalue", "-o value" and "-o=value", one-letter flags in one word ("-wq"),
 * "--name=false". A value may be optional (`implied`): then only "--name=value" gives one, except
 * that a number after a numeric one belongs to it ("-v 6", as kubectl users type it). A verb may
 * mean something else by the bare flag (`bare_unless`).
 *
 * What is not on the command line comes from the environment, and what is not there from the
 * default. An empty text is the same as none, and "--name=" hides the environment's. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum option_kind {                  /* type of the field */
                   OPTION_FLAG,     /* bool */
                   OPTION_STRING,   /* const char *: NULL when empty */
                   OPTION_INT,      /* int, from min to max */
                   OPTION_DURATION, /* int64_t: microseconds, not negative */
                   OPTION_ENUM,     /* int: index into words */
                   OPTION_LIST,   /* const char *const *: NULL-terminated, one per time given; NULL
                                     when none */
                   OPTION_PARSED, /* what parse() makes of it */
};

/* What a value is, for completion. */
enum hint {
    HINT_NONE,
    HINT_WORDS, /* those in `words` */
    HINT_FILE,
    HINT_CONTEXT,
    HINT_NAMESPACE,
    HINT_NODE,
    HINT_TOPIC, /* a verb or a help topic */
    HINT_COUNT,
};

struct option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum option_kind kind;
    size_t offset;            /* of the field in the struct of its group */
    const char *arg;          /* what help calls the value: "NAME" */
    const char *implied;      /* the value of the bare flag; NULL: a value must be given */
    const char *initial;      /* default as text; NULL: zero */
    const char *env;          /* environment variable, or NULL */
    const char *const *words; /* of OPTION_ENUM, and for completion; NULL-terminated */
    enum hint hint;           /* for completion */
    int min, max;             /* of OPTION_INT */
    bool stops;               /* nothing after it is looked at (--help) */
    bool hidden;              /* not in help, manual and completion */
    bool filled; /* of OPTION_STRING: an empty text is an error, not the same as none */
    bool late;   /* the message of parse() is all that is said about a wrong value: what
                    kubectl finds out only when it runs the command */
    /* Only the bare flag means this row; where a value is given, another row of the same name is
     * meant. Says whether the word after the flag is such a value. NULL: an ordinary row. */
    bool (*bare_unless)(const char *word);
    const char *called; /* in messages: kubectl's name of it, where ours is another; or NULL */
    const char *advice; /* what to write instead of a wrong value; NULL: by the kind */
    int (*parse)(const char *value, struct arena *arena, void *field, struct err *err);
    const char *help;
};

/* Options that belong together; the rows end with one that has no name. */
struct option_group {
    const char *title; /* heading in help */
    const struct option *rows;
};
/* Whether it has any that are not hidden. */
bool option_group_shown(const struct option_group *group);

/* Which groups are understood, and the struct that each one fills; NULL: accepted and dropped. */
enum { OPTION_SET_MAX = 8 };
struct option_set {
    struct {
        const struct option_group *group;
        void *base;
    } items[OPTION_SET_MAX];
    size_t n;
    int bare_from; /* words before this one were read without the verb's own meaning of bare flags
                    */
};
void option_set_add(struct option_set *set, const struct option_group *group, void *base);

/* What there is to say about an error beside its message. */
struct options_fault {
    const char *advice; /* for a line of its own: the nearest right name, what a value must be.
                           NULL: none. Lives in the arena */
    bool late;          /* kubectl does not point to the usage here */
};

/* Parses argv[0..argc) (no program name in it) and fills the structs. The arguments that are no
 * options are moved to the front of argv, their number is *n_args. `env` is getenv() outside of
 * tests. Lists and parsed values live in `arena`, texts where they came from. The message of an
 * error is that of kubectl, which is pflag's; *fault, which may be NULL, is set with it. */
int options_parse(const struct option_set *set, int argc, char **argv,
                  char *(*env)(const char *name), struct arena *arena, int *n_args,
                  struct options_fault *fault, struct err *err);

/* The words of a command line one by one, for those who look without judging (completion, the
 * search for the verb). */
struct options_walk {
    const struct option_set *set;
    int argc;
    char *const *argv;
    int i;
    bool ended;          /* "--" was seen */
    const char *cluster; /* rest of a word of one-letter flags, or NULL */
};

enum option_token_kind {
    TOKEN_END,
    TOKEN_ARG,
    TOKEN_OPTION,
    TOKEN_NEEDS_VALUE, /* an option at the end of the line whose value is missing */
    TOKEN_UNKNOWN,
};

struct option_token {
    enum option_token_kind kind;
    int index;                /* in argv of the word it began in */
    const struct option *row; /* of TOKEN_OPTION and TOKEN_NEEDS_VALUE */
    void *base;
    const char *value; /* NULL: none was given */
    const char *typed; /* from the letter on, where it was typed as one, else NULL */
};

struct options_walk options_walk(const struct option_set *set, int argc, char *const *argv);
struct option_token options_next(struct options_walk *w);
/* The option that "--name=value" means, or NULL. */
const struct option *options_find(const struct option_set *set, const char *name, size_t len,
                                  void **base);
/* Parses as options_parse() does, but skips what it does not understand and sets no defaults. */
void options_guess(const struct option_set *set, int argc, char *const *argv,
                   char *(*env)(const char *name), struct arena *arena);

#endif
