/* Several candidates over links that are slow, lose and break, for hours of virtual time and many
 * seeds. Candidates crash, come back under another name, and resign. As long as their clocks run at
 * the same rate:
 *  - never do two of them lead at the same time;
 *  - each new leader has a higher fence than every other one before it;
 *  - when the trouble is over, there is a leader soon, and it stays.
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
#include "base/str.h"
#include "base/timefmt.h"
#include "kube/leader.h"
#include "support/mini_lease.h"

enum { CANDIDATES = 3, SEEDS = 100 };

struct candidate {
    struct world *w;
    struct mini_link *link;
    struct kube_client client;
    struct leader *leader;
    char identity[32];
    bool resigned;
};

struct world {
    uint64_t seed;
    struct prng prng;
    struct loop *loop;
    struct mini_lease *lease;
    struct candidate candidates[CANDIDATES];
    struct loop_timer *trouble, *check;
    int names, n;
    int32_t fence; /* the highest so far */
    char holder[32];
    int starts, stops;
    bool calm;
};

#define broken(w, ...)                                                                             \
    do {                                                                                           \
        print_error("seed %" PRIu64 " at %.6f s: ", (w)->seed,                                     \
                    (double)loop_now((w)->loop) / USEC_PER_SEC);                                   \
        fail_msg(__VA_ARGS__);                                                                     \
    } while (0)

static int count_leaders(struct world *w) {
    int n = 0;
    for (int i = 0; i < w->n; i++)
        n += w->candidates[i].leader && leader_is(w->candidates[i].leader);
    return n;
}

static void check(struct world *w) {
    if (count_leaders(w) > 1)
        broken(w, "%d leaders at once", count_leaders(w));
}

static void on_started(void *arg, int32_t fence) {
    struct candidate *c = arg;
    struct world *w = c->w;
    w->starts++;
    check(w);
    if (fence < w->fence || (fence == w->fence && w->starts > 1 && !streq(w->holder, c->identity)))
        broken(w, "%s leads with fence %d, %s had %d", c->identity, fence, w->holder, w->fence);
    w->fence = fence;
    snprintf(w->holder, sizeof w->holder, "%s", c->identity);
    if (c->resigned)
        broken(w, "%s leads after it has resigned", c->identity);
}

static void on_stopped(void *arg, const char *why) {
    struct candidate *c = arg;
    c->w->stops++;
    if (str_empty(why))
        broken(c->w, "stopped without a word");
}

static void candidate_start(struct candidate *c) {
    struct world *w = c->w;
    snprintf(c->identity, sizeof c->identity, "host-%d", ++w->names);
    c->resigned = false;
    struct leader_options opts = {
        .ns = "ops",
        .name = "slipway",
        .identity = c->identity,
        .seed = prng_next(&w->prng),
        .started = on_started,
        .stopped = on_stopped,
        .arg = c,
    };
    if (leader_new(&c->client, &opts, &c->leader, NULL))
        broken(w, "no candidate");
}

static void candidate_restart(struct candidate *c) {
    leader_free(c->leader);
    c->leader = NULL;
    candidate_start(c);
}

static void on_resigned(void *arg) {
    struct candidate *c = arg;
    if (leader_is(c->leader))
        broken(c->w, "%s leads on after it has resigned", c->identity);
}

