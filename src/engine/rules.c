/* What the drain rules say about a pod. */
#include "engine/rules_internal.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "base/yamlread.h"
#include "engine/podrole.h"
#include "model/selector.h"

const struct rule_verdict rules_nothing_said = {
    .action = RULE_EVICT,
    .name = "",
    .grace = -1,
    .delete_after = -1,
    .force_after = -1,
};

/* All references end together, with the pool. */
static void keep(struct pool *pool, const void *tag, const void *data, size_t len) {
    (void)pool;
    (void)tag;
    (void)data;
    (void)len;
}

struct rules *rules_new(void) {
    struct rules *r = xnew(struct rules);
    r->pool = pool_new(keep);
    r->honour = true;
    return r;
}

void rules_free(struct rules *r) {
    if (!r)
        return;
    for (size_t i = 0; i < r->list.len; i++) {
        free(r->list.p[i].name);
        yaml_strs_free(r->list.p[i].namespaces);
        yaml_strs_free(r->list.p[i].owners);
    }
    vec_done(&r->list);
    pool_free(r->pool);
    free(r);
}

/* --- matching --- */

/* Goes back to the last star only, so that the time is bounded by the product of the lengths. */
bool rules_glob(const char *pattern, const char *text) {
    const char *star = NULL, *again = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool any_glob(char *const *patterns, const char *text) {
    for (; *patterns; patterns++)
        if (rules_glob(*patterns, text))
            return true;
    return false;
}

static bool any_owner(char *const *owners, const struct pod *pod) {
    const struct owner *owner = meta_controller(&pod->meta);
    const char *kind = owner ? strna(owner->kind) : RULES_BARE;
    for (; *owners; owners++)
        if (streq(*owners, kind))
            return true;
    return false;
}

/* 0 is what the server takes a pod without a priority for. */
static int64_t priority(const struct pod *pod) {
    return pod->spec && pod->spec->priority != ABSENT32 ? pod->spec->priority : 0;
}

static bool matches(const struct rule *rule, const struct pod *pod) {
    int64_t p = priority(pod);
    return (!rule->namespaces || any_glob(rule->namespaces, strna(pod->meta.ns))) &&
           (!rule->owners || any_owner(rule->owners, pod)) && p >= rule->min_priority &&
           p <= rule->max_priority &&
           (!rule->has_labels || selector_match(&rule->labels, pod->meta.labels));
}

/* --- the marks of others --- */

/* Cluster API reads "skip", and "wait-completed" with or without its dash, in upper or lower case.
 */
static bool means_skip(const char *value) {
    return strcasecmp(value, "skip") == 0;
}
static bool means_wait(const char *value) {
    return strcasecmp(value, "wait-completed") == 0 || strcasecmp(value, "waitcompleted") == 0;
}
static bool means_false(const char *value) {
    return streq(value, "false");
}
/* Karpenter takes "true", and since 1.12 the time for which the pod is protected, counted from its
 * start. There is no clock here, and protecting for too long does less harm than not at all. */
static bool is_set(const char *value) {
    return !streq(value, "false");
}

/* The strongest first: a pod that is held must not be left behind on a node that will be switched
 * off. */
static const struct mark {
    enum rule_action action;
    bool label; /* else an annotation */
    const char *key;
    bool (*means)(const char *value);
    const char *name;
} marks[] = {
    {RULE_HOLD, false, "cluster-autoscaler.kubernetes.io/safe-to-evict", means_false,
     "cluster-autoscaler.kubernetes.io/safe-to-evict=false"},
    {RULE_HOLD, false, "karpenter.sh/do-not-disrupt", is_set, "karpenter.sh/do-not-disrupt"},
    {RULE_WAIT, true, "cluster.x-k8s.io/drain", means_wait,
     "cluster.x-k8s.io/drain=wait-completed"},
    {RULE_SKIP, true, "cluster.x-k8s.io/drain", means_skip, "cluster.x-k8s.io/drain=skip"},
};

static const struct mark *find_mark(const struct pod *pod) {
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        const struct mark *m = &marks[i];
        const char *value = map_get(m->label ? pod->meta.labels : pod->meta.annotations, m->key);
        if (value && m->means(value))
            return m;
    }
    return NULL;
}

/* Its place in the order and its deadline stay the rule's; what the rule would do to the pod does
 * not. */
static void obey(const struct mark *m, struct rule_verdict *v) {
    v->action = m->action;
    v->name = m->name;
    v->grace = -1;
    v->delete_after = v->force_after = -1;
}

/* --- verdicts --- */

void rules_apply(const struct rules *r, const struct pod *pod, struct rule_verdict *out) {
    const struct rule *rule = NULL;
    for (size_t i = 0; i < r->list.len && !rule; i++)
        if (matches(&r->list.p[i], pod))
            rule = &r->list.p[i];
    *out = rule ? rule->says : rules_nothing_said;

    bool honour = rule && rule->marks != MARKS_AS_FILE ? rule->marks == MARKS_HONOUR : r->honour;
    bool finished = pod_finished(pod);
    const struct mark *mark = honour ? find_mark(pod) : NULL;
    /* Of a pod that has finished nothing is left to protect or to wait for. */
    if (mark && (!finished || mark->action == RULE_SKIP))
        obey(mark, out);
    if (finished && out->action == RULE_WAIT)
        out->action = RULE_EVICT;
    if (map_has(pod->meta.labels, RULES_OWN_LABEL))
        out->order = INT32_MAX;
}
