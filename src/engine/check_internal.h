/* What the checks are written with: which nodes go, findings, majorities. Private to the engine's
 * check*.c. */
#ifndef ENGINE_CHECK_INTERNAL_H
#define ENGINE_CHECK_INTERNAL_H

#include "base/vec.h"
#include "engine/checks.h"

enum {
    CHECK_NAMES = 3,      /* of a list of names in a sentence */
    CHECK_EVIDENCE = 600, /* bytes of a sentence: parts of it are somebody else's words */
};

struct check_names {
    const char **p; /* sorted, each once */
    size_t n;
};

struct check_objects {
    const struct object **p; /* NULL: not sorted yet */
    size_t n;
};

struct check_run {
    const struct check_world *world;
    const struct check *check;
    struct arena *arena;
    int64_t now;
    struct check_names going, out, back;
    bool alone;                                 /* only `at` goes */
    const char *at;                             /* the node that is looked at, by run_next() */
    struct check_objects sorted[CHECK_SOURCES]; /* once for all checks */
    VEC(struct check_finding) findings;
    size_t from; /* the findings of this check begin here */
};

/* --- nodes --- */

/* for (size_t i = 0; (node = run_next(r, &i));): the nodes that are to go. Which of them are gone
 * while one is looked at depends on whether they go together: ask within the loop. */
const char *run_next(struct check_run *r, size_t *i);
/* To be looked at: where it is in `going`; else NULL. */
const char *const *run_asked(const struct check_run *r, const char *node);
/* Goes, together with the node that is looked at or as that one. */
bool run_going(const struct check_run *r, const char *node);
bool run_out(const struct check_run *r, const char *node);
/* Going or out. */
bool run_lost(const struct check_run *r, const char *node);
/* Where it is in `back`; else NULL. */
const char *const *run_back(const struct check_run *r, const char *node);
/* NULL when the node stays in service: it is there, Ready and schedulable, and neither goes nor is
 * out. Else why not, as the end of "node w1 ...": "is not Ready". */
const char *run_unfit(const struct check_run *r, const char *node);

/* --- reading --- */

/* NULL when it was not read. */
const struct store *run_store(const struct check_run *r, enum check_source_id source);
/* Why this object of the source could not be read; NULL: it could. That it could not is told for
 * every node when the check is over (run_tell_unread()): a check judges the others. */
const char *run_unread(enum check_source_id source, const struct object *obj);
/* Those that could be read, sorted by namespace and name; not to be changed. None when the source
 * was not read. */
struct check_objects run_sorted(struct check_run *r, enum check_source_id source);
/* Those of one namespace. */
struct check_objects run_within(struct check_run *r, enum check_source_id source, const char *ns);
/* Pods of the namespace that have the label with this value (NULL: any) and are not finished,
 * sorted; an array of one's own, in the arena. */
const struct pod **run_pods(struct check_run *r, enum check_source_id source, const char *ns,
                            const char *label, const char *value, size_t *n);

/* --- findings --- */

/* Of each source without which the check can say nothing: the objects of it that could not be read,
 * the first few by name. Whichever node they are about, none is certain to be safe. */
void run_tell_unread(struct check_run *r);

/* Begins a finding about an object of a kind (both may be NULL); to be filled by the caller. `hint`
 * and `ends` are the blocker's own where nothing better is put in. Valid until the next one. */
struct check_finding *run_find(struct check_run *r, const char *node, enum check_verdict verdict,
                               unsigned when, enum blocker_code code, const struct kind *kind,
                               const struct meta *object, const char *evidence);
/* A pass; it is kept only where this check finds nothing for the node that does not pass. */
void run_pass(struct check_run *r, const char *node, const char *evidence);
/* When the check is over: takes back passes beside which something does not pass, whichever of the
 * two was found first. */
void run_settle(struct check_run *r);
/* A remark: passes, but has a code. */
void run_remark(struct check_run *r, const char *node, unsigned when, enum blocker_code code,
                const struct kind *kind, const struct meta *object, const char *evidence);

/* --- sentences --- */

#define run_printf(r, ...) arena_printf((r)->arena, __VA_ARGS__)
/* "a, b, c and 4 more". */
struct check_list {
    const char *first[CHECK_NAMES];
    size_t n;
};
void check_list_add(struct check_list *l, const char *name);
const char *run_list(const struct check_run *r, const struct check_list *l);
static inline const char *plural(size_t n) {
    return n == 1 ? "" : "s";
}

/* --- majorities --- */

/* One member of something that needs a majority of its members. */
struct check_member {
    const char *name, *node; /* node NULL: nowhere */
    bool healthy;
};

struct check_group {
    const struct kind *kind; /* of the object that findings name */
    const struct meta *object;
    const char *what; /* "etcd cluster default/main", "control-plane etcd" */
    const struct check_member *members;
    size_t n;
    size_t total;  /* voters; more than `n` when some are missing */
    size_t wanted; /* how many it is to have: what tells "not now" from "never"; at least `total` */
    /* What gates what: a drain does not touch static pods, which only the operation stops. */
    unsigned wait_when, deny_when;
};

/* Judges each node that goes and has a member; and each that is back: its member must be healthy
 * again. */
void run_quorum(struct check_run *r, const struct check_group *g);

void check_longhorn(struct check_run *r);
void check_rook(struct check_run *r);
void check_kubevirt(struct check_run *r);
void check_cnpg(struct check_run *r);
void check_zalando(struct check_run *r);
void check_etcd_operator(struct check_run *r);
void check_etcd(struct check_run *r);
void check_stateful_set(struct check_run *r);

#endif