/* Something about a link or a candidate changes. */
static void on_trouble(void *arg) {
    struct world *w = arg;
    struct prng *r = &w->prng;
    struct candidate *c = &w->candidates[prng_range(r, 0, w->n)];
    struct mini_link *l = c->link;
    static const int64_t ways[] = {MSEC(5), MSEC(500), SEC(4), SEC(20)};
    switch (prng_range(r, 0, 10)) {
    case 0:
        l->cut = !l->cut;
        break;
    case 1:
        l->hang = !l->hang;
        break;
    case 2:
        l->lose = !l->lose;
        break;
    case 3:
        l->code = l->code ? 0 : prng_range(r, 0, 2) ? 500 : 429;
        break;
    case 4:
    case 5:
        l->there = ways[prng_range(r, 0, 4)];
        l->back = ways[prng_range(r, 0, 4)];
        break;
    case 6:
        l->faults = (int)prng_range(r, 0, 300);
        break;
    case 7:
        candidate_restart(c);
        break;
    case 8:
        if (c->resigned) {
            candidate_restart(c);
        } else {
            c->resigned = true;
            leader_resign(c->leader, on_resigned, c);
        }
        break;
    case 9: /* all is well for this one */
        l->cut = l->hang = l->lose = false;
        l->code = l->faults = 0;
        l->there = l->back = MSEC(5);
        break;
    }
    loop_timer_set(w->trouble, prng_range(r, MSEC(10), SEC(40)));
}

static void on_check(void *arg) {
    struct world *w = arg;
    check(w);
    loop_timer_set(w->check, prng_range(&w->prng, MSEC(1), MSEC(700)));
}

static void calm_down(struct world *w) {
    loop_timer_stop(w->trouble);
    for (int i = 0; i < w->n; i++) {
        struct mini_link *l = w->candidates[i].link;
        l->cut = l->hang = l->lose = false;
        l->code = l->faults = 0;
        l->there = l->back = MSEC(50);
        if (w->candidates[i].resigned)
            candidate_restart(&w->candidates[i]);
    }
}

static void run_seed(uint64_t seed) {
    struct world *w = xnew(struct world);
    w->seed = w->prng.state = seed;
    w->loop = loop_new_virtual(SEC(1800000000));
    w->lease = mini_lease_new(w->loop);
    w->n = (int)prng_range(&w->prng, 2, CANDIDATES + 1);
    for (int i = 0; i < w->n; i++) {
        struct candidate *c = &w->candidates[i];
        c->w = w;
        c->link = mini_lease_link(w->lease, prng_next(&w->prng));
        c->link->there = c->link->back = MSEC(50);
        c->client = (struct kube_client){
            .transport = &c->link->transport, .loop = w->loop, .pool = pool_new(type_drop)};
        candidate_start(c);
    }
    w->trouble = loop_timer_new(w->loop, on_trouble, w);
    w->check = loop_timer_new(w->loop, on_check, w);
    loop_timer_set(w->trouble, 0);
    loop_timer_set(w->check, 0);
    loop_advance(w->loop, SEC(3 * 3600));

    calm_down(w);
    loop_advance(w->loop, SEC(60));
    if (count_leaders(w) != 1)
        broken(w, "%d leaders after a calm minute", count_leaders(w));
    int stops = w->stops;
    loop_advance(w->loop, SEC(600));
    if (count_leaders(w) != 1 || w->stops != stops)
        broken(w, "no peace after a calm minute");
    if (w->starts < 5)
        broken(w, "only %d leaders in three hours: nothing was tried", w->starts);

    for (int i = 0; i < w->n; i++) {
        struct candidate *c = &w->candidates[i];
        leader_free(c->leader);
        kube_transport_free(c->client.transport);
        if (pool_stats(c->client.pool).entries)
            broken(w, "pool entries are left");
        pool_free(c->client.pool);
    }
    loop_timer_free(w->trouble);
    loop_timer_free(w->check);
    mini_lease_free(w->lease);
    loop_free(w->loop);
    free(w);
}

static void test_chaos(void **state) {
    (void)state;
    const char *one = getenv("SLIPWAY_SEED"), *many = getenv("SLIPWAY_SEEDS");
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t last = one ? first : many ? strtoull(many, NULL, 10) : SEEDS;
    for (uint64_t seed = first; seed <= last; seed++)
        run_seed(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chaos),
    };
    return cmocka_run_group_tests_name("kube/leader (chaos)", tests, NULL, NULL);
}
