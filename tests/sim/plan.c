/* Drawing what a seed is about, and saying it. */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/timefmt.h"
#include "draw.h"

const char *const plan_namespaces[PLAN_NAMESPACES] = {"a", "b", "c"};

static const char *const act_words[ACTS] = {
    [ACT_UNCORDON] = "uncordon",
    [ACT_UNCORDON_CLEANLY] = "uncordon-cleanly",
    [ACT_CORDON] = "cordon",
    [ACT_HOLD] = "hold",
    [ACT_TOUCH_NODE] = "touch-node",
    [ACT_LATE_POD] = "late-pod",
    [ACT_LATE_TOLERANT] = "late-tolerant-pod",
    [ACT_DELETE_POD] = "delete-pod",
    [ACT_SCALE] = "scale",
    [ACT_BUDGET] = "budget",
    [ACT_HANG] = "hang",
    [ACT_WAKE] = "wake",
    [ACT_COMPACT] = "compact",
    [ACT_RELEASE] = "release",
    [ACT_KILL] = "kill",
    [ACT_STOP] = "stop",
};

const char *plan_act_word(enum plan_act act) {
    return act_words[act];
}

static void add_event(struct plan *p, int64_t after, enum plan_act act, unsigned which) {
    size_t at = p->events.len;
    (void)vec_push(&p->events);
    while (at && p->events.p[at - 1].after > after) {
        p->events.p[at] = p->events.p[at - 1];
        at--;
    }
    p->events.p[at] = (struct plan_event){after, act, which};
}

static const char *const action_words[] = {"evict", "skip", "wait"};

static void draw_rules(struct prng *r, struct plan *p) {
    struct str text = STR_INIT;
    p->marks_ignored = chance(r, 40);
    str_addf(&text, "apiVersion: slipway.dev/v1alpha1\nkind: DrainRules\nmarks: %s\nrules:\n",
             p->marks_ignored ? "ignore" : "honour");
    int n = (int)pick(r, 1, 3);
    for (int i = 0; i < n; i++) {
        struct plan_rule *rule = vec_push(&p->rules);
        *rule = (struct plan_rule){.grace = -1, .delete_after = -1, .force_after = -1};
        str_addf(&text, "- name: rule-%d\n  match:\n", i);
        (void)snprintf(rule->ns, sizeof rule->ns, "%s", one_of(r, plan_namespaces));
        str_addf(&text, "    namespaces: [%s]\n", rule->ns);
        if (chance(r, 30)) {
            (void)snprintf(rule->app, sizeof rule->app, "app-%d", (int)pick(r, 0, 4));
            str_addf(&text, "    labels: {matchLabels: {app: %s}}\n", rule->app);
        }
        if (chance(r, 30)) {
            static const char *const owners[] = {"StatefulSet", "ReplicaSet", "Job", "Bare"};
            rule->owner = one_of(r, owners);
            str_addf(&text, "    owners: [%s]\n", rule->owner);
        }
        rule->action = chance(r, 70) ? PLAN_EVICT : p->benign ? PLAN_SKIP : chance(r, 50);
        if (rule->action == PLAN_EVICT && !p->benign && chance(r, 20))
            rule->action = PLAN_WAIT;
        if (rule->action != PLAN_SKIP && chance(r, 50)) {
            rule->order = (int)pick(r, -5, 20);
            str_addf(&text, "  order: %d\n", rule->order);
        }
        str_addf(&text, "  action: %s\n", action_words[rule->action]);
        if (rule->action != PLAN_EVICT)
            continue;
        if (chance(r, 30)) {
            rule->grace = pick(r, 1, 20);
            str_addf(&text, "  grace: %" PRId64 "s\n", rule->grace);
        }
        if (chance(r, 50)) {
            rule->delete_after = SEC(pick(r, 5, 60));
            str_addf(&text, "  escalate:\n  - {after: %" PRId64 "s, to: delete}\n",
                     rule->delete_after / SEC(1));
            if (chance(r, 50)) {
                rule->force_after = rule->delete_after + SEC(pick(r, 5, 60));
                str_addf(&text, "  - {after: %" PRId64 "s, to: force}\n",
                         rule->force_after / SEC(1));
            }
        }
        if (!p->benign && chance(r, 20)) {
            rule->deadline =
                MAX_OF(MAX_OF(rule->delete_after, rule->force_after), 0) + SEC(pick(r, 60, 200));
            str_addf(&text, "  deadline: %" PRId64 "s\n", rule->deadline / SEC(1));
        }
    }
    p->rules_text = str_take(&text);
}

/* What may happen in a cluster whose drain must succeed all the same. */
static const enum plan_act harmless[] = {ACT_TOUCH_NODE, ACT_TOUCH_NODE, ACT_HOLD,   ACT_CORDON,
                                         ACT_DELETE_POD, ACT_SCALE,      ACT_COMPACT};
static const enum plan_act harmful[] = {
    ACT_UNCORDON,      ACT_UNCORDON,   ACT_UNCORDON_CLEANLY, ACT_LATE_POD,
    ACT_LATE_TOLERANT, ACT_DELETE_POD, ACT_BUDGET,           ACT_HANG,
    ACT_RELEASE,       ACT_TOUCH_NODE,
};

