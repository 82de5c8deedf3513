/* A plan that was saved, and what has changed since: what `apply` and `diff` begin with. */
#ifndef CLI_PLAN_FILE_H
#define CLI_PLAN_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/plan_read.h"

struct saved_pod {
    const char *ns, *name, *uid, *verdict;
    const char *owner;   /* "ReplicaSet/web-7c9d"; "" */
    const char *message; /* of its blocker; "" */
};

struct saved_finding {
    const char *check, *verdict;
};

struct saved_node {
    const char *name, *uid, *verdict;
    const char *code;       /* of its own blocker; "" */
    struct saved_pod *pods; /* by namespace and name */
    size_t n_pods;
    struct saved_finding *findings; /* of checks, against its cordon */
    size_t n_findings;
};

struct plan_file {
    const char *id, *server, *made;
    const char *rules; /* what was in the file of rules, as a hash; "" */
    bool edited;       /* somebody has changed it since it was saved */
    bool asked;        /* the API server was asked about each eviction */
    char **words;      /* the flags of the drain */
    size_t n_words;
    struct saved_node *nodes; /* in the order in which they begin */
    size_t n;
    struct plan_budget *budgets; /* without `spare`, which is as it is now */
    size_t n_budgets;
    bool has_budgets; /* it says which, be it that there are none */
};

/* Of a newer schema is refused, never misread. Everything lives in the arena. */
int plan_file_read(const char *path, struct arena *arena, struct plan_file *out, struct err *err);
int plan_file_parse(const char *text, size_t len, const char *path, struct arena *arena,
                    struct plan_file *out, struct err *err);

/* --- plan_compare.c --- */

/* What the plan rests on and is not as it was: a line each, "+ pod default/new on w1: goes".
 * Returns how many. What counts is in docs/plan.md: nodes, what checks say to them, the workloads
 * whose pods shall go and what was said of these, budgets. What comes and goes by itself does not:
 * names, ReplicaSets and number of a workload's pods, pods of Jobs, how much a budget allows just
 * now. `budgets` are those that there are. */
size_t plan_file_compare(const struct plan_file *f, const struct plan *now,
                         const struct store *budgets, struct str *out);

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
    /* It names a file of rules, and was edited, or the file is not the one that it was made with:
     * that is anybody's file, and messages about it would show what is in it. It is not looked
     * into, and nothing was compared. */
    bool unread;
    bool *gone; /* of each of its nodes: there is none of this name any more */
};

/* Reads the file, plans again and compares. 0, or the exit code after having said why. The texts
 * live in cli->arena. saved_plan_done() in any case. */
int saved_plan_check(struct cli *cli, const char *path, const struct connection_opts *connection,
                     struct saved_plan *s);
void saved_plan_done(struct saved_plan *s);

#endif
