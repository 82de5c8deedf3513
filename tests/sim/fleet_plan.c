/* Draws what a seed of the soak of the controller decides. */
#include "fleet_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/timefmt.h"
#include "draw.h"

static const char *const words[FLEET_ACTS] = {
    [FLEET_KILL] = "kill",
    [FLEET_FREEZE] = "freeze",
    [FLEET_MAINTENANCE] = "maintenance",
    [FLEET_CANCEL] = "cancel",
    [FLEET_PAUSE] = "pause",
    [FLEET_RESIZE] = "resize",
    [FLEET_CORDON] = "cordon",
    [FLEET_LIFT] = "lift",
    [FLEET_REBOOT] = "reboot",
    [FLEET_HANG] = "hang",
    [FLEET_REMOVE] = "remove",
    [FLEET_UNLOCK] = "unlock",
    [FLEET_FORGET] = "forget",
    [FLEET_NO_BOOT] = "no boot",
    [FLEET_LEASE] = "lease",
    [FLEET_RECORD] = "record",
    [FLEET_BUDGET] = "budget",
    [FLEET_ROLLOUT] = "rollout",
    [FLEET_END_ROLLOUT] = "end rollout",
    [FLEET_PAUSE_ROLLOUT] = "pause rollout",
    [FLEET_STOP] = "stop",
    [FLEET_OUTAGE] = "outage",
    [FLEET_BIND] = "bind",
};

const char *fleet_act_word(enum fleet_act act) {
    return words[act];
}

/* How often each of them happens, among so many. */
static const uint8_t weights[FLEET_ACTS] = {
    [FLEET_KILL] = 14,   [FLEET_FREEZE] = 14,     [FLEET_MAINTENANCE] = 22,  [FLEET_CANCEL] = 9,
    [FLEET_PAUSE] = 4,   [FLEET_RESIZE] = 5,      [FLEET_CORDON] = 5,        [FLEET_LIFT] = 6,
    [FLEET_REBOOT] = 4,  [FLEET_HANG] = 4,        [FLEET_REMOVE] = 3,        [FLEET_UNLOCK] = 4,
    [FLEET_FORGET] = 4,  [FLEET_NO_BOOT] = 4,     [FLEET_LEASE] = 2,         [FLEET_BUDGET] = 5,
    [FLEET_ROLLOUT] = 9, [FLEET_END_ROLLOUT] = 3, [FLEET_PAUSE_ROLLOUT] = 4, [FLEET_STOP] = 4,
    [FLEET_OUTAGE] = 4,  [FLEET_BIND] = 6,        [FLEET_RECORD] = 3,
};

static enum fleet_act draw_act(struct prng *r) {
    int all = 0;
    for (unsigned i = 0; i < FLEET_ACTS; i++)
        all += weights[i];
    int at = (int)prng_range(r, 0, all);
    unsigned act = 0;
    while (at >= weights[act])
        at -= weights[act++];
    return (enum fleet_act)act;
}

static int by_time(const void *a, const void *b) {
    const struct fleet_event *x = a, *y = b;
    return x->after < y->after ? -1 : x->after > y->after;
}

static int64_t draw_lasts(struct prng *r, enum fleet_act act) {
    switch (act) {
    case FLEET_FREEZE: /* within the lease, a little beyond it, and long */
        return chance(r, 40) ? MSEC(pick(r, 100, 9000)) : SEC(pick(r, 9, chance(r, 30) ? 300 : 40));
    case FLEET_FORGET:
        return SEC(pick(r, 60, 4000));
    case FLEET_OUTAGE:
        return SEC(pick(r, 2, 60));
    default:
        return SEC(pick(r, 10, 400));
    }
}

/* What is over within milliseconds is met by nobody who comes at any time. */
static const char *draw_moment(struct prng *r, enum fleet_act act) {
    static const char *const moments[] = {
        "Queued",    "Draining",    "Granted",  "Operating", "Returning", "Restoring",
        "Restoring", "Uncordoning", "Settling", "Undoing",   "taken",     "drained",
        "granted",   "steady",      "returned", "asked",     "asked",
    };
    if (act == FLEET_MAINTENANCE || act == FLEET_ROLLOUT || chance(r, 60))
        return NULL;
    if (act == FLEET_RESIZE && chance(r, 60))
        return "asked";
    if (act == FLEET_BIND && chance(r, 80))
        return chance(r, 50) ? "drained" : "granted";
    if (act == FLEET_LIFT && chance(r, 60))
        return chance(r, 70) ? "granted" : "Granted";
    return one_of(r, moments);
}