static void draw_events(struct prng *r, struct plan *p) {
    int n = chance(r, 40) ? 0 : (int)pick(r, 1, 5);
    for (int i = 0; i < n; i++) {
        /* Most drains are short: what is to meet them must come early. */
        int64_t after = chance(r, 60) ? MSEC(pick(r, 10, 8000)) : MSEC(pick(r, 10, 90000));
        bool mild = p->benign || chance(r, 50);
        enum plan_act act = mild ? one_of(r, harmless) : one_of(r, harmful);
        unsigned which = (unsigned)pick(r, 0, 1000);
        add_event(p, after, act, which);
        if (act == ACT_HANG)
            add_event(p, after + SEC(pick(r, 5, 200)), ACT_WAKE, which);
    }
    if (chance(r, 50))
        for (int i = (int)pick(r, 1, 3); i > 0; i--)
            add_event(p, chance(r, 70) ? MSEC(pick(r, 1, 6000)) : MSEC(pick(r, 1, 100000)),
                      ACT_KILL, 0);
    else if (chance(r, 35)) {
        p->stop_at = (unsigned)pick(r, 1, 4);
        add_event(p, MSEC(pick(r, 1, 20000)), ACT_STOP, 0);
    }
}

void plan_draw(uint64_t seed, struct plan *p) {
    struct prng rs = {seed * 0x9e3779b97f4a7c15u + 1}, *r = &rs;
    *p = (struct plan){.seed = seed, .grace = -1};
    p->benign = chance(r, 45);
    p->nodes = (unsigned)pick(r, 3, 8);
    unsigned targets = (unsigned)(chance(r, 50) ? 1 : pick(r, 1, p->nodes - 1));
    unsigned first = (unsigned)pick(r, 0, p->nodes - 1);
    for (unsigned i = 0; i < targets; i++)
        *vec_push(&p->targets) = xasprintf("w%u", (first + i) % p->nodes + 1);
    if (chance(r, 1))
        *vec_push(&p->targets) = xstrdup("nosuch");
    p->force = chance(r, 75);
    p->delete_emptydir = chance(r, 80);
    p->ignore_daemonsets = chance(r, 93);
    p->disable_eviction = chance(r, 14);
    if (chance(r, 15))
        p->grace = chance(r, 25) ? 0 : pick(r, 1, 15);
    if (!p->benign || chance(r, 10))
        p->timeout = SEC(pick(r, 20, 240));
    if (chance(r, 8))
        p->skip_wait = pick(r, 1, 20);
    if (chance(r, 8))
        (void)snprintf(p->selector, sizeof p->selector, chance(r, 50) ? "app!=app-1" : "tier=x");
    p->dry_run = chance(r, 3);
    if (chance(r, 30))
        p->max_unavailable = (unsigned)pick(r, 1, 3);
    if (chance(r, 20))
        p->parallel = (unsigned)pick(r, 1, 3);
    if (chance(r, 10))
        p->max_zones = 1;
    p->rate = chance(r, 20) ? 0 : chance(r, 40) ? (double)pick(r, 1, 5) : 20;
    p->detach_timeout = p->benign ? 0 : chance(r, 30) ? SEC(pick(r, 10, 60)) : 0;
    p->surge = chance(r, 60);
    p->wait_rescheduled = chance(r, 15);
    p->uncordon_on_abort = chance(r, 30);
    p->uncordon_when_done = chance(r, 5);
    p->keep_record = chance(r, 85);
    if (chance(r, 35))
        draw_rules(r, p);
    p->slow = chance(r, 20);
    draw_events(r, p);
    static const double shares[] = {0, 0.05, 0.15, 0.3, 0.3, 0.5, 0.6};
    p->write_faults = one_of(r, shares);
    p->read_faults = one_of(r, shares);
    p->faults_end = SEC(pick(r, 5, 150));
    p->no_watch = chance(r, 3);
    p->avoid_next = chance(r, 60);
}

void plan_done(struct plan *p) {
    for (size_t i = 0; i < p->targets.len; i++)
        free(p->targets.p[i]);
    vec_done(&p->targets);
    vec_done(&p->rules);
    vec_done(&p->events);
    free(p->rules_text);
    *p = (struct plan){0};
}

void plan_print(const struct plan *p, struct str *out) {
    str_addf(out, "seed %" PRIu64 ": %u nodes, %s; targets", p->seed, p->nodes,
             p->benign ? "nothing in the way" : "trouble ahead");
    for (size_t i = 0; i < p->targets.len; i++)
        str_addf(out, " %s", p->targets.p[i]);
    str_addf(out,
             "\n  force=%d emptydir=%d daemonsets=%d delete=%d grace=%" PRId64 " timeout=%" PRId64
             "s skip=%" PRId64 " selector='%s' dry=%d unavailable=%u parallel=%u zones=%u rate=%g "
             "detach=%" PRId64 "s surge=%d rescheduled=%d undo=%d/%d record=%d avoid=%d\n",
             p->force, p->delete_emptydir, p->ignore_daemonsets, p->disable_eviction, p->grace,
             p->timeout / SEC(1), p->skip_wait, p->selector, p->dry_run, p->max_unavailable,
             p->parallel, p->max_zones, p->rate, p->detach_timeout / SEC(1), p->surge,
             p->wait_rescheduled, p->uncordon_on_abort, p->uncordon_when_done, p->keep_record,
             p->avoid_next);
    str_addf(out, "  faults: writes %g reads %g until %" PRId64 "s%s%s\n", p->write_faults,
             p->read_faults, p->faults_end / SEC(1), p->no_watch ? ", no watches" : "",
             p->slow ? ", slow" : "");
    for (size_t i = 0; i < p->events.len; i++)
        str_addf(out, "  %.3f %s %u\n", (double)p->events.p[i].after / 1e6,
                 act_words[p->events.p[i].act], p->events.p[i].pick);
    if (p->rules_text)
        str_add(out, p->rules_text);
}
