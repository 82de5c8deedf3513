/* The reflector against a tiny API that changes all the time and breaks in every way, for hours of
 * virtual time and many seeds (support/mini_api.h). Whatever happens:
 *  - no listener sees an object go back in version, appear twice, or come back as it was;
 *  - a store that says it is synced misses nothing that exists, and keeps nothing that is gone;
 *  - what store_fresh() called seen stays seen;
 *  - when the trouble is over, the store is exactly what the API has.
 * All of this also when several reflectors fill one store, each with the pods of a node, and pods
 * move from node to node (no real pod does, but names do); and when it has to poll.
 *
 * SLIPWAY_SEED=<n> runs one seed, SLIPWAY_SEEDS=<n> more or fewer than usual. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/prng.h"
#include "base/timefmt.h"
#include "kube/reflector.h"
#include "kube/transport_fault.h"
#include "support/mini_api.h"

enum { PODS_MAX = 60, NODES_MAX = 4, SEEDS = 120 };

/* What the listener was shown of a pod. */
struct shown {
    bool exists;
    uint64_t version; /* of what is shown, or was last */
};

/* A write of ours. */
struct written {
    uint64_t version; /* 0: none that is waited for */
    uint64_t floor;   /* what store_fresh() has called seen */
};

struct world {
    uint64_t seed;
    struct prng prng;
    struct loop *loop;
    struct mini_options api_opts;
    struct mini_api *api;
    struct kube_client client;
    struct store *store;
    struct reflector *reflectors[NODES_MAX];
    int n_reflectors; /* more than one: one for each node */
    int nodes[NODES_MAX];
    struct loop_timer *changes, *compactions, *checks;
    int64_t change_every, compact_every;
    int node; /* of the field selector, -1: all */
    bool rewound;
    struct shown shown[PODS_MAX];
    struct written written[PODS_MAX];
    struct kube_fault *fault; /* that forbids, or NULL */
    int syncs, problems, polls;
    uint64_t checked;
};

#define broken(w, ...)                                                                             \
    do {                                                                                           \
        print_error("seed %" PRIu64 " at %.3f s: ", (w)->seed,                                     \
                    (double)loop_now((w)->loop) / USEC_PER_SEC);                                   \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

static uint64_t version_of(const struct object *obj) {
    return strtoull(strna(obj->meta.version), NULL, 10);
}

static int node_of(const struct object *obj) {
    const char *node = ((const struct pod *)obj)->node_name;
    return node ? atoi(node + strlen("n")) : 0;
}

static int number_of(const struct object *obj) {
    return atoi(obj->meta.name + strlen("pod-")) * 2 + streq(obj->meta.ns, "a");
}

/* --- what must hold --- */

/* The object is what the API had under that version, nothing made up. */
static void check_contents(struct world *w, const struct object *obj) {
    int n = number_of(obj);
    char node[16] = "", app[16] = "", uid[32];
    const struct mini_pod *p = mini_api_pod(w->api, n, version_of(obj));
    if (!p || !p->exists)
        broken(w, "pod %d never was at version %s", n, obj->meta.version);
    if (p->node)
        snprintf(node, sizeof node, "n%d", p->node);
    if (p->app)
        snprintf(app, sizeof app, "app%d", p->app);
    snprintf(uid, sizeof uid, "uid-%" PRIu64, p->uid);
    const char *label = map_get(obj->meta.labels, "app");
    if (!streq(strna(((const struct pod *)obj)->node_name), node) || !streq(strna(label), app) ||
        !streq(strna(obj->meta.uid), uid))
        broken(w, "pod %d@%s is garbled", n, obj->meta.version);
    if (w->node >= 0 && p->node != w->node)
        broken(w, "pod %d@%s is not selected", n, obj->meta.version);
}

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct world *w = arg;
    int n = number_of(before ? before : after);
    struct shown *s = &w->shown[n];
    if (s->exists != (before != NULL) || (before && version_of(before) != s->version))
        broken(w, "pod %d is not what was shown before", n);
    if (after && version_of(after) <= s->version && !w->rewound)
        broken(w, "pod %d went back from %" PRIu64 " to %s%s", n, s->version, after->meta.version,
               before ? "" : " after it was gone");
    int node = w->n_reflectors > 1 && before ? node_of(before) : w->node;
    if (!after && !mini_api_absent(w->api, n, node, s->version) && !w->rewound)
        broken(w, "pod %d@%" PRIu64 " was removed, but never was away", n, s->version);
    if (after)
        check_contents(w, after);
    s->exists = after != NULL;
    s->version = after ? version_of(after) : s->version;
}

