/* A plan that was saved, and what has changed since: what `apply` and `diff` begin with. */
#ifndef CLI_PLAN_FILE_H
#define CLI_PLAN_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/plan_read.h"

struct saved_pod {
    const char *ns, *name, *uid, *verdict, *code, *object;
};

struct saved_node {
    const char *name, *uid, *verdict;
    struct saved_pod *pods; /* by namespace and name */
    size_t n_pods;
};

struct plan_file {
    const char *id, *server, *made;
    const char *rules; /* what was in the file of rules, as a hash; "" */
    bool edited;       /* somebody has changed it since it was saved */
    char **words;      /* the flags of the drain */
    size_t n_words;
    struct saved_node *nodes; /* in the order in which they begin */
    size_t n;
};

/* Of a newer schema is refused, never misread. Everything lives in the arena. */
int plan_file_read(const char *path, struct arena *arena, struct plan_file *out, struct err *err);
int plan_file_parse(const char *text, size_t len, const char *path, struct arena *arena,
                    struct plan_file *out, struct err *err);

/* What is not as it was: a line each, "+ pod default/new on w1: goes". What the plan rests on are
 * the nodes, the pods that shall go and what was said of each of them. Returns how many. */
size_t plan_file_compare(const struct plan_file *f, const struct plan *now, struct str *out);

/* Whether no node of the plan is the one that it was. */
bool plan_file_foreign(const struct plan_file *f, const struct plan *now);

/* --- beside the cluster as it is now --- */

struct saved_plan {
    struct plan_file file;
    struct drain_flags flags; /* of the drain, from the file; the connection is the caller's */
    const char **names;       /* in its order */
    struct str changes;       /* a line each */
    size_t n_changes;
    const char *busy; /* of the first of its nodes that is drained already: by whom; NULL: none */
    bool foreign; /* of another cluster: none of its nodes is here, nor is the address the same */
};

/* Reads the file, plans again and compares. 0, or the exit code after having said why. The texts
 * live in cli->arena. saved_plan_done() in any case. */
int saved_plan_check(struct cli *cli, const char *path, const struct connection_opts *connection,
                     struct saved_plan *s);
void saved_plan_done(struct saved_plan *s);

#endif
