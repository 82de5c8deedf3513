/* What drain, cordon and uncordon have in common on the command line: which nodes, as whom, why,
 * and whether for real.
 *
 * Nodes are given as kubectl takes them: names, also as node/NAME, or a selector, not both. A name
 * may be a node set (base/nodeset.h): it is written out, and every node in it must exist. A node
 * that is given twice is taken once. When one does not exist, nothing is done to the others; those
 * of node sets that do not exist are told of as a node set. A selector does not take nodes of the
 * control plane by itself (cli/selected.h).
 *
 * What is wrong is said in kubectl's words, those of the server among them: a selector that makes
 * no sense is shown to the server, as kubectl does, and what we know about it comes second. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "base/vec.h"
#include "cli/session.h"
#include "engine/drain.h"

struct target_opts {
    const char *selector, *reason, *holder;
    int dry_run;        /* enum dry_run */
    bool control_plane; /* a selector takes its nodes as well (cli/selected.h) */
};
extern const struct option_group target_options;
/* The same for those who put nodes back, for which it does not matter what they are: without
 * --include-control-plane. Set `control_plane`. */
extern const struct option_group target_back_options;
/* And for those who know which nodes: without the selector. */
extern const struct option_group target_how_options;

struct target {
    const char *selector;     /* NULL: names */
    bool control_plane;       /* as in the options */
    const char *doubt;        /* what is wrong with the selector as far as we can tell, or NULL */
    VEC(const char *) names;  /* each once, in the order given; those of a selector when read */
    VEC(bool) from_set;       /* of each name: a node set was written, not the name */
    VEC(struct node *) nodes; /* as they were read, one for each name */
    int64_t ahead;            /* of the server's clock before ours, microseconds; 0 when unknown */
};

/* Each returns 0, or the exit code after having said why. Names live in cli->arena or argv. */
int target_parse(struct cli *cli, const struct target_opts *opts, int argc, char **argv,
                 struct target *out);
/* Reads the nodes: the most recent state, not a cache's. */
int target_read(struct session *s, struct target *t);
void target_done(struct session *s, struct target *t);
/* Before anything was read. */
void target_forget(struct target *t);

/* "none", "client" or "server", what a bare --dry-run means to kubectl, and true and false;
 * `field` is an int (the shape of struct option's parse). */
int target_parse_dry_run(const char *text, struct arena *arena, void *field, struct err *err);
extern const char *const target_dry_run_words[];
/* The row of an option group. */
#define TARGET_DRY_RUN_ROW(offset_)                                                                \
    {                                                                                              \
        .name = "dry-run", .kind = OPTION_PARSED, .offset = (offset_), .arg = "HOW",               \
        .implied = "unchanged", .initial = "none", .words = target_dry_run_words,                  \
        .hint = HINT_WORDS, .late = true, .parse = target_parse_dry_run,                           \
        .help = "Change nothing. client, which is also the bare flag: only read and say what "     \
                "would be done; server: send everything to the API server, which checks it and "   \
                "answers as if it were done"                                                       \
    }
/* What kubectl puts after a line: "", " (dry run)" or " (server dry run)". */
const char *target_dry_run_suffix(enum dry_run dry_run);

#endif