static const struct object *pod_in_store(struct world *w, int n) {
    char name[MINI_NAME];
    return store_get(w->store, mini_ns(n), mini_name(n, name));
}

static bool on_node(const struct object *obj, const void *arg) {
    return node_of(obj) == *(const int *)arg;
}

/* The part of the i-th reflector. */
static struct store_scope scope_of(const struct world *w, int i) {
    return w->n_reflectors > 1 ? (struct store_scope){on_node, &w->nodes[i]}
                               : (struct store_scope){0};
}

/* A synced store, or part, shows every pod of its version, or a newer state of it. */
static void check_part(struct world *w, int node, const char *version_) {
    struct mini_pod pods[PODS_MAX];
    uint64_t version = strtoull(strna(version_), NULL, 10);
    if (!version || version > mini_api_version(w->api))
        broken(w, "the store's version is %" PRIu64, version);
    mini_api_at(w->api, version, pods);
    for (int n = 0; n < w->api_opts.pods; n++) {
        const struct object *obj = pod_in_store(w, n);
        bool there = pods[n].exists && (node < 0 || pods[n].node == node);
        bool ours = obj && (w->n_reflectors == 1 || node_of(obj) == node);
        if (there && !obj && !mini_api_absent(w->api, n, node, version))
            broken(w, "pod %d@%" PRIu64 " is missing at %" PRIu64, n, pods[n].version, version);
        if (there && obj && version_of(obj) < pods[n].version)
            broken(w, "pod %d is old at %" PRIu64, n, version);
        if (!there && ours && version_of(obj) <= version)
            broken(w, "pod %d@%s is long gone at %" PRIu64, n, obj->meta.version, version);
    }
}

static void check_picture(struct world *w) {
    for (int i = 0; i < w->n_reflectors; i++) {
        struct store_part *part = store_part(w->store, scope_of(w, i));
        if (store_part_synced(part))
            check_part(w, w->nodes[i], store_part_version(part));
    }
}

/* A write that moved the pod is seen when it has left; where it went, it may not have come yet. */
static bool moved_at(struct world *w, int n, uint64_t version) {
    struct mini_pod before[PODS_MAX], after[PODS_MAX];
    mini_api_at(w->api, version - 1, before);
    mini_api_at(w->api, version, after);
    return before[n].node != after[n].node;
}

/* Where the pod is since our write; -1: anywhere. */
static int node_at(struct world *w, int n, uint64_t version) {
    struct mini_pod pods[PODS_MAX];
    if (w->n_reflectors == 1)
        return w->node;
    mini_api_at(w->api, version, pods);
    return pods[n].node;
}

/* What we wrote, and were told is seen, is never unseen again. */
static void check_barrier(struct world *w) {
    char name[MINI_NAME];
    for (int n = 0; n < w->api_opts.pods; n++) {
        struct written *wr = &w->written[n];
        if (wr->version && store_fresh(w->store, mini_ns(n), mini_name(n, name))) {
            wr->floor = MAX_OF(wr->floor, wr->version);
            wr->version = 0;
        }
        const struct object *obj = pod_in_store(w, n);
        if (obj && version_of(obj) < wr->floor)
            broken(w, "pod %d@%s is older than our write %" PRIu64, n, obj->meta.version,
                   wr->floor);
        if (!obj && wr->floor && !(w->n_reflectors > 1 && moved_at(w, n, wr->floor)) &&
            !mini_api_absent(w->api, n, node_at(w, n, wr->floor), wr->floor))
            broken(w, "our write %" PRIu64 " of pod %d is not there any more", wr->floor, n);
    }
}

static bool is_equal(struct world *w) {
    struct mini_pod pods[PODS_MAX];
    size_t len = 0;
    mini_api_at(w->api, mini_api_version(w->api), pods);
    for (int n = 0; n < w->api_opts.pods; n++) {
        const struct object *obj = pod_in_store(w, n);
        bool there = pods[n].exists && (w->node < 0 || pods[n].node == w->node);
        if (there != (obj != NULL) || (obj && version_of(obj) != pods[n].version))
            return false;
        len += there;
    }
    return store_len(w->store) == len && store_synced(w->store);
}

/* --- what happens --- */

static void on_synced(void *arg) {
    struct world *w = arg;
    if (w->syncs++ == w->n_reflectors)
        broken(w, "synced was told twice");
    if (w->syncs == w->n_reflectors && !store_synced(w->store))
        broken(w, "synced was told too early");
    check_picture(w);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    struct world *w = arg;
    w->problems++;
    bool pause = retry_in >= MSEC(800) && retry_in <= SEC(600);
    if (outcome == KUBE_OK || str_empty(message) || !pause)
        broken(w, "an odd problem: %s, %" PRId64, strna(message), retry_in);
}

