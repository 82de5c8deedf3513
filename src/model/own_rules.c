/* What values of Slipway's own custom resources have to be. */
#include "model/own_rules.h"

#include <string.h>

#include "base/mem.h"
#include "base/nodeset.h"
#include "base/timefmt.h"
#include "model/own.h"
#include "model/selector.h"

/* --- texts and numbers --- */

/* As many digits before the point as a year of that unit has: a server that adds more up has no
 * room for the sum, and says so in words of its own. */
static bool has_too_many_digits(const char *s) {
    static const char digits[] = "0123456789";
    while (*s) {
        size_t n = strspn(s, digits);
        s += n;
        if (*s == '.')
            s += 1 + strspn(s + 1, digits);
        size_t unit = strspn(s, "hms");
        size_t most = *s == 'h' ? 4 : *s == 's' ? 8 : unit > 1 ? 11 : 6;
        if (!unit || n > most)
            return true;
        s += unit;
    }
    return false;
}

static bool is_duration(const void *text) {
    int64_t time = 0;
    const char *s = text;
    if (*s < '0' || *s > '9' || !strpbrk(s, "hms") || strspn(s, "0123456789.hms") < strlen(s) ||
        has_too_many_digits(s))
        return false;
    return !duration_parse(s, &time, NULL) && time >= 0 && time <= SEC(86400 * 365);
}

static bool is_count(const void *value) {
    const struct intstr *v = value;
    if (!v->is_str)
        return v->val >= 0 && v->val <= OWN_NODES_MAX;
    const char *s = strna(v->str);
    size_t digits = strspn(s, "0123456789");
    if (!digits || digits > 3 || (digits > 1 && *s == '0') || !streq(s + digits, "%"))
        return false;
    return digits < 3 || streq(s, "100%");
}

static bool is_group(const void *text) {
    static const char *const letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
    const char *s = text;
    return *s && strspn(s, letters) == strlen(s);
}

/* 32 digits, or with the dashes of a UUID. */
static bool is_app_id(const void *text) {
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const char *s = text;
    bool dashes = strchr(s, '-');
    for (const char *f = form; *f; f++) {
        if (*f == '-' && !dashes)
            continue;
        if (*f == '-' ? *s != '-' : !*s || !strchr("0123456789abcdefABCDEF", *s))
            return false;
        s++;
    }
    return !*s;
}

static bool is_node_name(const void *text) {
    static const char *const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    const char *s = text;
    size_t len = strlen(s);
    return len && strchr(letters, s[0]) && strchr(letters, s[len - 1]) &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.-") == len;
}

static bool is_url(const void *text) {
    const char *s = text;
    const char *host = str_starts(s, "http://") ? s + 7 : str_starts(s, "https://") ? s + 8 : "";
    return *host && !strchr("/?#:", *host) && !strpbrk(s, " \t\r\n");
}

static bool is_node_set(const void *text) {
    _cleanup_nodeset_ struct nodeset set = NODESET_INIT;
    return !nodeset_parse(text, NULL, NULL, &set, NULL) && !nodeset_empty(&set);
}

const struct own_rule own_duration_rules[] = {
    {"self.matches('^([0-9]{1,4}([.][0-9]+)?h|[0-9]{1,6}([.][0-9]+)?m|[0-9]{1,8}([.][0-9]+)?s|"
     "[0-9]{1,11}([.][0-9]+)?ms)+$') && duration(self) <= duration('8760h')",
     "must be a duration such as 30s, 5m or 1h30m, and no longer than a year", is_duration},
    {0}};
const struct own_rule own_count_rules[] = {
    {"type(self) == int ? self >= 0 && self <= 1000000 : "
     "self.matches('^([0-9]|[1-9][0-9]|100)%$')",
     "must be a number of nodes such as 1, at most 1000000, or a percentage such as 10%", is_count},
    {0}};
const struct own_rule own_group_rules[] = {
    {"self.matches('^[a-zA-Z0-9.-]+$')",
     "a FleetLock group has letters, digits, dots and dashes in it and nothing else", is_group},
    {0}};
const struct own_rule own_app_id_rules[] = {
    {"self.matches('^([0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$')",
     "an application's id has 32 hexadecimal digits, with the dashes of a UUID or without",
     is_app_id},
    {0}};
const struct own_rule own_node_name_rules[] = {
    {"self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",
     "must be the name of a node: a-z, 0-9, \"-\" and \".\"", is_node_name},
    {0}};
const struct own_rule own_url_rules[] = {
    {"isURL(self) && url(self).getScheme() in ['http', 'https'] && url(self).getHost() != ''",
     "must be a URL that begins with http:// or https://", is_url},
    {0}};
