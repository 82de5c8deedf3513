/* Whether a pod fits a node: the rules in the order in which kube-scheduler asks them. The first
 * that says no gives the reasons. */
#include "engine/fit_internal.h"

/* What each code says, and whether taking pods off the node could not change it. */
static const struct {
    const char *text;
    bool final;
} rows[FIT_CODES] = {
    [FIT_NO_NODE] = {"no such node", true},
    [FIT_GATED] = {"Scheduling is blocked due to non-empty scheduling gates", true},
    [FIT_POD] = {"", true},
    [FIT_NOT_ASKED] = {"node(s) didn't satisfy plugin(s) [NodeAffinity]", true},
    [FIT_UNSCHEDULABLE] = {"node(s) were unschedulable", true},
    [FIT_NODE_NAME] = {"node(s) didn't match the requested node name", true},
    [FIT_TAINT] = {"node(s) had untolerated taint(s)", true},
    [FIT_NODE_AFFINITY] = {"node(s) didn't match Pod's node affinity/selector", true},
    [FIT_PORTS] = {"node(s) didn't have free ports for the requested pod ports", false},
    [FIT_PODS] = {"Too many pods", false},
    [FIT_RESOURCE] = {"", false},
    [FIT_CLAIM_USE] = {"node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "
                       "access mode already in-use by another pod",
                       false},
    [FIT_VOLUME_COUNT] = {"node(s) exceed max volume count", false},
    [FIT_VOLUME_NODE] = {"node(s) didn't match PersistentVolume's node affinity", true},
    [FIT_VOLUME_NONE] = {"node(s) didn't find available persistent volumes to bind", true},
    [FIT_VOLUME_GONE] =
        {"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", true},
    [FIT_VOLUME_ZONE] = {"node(s) had no available volume zone", true},
    [FIT_SPREAD_LABEL] = {"node(s) didn't match pod topology spread constraints (missing required "
                          "label)",
                          true},
    [FIT_SPREAD] = {"node(s) didn't match pod topology spread constraints", false},
    [FIT_AFFINITY] = {"node(s) didn't match pod affinity rules", true},
    [FIT_ANTI_AFFINITY] = {"node(s) didn't match pod anti-affinity rules", false},
    [FIT_ANTI_AFFINITY_OF_OTHERS] = {"node(s) didn't satisfy existing pods anti-affinity rules",
                                     false},
};

bool fit_no(struct fit_ask *ask, enum fit_code code, const char *text) {
    *vec_push(&ask->reasons) = (struct fit_reason){code, text ? text : rows[code].text};
    ask->final = ask->final || rows[code].final;
    ask->codes |= 1u << code;
    return false;
}

const char *fit_text(enum fit_code code) {
    return rows[code].text;
}

uint32_t fit_codes(const struct fit *f) {
    return f->ask.codes;
}

/* --- a question --- */

void fit_ask_refresh(struct fit *f) {
    fit_ask_spread(f, &f->ask);
}

/* What is beyond all measure is refused, not half read. */
static bool fits_measure(struct fit_ask *ask) {
    const struct affinity *a = ask->spec->affinity;
    const struct pod_affinity *sides[] = {a ? a->pod : NULL, a ? a->anti : NULL};
    size_t most = list_len(ask->spec->spread);
    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (!sides[i])
            continue;
        most = MAX_OF(most, list_len(sides[i]->required));
        most = MAX_OF(most, list_len(sides[i]->preferred));
    }
    if (most <= FIT_LIST_MAX)
        return true;
    ask->trouble = "pod has more than 256 affinity terms or topology spread constraints";
    return false;
}

bool fit_ask(struct fit *f, const struct pod *pod) {
    struct fit_ask *ask = &f->ask;
    arena_reset(&ask->arena);
    ask->pod = pod;
    ask->spec = fit_spec(pod->spec);
    ask->cohort = fit_cohort_get(f, pod);
    ask->trouble = NULL;
    ask->trouble_code = FIT_POD;
    ask->reasons.len = 0;
    ask->only_some = false;
    ask->codes = 0;
    if (list_len(ask->spec->gates)) {
        ask->trouble = rows[FIT_GATED].text;
        ask->trouble_code = FIT_GATED;
        ask->codes = 1u << FIT_GATED;
        return false;
    }
    if (!fits_measure(ask) || !fit_ask_names(ask) || !fit_ask_volumes(f, ask)) {
        ask->codes = 1u << FIT_POD;
        return false;
    }
    fit_cohort_ask(f, ask->cohort);
    fit_ask_refresh(f);
    return true;
}

static bool check(struct fit *f, const struct fit_node *node) {
    struct fit_ask *ask = &f->ask;
    ask->reasons.len = 0;
    ask->final = false;
    return fit_check_unschedulable(ask, node) && fit_check_name(ask, node) &&
           fit_check_taints(ask, node) && fit_check_node_affinity(ask, node) &&
           fit_check_ports(ask, node) && fit_check_resources(ask, node) &&
           fit_check_claim_use(ask, node) && fit_check_limits(f, ask, node) &&
           fit_check_volumes(f, ask, node) && fit_check_zones(ask, node) &&
           fit_check_spread(ask, node) && fit_check_affinity(ask, node);
}

/* A pod must not take the room that was made for one at least as important. It must fit with and
 * without them: nobody knows whether they will come. */
static bool must_yield_to(const struct fit_ask *ask, const struct fit_pod *p) {
    return p->cohort->shape->priority >= ask->cohort->shape->priority &&
           !str_same(p->uid, ask->pod->meta.uid);
}

static bool check_with_nominated(struct fit *f, const struct fit_node *node_) {
    struct fit_node *node = f->nodes.p[node_->index];
    size_t n = node->pods.len;
    for (size_t i = 0; i < node->nominated.len; i++)
        if (must_yield_to(&f->ask, node->nominated.p[i]))
            fit_pod_place(f, node->nominated.p[i], node);
    bool added = node->pods.len > n, fits = true;
    if (added) {
        fit_ask_refresh(f);
        fits = check(f, node);
        while (node->pods.len > n)
            fit_pod_unplace(f, node->pods.p[node->pods.len - 1]);
        fit_ask_refresh(f);
    }
    return fits && check(f, node);
}

bool fit_ask_node(struct fit *f, const struct fit_node *node) {
    return node->nominated.len ? check_with_nominated(f, node) : check(f, node);
}

/* --- the public question --- */

static bool is_asked(const struct fit_ask *ask, const char *name) {
    for (size_t i = 0; i < ask->only.len; i++)
        if (streq(ask->only.p[i], name))
            return true;
    return !ask->only_some;
}

bool fit_check(struct fit *f, const struct pod *pod, const char *name, struct fit_verdict *out) {
    struct fit_ask *ask = &f->ask;
    const struct fit_node *node = fit_node_find(f, name);
    bool fits = false, asked = fit_ask(f, pod);
    ask->final = false;
    if (!node || !node->known)
        fit_no(ask, FIT_NO_NODE, NULL);
    else if (!asked)
        fit_no(ask, ask->trouble_code, ask->trouble);
    else if (!is_asked(ask, name))
        fit_no(ask, FIT_NOT_ASKED, NULL);
    else
        fits = fit_ask_node(f, node);
    *out = (struct fit_verdict){ask->reasons.p, ask->reasons.len, ask->final};
    return fits;
}
