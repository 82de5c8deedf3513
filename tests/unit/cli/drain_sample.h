/* For tests of how a drain is shown: nodes and pods by hand, a sample fleet, and golden files.
 *
 * A golden file is what a function has to say about the sample, thought about before it is
 * committed. When a change is meant, write them anew and read the difference:
 *
 *     SLIPWAY_GOLDEN=write build/tests/unit/cli/cli-drain_tty; git diff tests/cli/golden */
#ifndef CLI_DRAIN_SAMPLE_H
#define CLI_DRAIN_SAMPLE_H

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/drain.h"

/* 2026-11-15T08:00:00Z */
#define T0 SEC(1794729600)

enum { FLEET_MAX = 512 };

struct fleet {
    struct arena arena;
    struct drain_node *nodes[FLEET_MAX];
    size_t n;
};

static inline const struct drain_node *const *fleet_nodes(const struct fleet *f) {
    return (const struct drain_node *const *)f->nodes;
}

static inline struct drain_node *fleet_add(struct fleet *f, const char *name,
                                           enum drain_phase phase) {
    struct drain_node *n = arena_new(&f->arena, struct drain_node);
    *n = (struct drain_node){.name = name, .phase = phase};
    assert_true(f->n < FLEET_MAX);
    f->nodes[f->n++] = n;
    return n;
}

/* Adds a pod and counts it. Pods are to be added in order. */
static inline struct drain_pod *pod_add(struct fleet *f, struct drain_node *n, const char *ns,
                                        const char *name, enum drain_pod_state state) {
    struct drain_pod *p = arena_new(&f->arena, struct drain_pod);
    struct drain_pod **list = arena_alloc(&f->arena, (n->n_pods + 1) * sizeof *list);
    for (size_t i = 0; i < n->n_pods; i++)
        list[i] = n->pods[i];
    *p = (struct drain_pod){.ns = ns, .name = name, .uid = "u", .owner = "", .state = state};
    list[n->n_pods++] = p;
    n->pods = list;
    n->total += state != DRAIN_POD_STAYS;
    n->stays += state == DRAIN_POD_STAYS;
    n->gone += state == DRAIN_POD_GONE;
    n->leaving += state == DRAIN_POD_LEAVING;
    n->failed += state == DRAIN_POD_FAILED;
    return p;
}

static inline void pod_block(struct drain_node *n, struct drain_pod *p, struct drain_blocker b) {
    p->state = DRAIN_POD_BLOCKED;
    p->blocked = true;
    p->blocker = b;
    n->blocked_pods++;
}

static inline void node_block(struct drain_node *n, struct drain_blocker b) {
    n->blocked = true;
    n->blocker = b;
}

/* `gone` of `total` pods have left, each within 20 s; the rest wait for their turn. */
static inline void pods_fill(struct fleet *f, struct drain_node *n, unsigned gone, unsigned total) {
    for (unsigned i = 0; i < total; i++) {
        struct drain_pod *p = pod_add(f, n, "web", arena_printf(&f->arena, "p-%02u", i),
                                      i < gone ? DRAIN_POD_GONE : DRAIN_POD_QUEUED);
        if (i < gone) {
            p->first_try = p->accepted = n->started;
            p->gone = n->started + SEC(20);
        }
    }
}

#define PDB_BLOCKER(at, n)                                                                         \
    ((struct drain_blocker){.code = BLOCKER_PDB_NO_BUDGET,                                         \
                            .kind = "PodDisruptionBudget",                                         \
                            .object = "web/frontend",                                              \
                            .message = "needs 3 healthy pods, has 2 of 3",                         \
                            .since = (at),                                                         \
                            .attempts = (n)})

/* Forty nodes, 12m40s after the start: ten done, one failed, one timed out, two that wait for the
 * same budget, one whose pod is pinned to it, three at work, the rest waiting. */
