/* The rules for a set of nodes. */
#include "engine/policy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "model/own_read.h"
#include "model/selector.h"

enum {
    DENY_STATUS = 404,
    RETURN_S = 1800, /* as the Policy's field has it when nobody says it */
};

struct policy_rules *policy_builtin(void) {
    struct policy_rules *r = xnew(struct policy_rules);
    *r = (struct policy_rules){.name = "default",
                               .builtin = true,
                               .max = {.value = 1},
                               .drain = rules_new(),
                               .return_timeout = SEC(RETURN_S),
                               .fleetlock = true,
                               .deny_status = DENY_STATUS,
                               .caller = CALLER_REPORT};
    return r;
}

void policy_rules_free(struct policy_rules *r) {
    if (!r)
        return;
    rules_free(r->drain);
    if (r->source)
        object_free(&kind_policy, r->pool, (struct object *)r->source);
    free(r);
}

int64_t policy_duration(const char *text) {
    int64_t usec = 0;
    _cleanup_err_ struct err err = ERR_INIT;
    if (str_empty(text) || duration_parse(text, &usec, &err))
        return 0; /* own_check() has seen to it */
    return usec;
}

/* "30%" or 3. */
static struct limit limit_of(const struct intstr *max) {
    if (!max->is_str)
        return (struct limit){.value = (unsigned)MAX_OF(max->val, 0)};
    return (struct limit){.value = (unsigned)strtoul(strna(max->str), NULL, 10), .percent = true};
}

static void read_fleetlock(struct policy_rules *r, const struct policy_fleetlock *f) {
    if (!f)
        return;
    r->fleetlock = true;
    r->groups = f->groups;
    r->deny_status = f->deny_status;
    r->unknown_group = str_same(f->unknown_group, "default");
    r->caller = str_same(f->caller_check, "off")       ? CALLER_OFF
                : str_same(f->caller_check, "enforce") ? CALLER_ENFORCE
                                                       : CALLER_REPORT;
    r->rate = f->rate == ABSENT32 ? 0 : (unsigned)f->rate;
}

static unsigned skipped(const struct policy_skip *list) {
    unsigned skip = 0;
    for (size_t i = 0; i < list_len(list); i++)
        for (size_t c = 0; c < n_checks; c++)
            skip |= streq(strna(list[i].name), checks_table[c].name) ? 1u << c : 0;
    return skip;
}

static int read_drain(struct policy_rules *r, struct err *err) {
    _cleanup_str_ struct str text = STR_INIT;
    policy_drain_rules(r->source, &text);
    return rules_parse(str_get(&text), text.len, "spec.drain", &r->drain, err);
}

int policy_rules_read(const struct policy *p, struct pool *pool, struct policy_rules **out,
                      struct err *err) {
    struct policy_rules *r = xnew(struct policy_rules);
    r->pool = pool;
    r->source = (struct policy *)object_copy(&kind_policy, (const struct object *)p);
    p = r->source;
    int rc = own_complete(own_resource(&kind_policy), pool, r->source, err);
    if (!rc)
        rc = read_drain(r, err);
    if (rc) {
        policy_rules_free(r);
        return rc;
    }
    r->name = p->meta.name;
    r->ends = p->meta.deleted;
    r->selector = p->selector;
    r->max = limit_of(&p->max_unavailable);
    r->max_zones = p->max_zones == ABSENT32 ? 0 : (unsigned)p->max_zones;
    r->down_count = true;
    r->drain_timeout = policy_duration(p->drain_timeout);
    r->release = str_same(p->escalation, "release");
    r->wait_rescheduled = p->wait_rescheduled == 1;
    r->return_timeout = policy_duration(p->return_timeout);
    r->settle = policy_duration(p->settle);
    r->soak = policy_duration(p->soak);
    r->max_failed = p->max_failed == ABSENT32 ? 0 : (unsigned)p->max_failed;
    r->checks = true;
    r->skip_checks = skipped(p->skip_checks);
    r->approval = str_same(p->approval, "required");
    r->deny_status = DENY_STATUS;
    read_fleetlock(r, p->fleetlock);
    *out = r;
    return 0;
}

bool policy_has_node(const struct policy_rules *r, const struct node *node) {
    return !r->selector || selector_match(r->selector, node->meta.labels);
}

bool policy_has_group(const struct policy_rules *r, const char *group) {
    if (!r->groups || r->unknown_group)
        return true;
    for (size_t i = 0; i < list_len(r->groups); i++)
        if (streq(r->groups[i], group))
            return true;
    return false;
}

void policy_drain_opts(const struct policy_rules *r, struct drain_opts *out) {
    *out = (struct drain_opts){
        .force = true,
        .ignore_daemonsets = true,
        .delete_emptydir = true,
        .grace = -1,
        .timeout = r->release ? r->drain_timeout : 0,
        .wait_rescheduled = r->wait_rescheduled,
        .keep_record = true,
        .skip_checks = r->skip_checks,
        .rules = r->drain,
    };
}