/* Nobody writes to an object but as the store shows it: not to the one of that name elsewhere. */
static bool is_where_shown(struct world *w, int n, uint64_t version) {
    struct mini_pod pods[PODS_MAX];
    const struct object *obj = w->n_reflectors > 1 ? pod_in_store(w, n) : NULL;
    if (!obj)
        return true;
    mini_api_at(w->api, version - 1, pods);
    return pods[n].exists && node_of(obj) == pods[n].node;
}

static void change(struct world *w) {
    uint64_t version;
    char name[MINI_NAME];
    int n = mini_api_change(w->api, &version);
    if (prng_range(&w->prng, 0, 4) == 0 && !w->rewound && is_where_shown(w, n, version)) {
        _cleanup_free_ char *text = xasprintf("%" PRIu64, version);
        store_wrote(w->store, mini_ns(n), mini_name(n, name), text);
        w->written[n].version = version;
    }
}

static void on_change_due(void *arg) {
    struct world *w = arg;
    int64_t burst = prng_range(&w->prng, 0, 20) ? 1 : prng_range(&w->prng, 5, 60);
    while (burst--)
        change(w);
    loop_timer_set(w->changes, prng_range(&w->prng, 1, 2 * w->change_every));
}

static void on_compaction_due(void *arg) {
    struct world *w = arg;
    mini_api_compact(w->api, (uint64_t)prng_range(&w->prng, 0, 40));
    loop_timer_set(w->compactions, prng_range(&w->prng, 1, 2 * w->compact_every));
}

static void on_check_due(void *arg) {
    struct world *w = arg;
    w->checked++;
    if (!w->rewound)
        check_picture(w);
    if (!w->rewound)
        check_barrier(w);
    loop_timer_set(w->checks, prng_range(&w->prng, MSEC(100), SEC(20)));
}

/* --- one run --- */

enum mode {
    ALONE, /* one reflector, of everything or of a node */
    PARTS, /* one for each node, in one store */
    POLLS, /* watching is forbidden */
};

static void on_polling(void *arg, const char *message) {
    struct world *w = arg;
    if (w->polls++ || str_empty(message))
        broken(w, "polling was told twice, or without a word");
}

/* faults: of a thousand calls, -1: as the seed says. */
static void world_init(struct world *w, uint64_t seed, int faults, enum mode mode) {
    *w = (struct world){.seed = seed, .prng = {seed}, .node = -1, .n_reflectors = 1};
    struct prng *r = &w->prng;
    w->loop = loop_new_virtual(SEC(1700000000));
    w->api_opts = (struct mini_options){
        .seed = prng_next(r),
        .pods = (int)prng_range(r, 2, PODS_MAX),
        .nodes = (int)prng_range(r, 2, 4),
        .apps = 3,
        .servers = (int)prng_range(r, 1, 4),
        .lag = prng_range(r, 0, 2) ? MSEC(200) : SEC(200),
        .no_watch_list = prng_range(r, 0, 3) == 0,
        .no_bookmarks = prng_range(r, 0, 4) == 0,
        .patience = prng_range(r, 0, 3) && faults ? SEC(20) : 0,
        .faults = faults < 0 ? (int)prng_range(r, 0, 1000) : faults,
    };
    w->api = mini_api_new(w->loop, &w->api_opts);
    struct kube_transport *transport = mini_api_transport(w->api);
    if (mode == POLLS) {
        static const struct kube_fault_rule no_watch = {
            .kind = KUBE_FAULT_STATUS, .path = "watch=1", .code = 403};
        w->fault = kube_fault_new(transport, w->loop, seed, &no_watch, 1);
        transport = kube_fault_transport(w->fault);
    }
    w->client =
        (struct kube_client){.transport = transport, .loop = w->loop, .pool = pool_new(type_drop)};
    w->store = store_new(&kind_pod, w->client.pool);
    store_listen(w->store, on_change, w);
    static const int64_t changes[] = {MSEC(200), SEC(2), SEC(30)};
    static const int64_t compactions[] = {MSEC(500), SEC(20), SEC(60), SEC(600)};
    w->change_every = changes[prng_range(r, 0, 3)];
    w->compact_every = compactions[prng_range(r, 0, 4)];
    w->changes = loop_timer_new(w->loop, on_change_due, w);
    w->compactions = loop_timer_new(w->loop, on_compaction_due, w);
    w->checks = loop_timer_new(w->loop, on_check_due, w);
    for (int64_t i = prng_range(r, 0, 200); i > 0; i--)
        change(w);
    if (prng_range(r, 0, 3) == 0)
        w->node = (int)prng_range(r, 1, w->api_opts.nodes);
    if (mode == PARTS) {
        w->node = -1;
        w->n_reflectors = w->api_opts.nodes;
    }
    struct reflector_options opts = {
        .json = prng_range(r, 0, 2),
        .no_watch_list = prng_range(r, 0, 4) == 0,
        .page = (int)prng_range(r, mode == POLLS ? 30 : 1, mode == POLLS ? 90 : 30),
        .poll = mode == POLLS ? SEC(5) : 0,
        .polling = on_polling,
        .silence = prng_range(r, 0, 3) || !faults ? 0 : SEC(20),
        .seed = prng_next(r),
        .synced = on_synced,
        .problem = on_problem,
        .arg = w,
    };
    for (int i = 0; i < w->n_reflectors; i++) {
        char selector[32];
        w->nodes[i] = mode == PARTS ? i : w->node;
        snprintf(selector, sizeof selector, "spec.nodeName=n%d", w->nodes[i]);
        opts.field_selector = w->nodes[i] >= 0 ? selector : NULL;
        opts.scope = scope_of(w, i);
        opts.seed += (uint64_t)i;
        w->reflectors[i] = reflector_new(&w->client, w->store, &opts);
    }
    loop_timer_set(w->changes, 0);
    loop_timer_set(w->checks, 0);
}