static inline void fleet_sample(struct fleet *f, int64_t now) {
    *f = (struct fleet){0};
    int64_t start = now - SEC(760);
    for (unsigned i = 1; i <= 40; i++)
        fleet_add(f, arena_printf(&f->arena, "nid%06u", i), DRAIN_WAITING);
    for (unsigned i = 1; i <= 10; i++) {
        struct drain_node *n = f->nodes[i];
        n->phase = DRAIN_DONE;
        n->started = start;
        n->ended = start + SEC(250) + SEC(i);
        n->cordoned_by_us = true;
        pods_fill(f, n, 5, 5);
    }
    struct drain_node *n = f->nodes[20];
    n->phase = DRAIN_FAILED;
    n->started = n->ended = start + SEC(300);
    n->error = "cannot cordon it: nodes \"nid000021\" is forbidden: User \"alice\" cannot patch "
               "resource \"nodes\" in API group \"\" at the cluster scope";
    n = f->nodes[21];
    n->phase = DRAIN_TIMED_OUT;
    n->started = start;
    n->ended = start + SEC(600);
    n->deadline = n->ended;
    n->cordoned_by_us = true;
    n->error = "not drained within 10m: 1 of 3 pods left";
    pods_fill(f, n, 2, 2);
    pod_block(n, pod_add(f, n, "web", "p-stuck", DRAIN_POD_BLOCKED),
              PDB_BLOCKER(start + SEC(5), 41));
    for (unsigned i = 0; i < 2; i++) {
        n = f->nodes[i ? 22 : 18];
        n->phase = DRAIN_EVICTING;
        n->started = start + SEC(300);
        n->cordoned_by_us = true;
        pods_fill(f, n, 4, 4);
        struct drain_pod *p = pod_add(f, n, "web", "p-wait", DRAIN_POD_BLOCKED);
        pod_block(n, p, PDB_BLOCKER(now - SEC(380) + SEC(i), 41 - i));
    }
    n = f->nodes[30];
    n->phase = DRAIN_EVICTING;
    n->started = start + SEC(500);
    n->cordoned_by_us = true;
    pods_fill(f, n, 1, 1);
    pod_block(n, pod_add(f, n, "zk", "zk-0", DRAIN_POD_BLOCKED),
              (struct drain_blocker){.code = BLOCKER_PINNED,
                                     .kind = "Pod",
                                     .object = "zk/zk-0",
                                     .message = "spec.nodeName is nid000031",
                                     .since = now - SEC(61),
                                     .attempts = 1});
    n = f->nodes[11];
    n->phase = DRAIN_EVICTING;
    n->started = now - SEC(182);
    n->deadline = n->started + SEC(1800);
    n->cordoned_by_us = true;
    pods_fill(f, n, 18, 26);
    n = f->nodes[12];
    n->phase = DRAIN_EVICTING;
    n->started = now - SEC(65);
    n->deadline = n->started + SEC(1800);
    n->cordoned_by_us = true;
    pods_fill(f, n, 3, 7);
    struct drain_pod *leaving = pod_add(f, n, "web", "p-leaving", DRAIN_POD_LEAVING);
    leaving->first_try = leaving->accepted = now - SEC(4);
    pod_block(n, pod_add(f, n, "web", "p-wait", DRAIN_POD_BLOCKED), PDB_BLOCKER(now - SEC(12), 2));
    n = f->nodes[13];
    n->phase = DRAIN_CORDONING;
    n->started = now - SEC(1);
    n->deadline = n->started + SEC(1800);
    for (size_t i = 0; i < f->n; i++)
        if (f->nodes[i]->phase == DRAIN_WAITING)
            node_block(f->nodes[i], (struct drain_blocker){.code = BLOCKER_MAX_UNAVAILABLE,
                                                           .kind = "",
                                                           .object = "",
                                                           .message = "6 of 6 nodes are out",
                                                           .since = start});
}

static inline void fleet_done(struct fleet *f) {
    arena_done(&f->arena);
}

/* The locale decides how wide a letter is. */
static inline int use_utf8(void **state) {
    (void)state;
    return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

#ifdef GOLDEN_DIR
static inline void assert_golden(const char *name, const struct str *text) {
    _cleanup_free_ char *path = xasprintf("%s/%s", GOLDEN_DIR, name);
    const char *mode = getenv("SLIPWAY_GOLDEN");
    if (mode && streq(mode, "write")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(str_get(text), 1, text->len, f);
        assert_int_equal(fclose(f), 0);
    }
    _cleanup_str_ struct str want = STR_INIT;
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("cannot read %s", path);
    char buf[4096];
    for (size_t n; (n = fread(buf, 1, sizeof buf, f));)
        str_addn(&want, buf, n);
    fclose(f);
    if (!streq(str_get(&want), str_get(text)))
        fail_msg("%s differs:\n%s\n--- but is:\n%s", path, str_get(&want), str_get(text));
}
#endif

#endif
