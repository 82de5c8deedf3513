/* The command line program: what every verb is handed, and how it speaks.
 *
 * Results go to standard output (cli->out), everything else to standard error. A verb collects its
 * result with term_printf() and friends and returns an exit code; errors are reported with the
 * functions below, which return the code to end with: `return cli_error(cli, &err);`. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "base/vec.h"
#include "cli/exit.h"
#include "cli/groups.h"
#include "cli/table.h"
#include "cli/term.h"

struct verb;
struct completer;

struct cli {
    const char *prog;   /* what the user typed: "slipway" or "kubectl slipway" */
    const char *commit; /* of the source, "" when unknown */
    const struct verb *verb;
    void *opts;   /* the verb's options struct */
    int n_before; /* arguments that stood before "--"; all of them without it */
    struct general_opts general;
    struct term out, err;
    struct log log;     /* to standard error, by -v and -q */
    struct arena arena; /* lives as long as the run */
    struct {
        VEC(const char *) seen; /* each once */
        bool fatal;             /* --warnings-as-errors */
    } warnings;                 /* that the API server has sent */
    const char *errors; /* what cli_fail() and the like have said, for documents; NULL: nothing */
    const struct completer *completer;
    char *(*env)(const char *name); /* getenv() */
};

/* The whole program. `commit` may be "". */
int cli_main(int argc, char **argv, const char *commit);

/* "error: SENTENCE" on standard error. Each returns the exit code. */
int cli_error(struct cli *cli, const struct err *err); /* code by exit_from_errno() */
int cli_fail(struct cli *cli, enum exit_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same without "error: ", for what kubectl begins otherwise ("Error from server (...)"). */
int cli_refuse(struct cli *cli, enum exit_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* An error with "See '... --help' for usage." below, EXIT_USAGE. */
int cli_usage(struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line below an error: what kubectl does not say. Also with -q. */
void cli_advise(struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Keeps an error that was told in other words for cli->errors. */
void cli_keep_error(struct cli *cli, const char *text);
/* A remark on standard error, unless -q. */
void cli_note(struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A warning of the server's: told as kubectl tells it, and only once. */
void cli_warning(struct cli *cli, const char *text);

/* The time of day in microseconds; $SLIPWAY_FAKE_NOW (RFC 3339) stands still, for tests. */
int64_t cli_now(const struct cli *cli);

/* The end of most reading verbs when people read: the table, a wide table or names, as asked for. A
 * format that is a document (output_is_document()) goes to cli_print_document() instead. Adds to
 * cli->out, returns the exit code. Ages are counted from `now`: the clock of the server, which
 * wrote the times. */
int cli_print_table(struct cli *cli, struct table *table, const struct output_opts *o, int64_t now);
/* json, yaml, jsonpath or custom-columns from a document, the text of an indented jsonw. */
int cli_print_document(struct cli *cli, const struct str *json, const struct output_format *f,
                       bool no_headers);

#endif