static void world_done(struct world *w) {
    for (int i = 0; i < w->n_reflectors; i++)
        reflector_free(w->reflectors[i]);
    store_free(w->store);
    loop_timer_free(w->changes);
    loop_timer_free(w->compactions);
    loop_timer_free(w->checks);
    kube_transport_free(w->client.transport);
    if (pool_stats(w->client.pool).entries)
        broken(w, "%zu pool entries are left", pool_stats(w->client.pool).entries);
    pool_free(w->client.pool);
    loop_free(w->loop);
}

/* Without trouble the store must become what the API has, and stay so. */
static void settle(struct world *w, int minutes) {
    loop_timer_stop(w->changes);
    int waited = 0;
    while (!is_equal(w)) {
        if (waited++ == minutes)
            broken(w, "the store is not what the API has after %d calm minutes", minutes);
        loop_advance(w->loop, SEC(60));
    }
    loop_advance(w->loop, SEC(1200));
    if (!is_equal(w))
        broken(w, "the store does not stay what the API has");
    if (w->syncs != w->n_reflectors)
        broken(w, "synced was told %d times", w->syncs);
}

static void add_stats(struct mini_stats *sum, const struct mini_stats *s) {
    sum->expired += s->expired;
    sum->tokens += s->tokens;
    sum->behind += s->behind;
    sum->faults += s->faults;
}

static void run_one(uint64_t seed, enum mode mode, struct mini_stats *sum) {
    struct world w;
    world_init(&w, seed, -1, mode);
    loop_timer_set(w.compactions, w.compact_every);
    loop_advance(w.loop, w.change_every < SEC(1) ? SEC(600) : SEC(5400));
    mini_api_calm(w.api);
    loop_timer_stop(w.compactions);
    settle(&w, 15);
    if (w.polls != (mode == POLLS))
        broken(&w, "polling was told %d times", w.polls);
    /* And it goes on working, also when it is allowed to watch now. */
    if (w.fault)
        kube_fault_clear(w.fault);
    for (int i = 0; i < 20; i++)
        change(&w);
    settle(&w, 15);
    struct mini_stats stats = mini_api_stats(w.api);
    uint64_t seconds = (uint64_t)loop_now(w.loop) / SEC(1);
    /* Each page of a list is one. */
    if (stats.calls > seconds * (uint64_t)w.n_reflectors)
        broken(&w, "%" PRIu64 " requests in %" PRIu64 " s", stats.calls, seconds);
    add_stats(sum, &stats);
    if (!w.checked)
        broken(&w, "nothing was checked");
    world_done(&w);
}

static void run_chaos(uint64_t seed, struct mini_stats *sum) {
    run_one(seed, ALONE, sum);
}

static void run_parts(uint64_t seed, struct mini_stats *sum) {
    run_one(seed, PARTS, sum);
}

static void run_polls(uint64_t seed, struct mini_stats *sum) {
    run_one(seed, POLLS, sum);
}