static void draw_events(struct prng *r, struct fleet_plan *p) {
    int n = (int)pick(r, 3, 26);
    p->faults_end = SEC(pick(r, 120, 1500));
    for (int i = 0; i < n; i++) {
        struct fleet_event e = {.act = draw_act(r), .after = prng_range(r, SEC(1), p->faults_end)};
        e.lasts = draw_lasts(r, e.act);
        e.pick = (unsigned)prng_range(r, 0, 1 << 20);
        e.moment = draw_moment(r, e.act);
        *vec_push(&p->events) = e;
    }
    qsort(p->events.p, p->events.len, sizeof *p->events.p, by_time);
}

/* Somewhere the pods must be able to go. */
unsigned fleet_plan_most(const struct fleet_plan *p) {
    return MAX_OF(MIN_OF((p->nodes - 1) / MAX_OF(p->policies, 1u), 3u), 1u);
}

static void draw_policies(struct prng *r, struct fleet_plan *p) {
    p->policies = chance(r, 20) ? 0 : p->nodes < 4 || chance(r, 75) ? 1 : 2;
    for (unsigned i = 0; i < p->policies; i++) {
        struct fleet_policy *one = &p->policy[i];
        (void)snprintf(one->name, sizeof one->name, "%s",
                       p->policies == 1 ? "default"
                       : i              ? "b"
                                        : "a");
        (void)snprintf(one->pool, sizeof one->pool, "%s", p->policies == 1 ? "" : one->name);
        one->percent = chance(r, 15);
        one->max =
            one->percent ? (unsigned)pick(r, 20, 50) : (unsigned)pick(r, 1, fleet_plan_most(p));
        one->impatient = chance(r, 20);
        one->max_zones = chance(r, 20) ? (unsigned)pick(r, 1, 2) : 0;
    }
}

void fleet_plan_draw(uint64_t seed, struct fleet_plan *p) {
    struct prng random = {seed * 0x9e3779b97f4a7c15u + 11}, *r = &random;
    static const double shares[] = {0, 0.03, 0.1, 0.25};
    *p = (struct fleet_plan){.seed = seed};
    p->nodes = (unsigned)pick(r, 3, FLEET_NODES - 1);
    p->replicas = (unsigned)pick(r, 1, FLEET_REPLICAS);
    draw_policies(r, p);
    for (unsigned i = 0; i < p->nodes; i++)
        p->client[i] = chance(r, 55);
    p->rounds = (unsigned)pick(r, 1, 3);
    p->ask_every = SEC(pick(r, 2, 60));
    p->deployments = (unsigned)pick(r, 1, 4);
    p->pods = (unsigned)pick(r, 1, 5);
    p->write_faults = one_of(r, shares);
    p->read_faults = p->write_faults / 2;
    p->slow = chance(r, 8);
    p->skewed = chance(r, 25);
    draw_events(r, p);
    p->rate = chance(r, 50) ? 20 : (unsigned)pick(r, 1, 3); /* the default, or one that is felt */
}

void fleet_plan_done(struct fleet_plan *p) {
    vec_done(&p->events);
}

const struct fleet_policy *fleet_policy_of(const struct fleet_plan *p, unsigned node) {
    return !p->policies ? NULL : &p->policy[p->policies == 1 ? 0 : node % 2];
}

void fleet_plan_print(const struct fleet_plan *p, struct str *out) {
    str_addf(out,
             "seed %" PRIu64 ": %u nodes, %u replicas, %u deployments of %u pods, faults %.2f%s%s, "
             "%u evictions a second\n",
             p->seed, p->nodes, p->replicas, p->deployments, p->pods, p->write_faults,
             p->slow ? ", slow" : "", p->skewed ? ", clocks differ" : "", p->rate);
    for (unsigned i = 0; i < p->policies; i++)
        str_addf(out, "policy %s: pool \"%s\", max %u%s, zones %u\n", p->policy[i].name,
                 p->policy[i].pool, p->policy[i].max, p->policy[i].percent ? "%" : "",
                 p->policy[i].max_zones);
    str_add(out, "clients:");
    for (unsigned i = 0; i < p->nodes; i++)
        if (p->client[i])
            str_addf(out, " w%u", i + 1);
    str_addf(out, ", %u rounds, every %.0f s\n", p->rounds, (double)p->ask_every / 1e6);
    for (size_t i = 0; i < p->events.len; i++)
        str_addf(out, "%9.3f %s %u for %.1f s%s%s\n", (double)p->events.p[i].after / 1e6,
                 fleet_act_word(p->events.p[i].act), p->events.p[i].pick,
                 (double)p->events.p[i].lasts / 1e6, p->events.p[i].moment ? ", when " : "",
                 strna(p->events.p[i].moment));
}