const struct own_rule own_node_set_rules[] = {
    {NULL, "must be the name of a node, or a set of names such as w[1-20]", is_node_set}, {0}};

/* --- label selectors --- */

/* Keys and values are judged with the whole selector: they have a sentence of their own. */
static bool is_requirement(const void *value) {
    const struct requirement *r = value;
    bool set = str_same(r->op, "In") || str_same(r->op, "NotIn");
    return set == (list_len(r->values) > 0);
}

static bool is_selector(const void *value) {
    return !selector_check(value, NULL);
}

const struct own_rule own_requirement_rules[] = {
    {"(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
     "In and NotIn need values, Exists and DoesNotExist have none", is_requirement},
    {0}};

const struct own_rule own_selector_rules[] = {
    {NULL, "must be a label selector with valid keys and values", is_selector}, {0}};

/* --- drain rules: whoever reads them (engine/rules_parse.c) decides without the server --- */

const struct own_rule own_priority_rules[] = {
    {"!has(self.min) || !has(self.max) || self.min <= self.max",
     "min must not be greater than max: nothing would match", NULL},
    {0}};

const struct own_rule own_steps_rules[] = {
    {"size(self) < 2 || self[0].to == 'delete'",
     "delete must come before force: after it nothing is left to delete", NULL},
    {0}};

const struct own_rule own_rule_rules[] = {
    {"!has(self.action) || self.action != 'skip' || !(has(self.order) || has(self.grace) || "
     "has(self.deadline) || has(self.escalate))",
     "order, grace, deadline and escalate mean nothing with action skip: the pod is left alone",
     NULL},
    {"!has(self.action) || self.action != 'wait' || !(has(self.grace) || has(self.escalate))",
     "grace and escalate mean nothing with action wait: the pod is waited for and not evicted",
     NULL},
    {0}};

/* --- executors --- */

static bool is_one_executor(const void *value) {
    const struct own_executor *e = value;
    return e->fleetlock + e->sim + (e->exec != NULL) + (e->http != NULL) == 1;
}
const struct own_rule own_executor_rules[] = {
    {"[has(self.fleetlock), has(self.exec), has(self.http), has(self.sim)].filter(x, x).size() == "
     "1",
     "name one executor: fleetlock, exec, http or sim", is_one_executor},
    {0}};

/* The operation and who does it must fit together: the same of a Maintenance and a Rollout. */
static bool executor_fits(const char *operation, const struct own_executor *e) {
    return str_same(operation, "Drain") == !e;
}
static bool fleetlock_fits(const char *operation, const struct own_executor *e) {
    return !e || !e->fleetlock || str_same(operation, "Reboot");
}
#define EXECUTOR_RULES(fits_, fleetlock_fits_)                                                     \
    {"(self.operation == 'Drain') != has(self.executor)",                                          \
     "Reboot and Shutdown need an executor, which carries them out; Drain has none", (fits_)},     \
    {                                                                                              \
        "!has(self.executor) || !has(self.executor.fleetlock) || self.operation == 'Reboot'",      \
            "executor fleetlock goes with the operation Reboot alone: its clients do nothing "     \
            "else",                                                                                \
            (fleetlock_fits_)                                                                      \
    }

/* --- Maintenances --- */

static bool maintenance_executor(const void *value) {
    const struct maintenance *m = value;
    return executor_fits(m->operation, m->executor);
}
static bool maintenance_fleetlock(const void *value) {
    const struct maintenance *m = value;
    return fleetlock_fits(m->operation, m->executor);
}
const struct own_rule own_maintenance_spec_rules[] = {
    EXECUTOR_RULES(maintenance_executor, maintenance_fleetlock), {0}};

/* --- Rollouts --- */

static bool rollout_executor(const void *value) {
    const struct rollout *r = value;
    return executor_fits(r->operation, r->executor);
}
static bool rollout_fleetlock(const void *value) {
    const struct rollout *r = value;
    return fleetlock_fits(r->operation, r->executor);
}
static bool rollout_nodes(const void *value) {
    const struct rollout *r = value;
    return (r->selector != NULL) != (r->nodes != NULL);
}
const struct own_rule own_rollout_spec_rules[] = {
    {"has(self.nodeSelector) != has(self.nodes)",
     "say which nodes: either nodeSelector or nodes, not both", rollout_nodes},
    EXECUTOR_RULES(rollout_executor, rollout_fleetlock),
    {0}};

/* --- Policies --- */

const struct own_rule own_policy_rules[] = {
    {"size(self.metadata.name) <= 239",
     "the name of a Policy has at most 239 characters: that of the object with its slots is made "
     "of it",
     NULL},
    {0}};