static struct mini_stats run_seeds(int n, void (*run)(uint64_t seed, struct mini_stats *sum)) {
    const char *one = getenv("SLIPWAY_SEED"), *many = getenv("SLIPWAY_SEEDS");
    struct mini_stats sum = {0};
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t last = one ? first : many ? strtoull(many, NULL, 10) : (uint64_t)n;
    for (uint64_t seed = first; seed <= last; seed++)
        run(seed, &sum);
    return sum;
}

static void test_chaos(void **state) {
    (void)state;
    struct mini_stats sum = run_seeds(SEEDS, run_chaos);
    if (getenv("SLIPWAY_SEED"))
        return;
    /* Once met: a listing breaks off, and the next one comes from a server that is behind. */
    run_chaos(221, &sum);
    /* It did meet what it is here for. */
    assert_true(sum.faults > 1000);
    assert_true(sum.expired > 200);
    assert_true(sum.tokens > 5);
    assert_true(sum.behind > 20);
}

static void test_parts(void **state) {
    (void)state;
    struct mini_stats sum = run_seeds(SEEDS / 6, run_parts);
    if (getenv("SLIPWAY_SEED"))
        return;
    assert_true(sum.faults > 500);
    assert_true(sum.expired > 50);
    assert_true(sum.behind > 10);
}

static void test_polls(void **state) {
    (void)state;
    struct mini_stats sum = run_seeds(SEEDS / 6, run_polls);
    if (!getenv("SLIPWAY_SEED"))
        assert_true(sum.faults > 200);
}

/* The same seed gives the same run, to the last request. */
static void test_repeats(void **state) {
    (void)state;
    struct mini_stats stats[2];
    struct reflector_stats reflector[2];
    for (int i = 0; i < 2; i++) {
        struct world w;
        world_init(&w, 4711, 400, ALONE);
        loop_timer_set(w.compactions, w.compact_every);
        loop_advance(w.loop, SEC(7200));
        stats[i] = mini_api_stats(w.api);
        reflector[i] = reflector_stats(w.reflectors[0]);
        world_done(&w);
    }
    assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
    assert_memory_equal(&reflector[0], &reflector[1], sizeof reflector[0]);
    assert_true(stats[0].calls > 10 && stats[0].faults > 2);
}

/* Left alone, a healthy server is asked for one list and then watched: nothing is wasted. */
static void run_calm(uint64_t seed, struct mini_stats *sum) {
    (void)sum;
    struct world w;
    world_init(&w, seed, 0, ALONE);
    if (w.api_opts.no_bookmarks) /* else a quiet stream looks dead */
        w.change_every = SEC(2);
    loop_advance(w.loop, SEC(3600));
    struct reflector_stats stats = reflector_stats(w.reflectors[0]);
    /* One more for each silence: a server that is behind has no bookmark to send. */
    uint64_t most = (w.api_opts.no_watch_list ? 2 : 1) + stats.relists;
    if (!w.api_opts.no_bookmarks && (stats.lists > most || stats.relists > 3600 / 100))
        broken(&w, "%" PRIu64 " lists, %" PRIu64 " of them again", stats.lists, stats.relists);
    if (stats.watches > 200)
        broken(&w, "%" PRIu64 " watches in an hour", stats.watches);
    mini_api_calm(w.api);
    settle(&w, 5);
    world_done(&w);
}

static void test_calm(void **state) {
    (void)state;
    run_seeds(20, run_calm);
}

/* etcd is put back to an older state: what was written since then never happened. */
static void run_restore(uint64_t seed, struct mini_stats *sum) {
    (void)sum;
    struct world w;
    world_init(&w, seed, 0, seed % 3 ? ALONE : PARTS);
    loop_advance(w.loop, SEC(600));
    if (!store_synced(w.store))
        broken(&w, "not synced in ten calm minutes");
    w.rewound = true;
    while (strtoull(store_version(w.store), NULL, 10) <= 120)
        loop_advance(w.loop, SEC(60));
    /* Further back than it will go on from there, or nobody could tell. */
    int64_t seen = (int64_t)strtoull(store_version(w.store), NULL, 10);
    uint64_t version = (uint64_t)prng_range(&w.prng, 100, seen - 19);
    loop_timer_stop(w.changes);
    mini_api_restore(w.api, version);
    for (int i = 0; i < 5; i++)
        change(&w);
    settle(&w, 40);
    world_done(&w);
}

static void test_restore(void **state) {
    (void)state;
    run_seeds(30, run_restore);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats), cmocka_unit_test(test_calm),
        cmocka_unit_test(test_restore), cmocka_unit_test(test_chaos),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_polls),
    };
    return cmocka_run_group_tests_name("kube/reflector (chaos)", tests, NULL, NULL);
}
