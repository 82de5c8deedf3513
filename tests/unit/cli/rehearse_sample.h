/* Rehearsals made by hand, for the tests of how they are counted and told. */
#ifndef CLI_REHEARSE_SAMPLE_H
#define CLI_REHEARSE_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/exit.h"
#include "cli/rehearse_run.h"

static inline struct rehearsal_node *sample_node(struct rehearsal *r, const char *name,
                                                 enum drain_phase phase, int began, int ended) {
    struct rehearsal_node *n = vec_push(&r->nodes);
    *n = (struct rehearsal_node){.name = xstrdup(name),
                                 .phase = phase,
                                 .began = began < 0 ? -1 : SEC(began),
                                 .ended = ended < 0 ? -1 : SEC(ended),
                                 .code = -1};
    return n;
}

static inline void sample_pod(struct rehearsal_node *n, const char *name, int gone, int code,
                              const char *why) {
    *vec_push(&n->pods) =
        (struct rehearsal_pod){.ns = xstrdup("shop"),
                               .name = xstrdup(name),
                               .owner = xstrdup("ReplicaSet/web-1"),
                               .state = gone < 0 ? DRAIN_POD_BLOCKED : DRAIN_POD_GONE,
                               .asked = SEC(1),
                               .gone = gone < 0 ? -1 : SEC(gone),
                               .code = code,
                               .why = why ? xstrdup(why) : NULL};
    n->total++;
    n->left += why != NULL;
}

static inline void sample_wait(struct rehearsal *r, enum blocker_code code, const char *object,
                               int waited, unsigned pods, bool open) {
    *vec_push(&r->waits) = (struct rehearsal_wait){.code = code,
                                                   .kind = xstrdup("PodDisruptionBudget"),
                                                   .object = xstrdup(object),
                                                   .message = xstrdup("needs 2 healthy of 3"),
                                                   .pods = pods,
                                                   .begun = SEC(1),
                                                   .waited = SEC(waited),
                                                   .open = open};
}

static inline void sample_budget(struct rehearsal *r, const char *name, int before, int least,
                                 int closed) {
    *vec_push(&r->budgets) = (struct rehearsal_budget){.ns = xstrdup("shop"),
                                                       .name = xstrdup(name),
                                                       .before = before,
                                                       .least = least,
                                                       .expected = 3,
                                                       .desired = 2,
                                                       .closed = SEC(closed)};
}

/* Drained: w1 from 0 to `end`, w2 with it. */
static inline void sample_good(struct rehearsal *r, uint64_t seed, int end) {
    *r = (struct rehearsal){.seed = seed, .took = SEC(end)};
    sample_pod(sample_node(r, "w1", DRAIN_DONE, 0, end), "web-a", end - 1, -1, NULL);
    sample_pod(sample_node(r, "w2", DRAIN_DONE, 0, end), "web-b", end - 1, -1, NULL);
    sample_wait(r, BLOCKER_PDB_NO_BUDGET, "shop/web", end / 2, 2, false);
    sample_budget(r, "web", 1, 0, end / 2);
}

/* w2 stays. */
static inline void sample_bad(struct rehearsal *r, uint64_t seed) {
    *r = (struct rehearsal){.seed = seed, .took = SEC(5), .halted = true, .code = EXIT_BLOCKED};
    sample_pod(sample_node(r, "w1", DRAIN_DONE, 0, 5), "web-a", 4, -1, NULL);
    struct rehearsal_node *n = sample_node(r, "w2", DRAIN_EVICTING, 0, -1);
    sample_pod(n, "web-b", 4, -1, NULL);
    sample_pod(n, "db-0", -1, BLOCKER_PDB_UNSATISFIABLE, "PDBUnsatisfiable shop/db: never");
    sample_wait(r, BLOCKER_PDB_UNSATISFIABLE, "shop/db", 1800, 1, true);
    sample_budget(r, "db", 0, 0, 1800);
    sample_budget(r, "web", 4, 2, 0);
}

static inline void sample_done(struct rehearsal *runs, size_t n) {
    for (size_t i = 0; i < n; i++)
        rehearsal_done(&runs[i]);
}

#endif
