/* The oracle's own idea of Kubernetes: which pods a drain touches (kubectl's filters), what a
 * budget wants (the disruption controller's arithmetic), what the rules and the cordon record say.
 *
 * Written from kubectl pkg/drain/filters.go, pkg/controller/disruption/disruption.go and the
 * comment in the rules' file format; not from the engine. */
#include "oracle_internal.h"

#define MIRROR "kubernetes.io/config.mirror"

bool model_ready(const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "Ready");
    return c && str_same(c->status, "True");
}

bool model_finished(const struct pod *pod) {
    return str_same(pod->phase, "Succeeded") || str_same(pod->phase, "Failed");
}

static const char *annotation(const struct pod *pod, const char *key) {
    for (size_t i = 0; i < list_len(pod->meta.annotations); i++)
        if (streq(pod->meta.annotations[i].key, key))
            return strna(pod->meta.annotations[i].value);
    return NULL;
}

static const char *label(const struct pod *pod, const char *key) {
    for (size_t i = 0; i < list_len(pod->meta.labels); i++)
        if (streq(pod->meta.labels[i].key, key))
            return pod->meta.labels[i].value;
    return NULL;
}

/* --- rules --- */

const struct plan_rule *model_rule(const struct oracle *o, const struct pod *pod) {
    const struct owner *owner = meta_controller(&pod->meta);
    for (size_t i = 0; i < o->plan->rules.len; i++) {
        const struct plan_rule *r = &o->plan->rules.p[i];
        if (*r->ns && !str_same(r->ns, pod->meta.ns))
            continue;
        if (*r->app && !str_same(r->app, label(pod, "app")))
            continue;
        if (r->owner && !streq(r->owner, owner ? strna(owner->kind) : "Bare"))
            continue;
        return r;
    }
    return NULL;
}

int model_order(const struct oracle *o, const struct pod *pod) {
    const struct plan_rule *r = model_rule(o, pod);
    return r ? r->order : 0;
}

/* What other tools write on a pod that must not be disturbed. */
static bool marked(const struct oracle *o, const struct pod *pod) {
    return !o->plan->marks_ignored &&
           (str_same(annotation(pod, "karpenter.sh/do-not-disrupt"), "true") ||
            str_same(annotation(pod, "cluster-autoscaler.kubernetes.io/safe-to-evict"), "false"));
}

/* --- filters --- */

static enum fate fate_of(const struct oracle *o, const struct pod *pod, bool finished) {
    const struct plan *p = o->plan;
    const struct owner *owner = meta_controller(&pod->meta);
    if (*p->selector && !requirements_match(o->selector.list, pod->meta.labels))
        return FATE_STAYS;
    /* The marks of others come before the rules of the file: whoever knows the pod wrote them. */
    const struct plan_rule *rule = model_rule(o, pod);
    bool held = !finished && marked(o, pod);
    if (rule && rule->action == PLAN_SKIP && !held)
        return FATE_STAYS;
    if (owner && str_same(owner->kind, "DaemonSet") && !finished) {
        bool there = !str_same(owner->api_version, "apps/v1"); /* of others nobody can tell */
        for (size_t i = 0; i < o->daemon_sets.len; i++) {
            const struct record *d = o->daemon_sets.p[i].last;
            there |= d && str_same(d->obj->meta.ns, pod->meta.ns) &&
                     str_same(d->obj->meta.name, owner->name);
        }
        if (there)
            return p->ignore_daemonsets ? FATE_STAYS : FATE_REFUSES;
        if (!p->force)
            return FATE_REFUSES;
        /* An orphan that may go: the other filters look at it, too. */
    }
    if (annotation(pod, MIRROR))
        return FATE_STAYS;
    bool local = false;
    for (size_t i = 0; pod->spec && i < list_len(pod->spec->volumes); i++)
        local |= pod->spec->volumes[i].empty_dir;
    if (!finished && ((local && !p->delete_emptydir) || (!owner && !p->force)))
        return FATE_REFUSES;
    if (held)
        return FATE_WAITS;
    if (rule && rule->action == PLAN_WAIT && !finished)
        return FATE_WAITS;
    return FATE_GOES;
}

enum fate oracle_fate(const struct oracle *o, const struct pod *pod) {
    return fate_of(o, pod, model_finished(pod));
}

bool oracle_needs_flag(const struct oracle *o, const struct pod *pod) {
    return fate_of(o, pod, false) == FATE_REFUSES;
}

/* --- budgets --- */

bool model_selects(const struct pdb *pdb, const struct pod *pod) {
    return str_same(pdb->meta.ns, pod->meta.ns) && selector_match(pdb->selector, pod->meta.labels);
}

unsigned oracle_budgets_of(const struct oracle *o, const struct pod *pod) {
    unsigned n = 0;
    for (size_t i = 0; i < o->budgets.len; i++)
        n += o->budgets.p[i].last && model_selects(record_as(pdb, o->budgets.p[i].last), pod);
    return n;
}

/* The scale of a pod's controller, and its identity; -1 when it has none that scales. */
static int64_t scale_of(const struct oracle *o, const struct pod *pod, const char **uid) {
    const struct owner *owner = meta_controller(&pod->meta);
    if (!owner)
        return -1;
    if (str_same(owner->kind, "StatefulSet"))
        for (size_t i = 0; i < o->stateful_sets.len; i++) {
            const struct record *r = o->stateful_sets.p[i].last;
            if (!r || !str_same(r->obj->meta.uid, owner->uid))
                continue;
            int32_t n = record_as(stateful_set, r)->replicas;
            *uid = owner->uid;
            return n == ABSENT32 ? 1 : n;
        }
    if (!str_same(owner->kind, "ReplicaSet"))
        return -1;
    for (size_t i = 0; i < o->replica_sets.len; i++) {
        const struct record *r = o->replica_sets.p[i].last;
        if (!r || !str_same(r->obj->meta.uid, owner->uid))
            continue;
        int32_t n = record_as(replica_set, r)->replicas;
        *uid = owner->uid;
        const struct owner *above = meta_controller(&r->obj->meta);
        for (size_t k = 0; above && k < o->deployments.len; k++) {
            const struct record *d = o->deployments.p[k].last;
            if (d && str_same(d->obj->meta.uid, above->uid)) {
                n = record_as(deployment, d)->replicas;
                *uid = above->uid;
            }
        }
        return n == ABSENT32 ? 1 : n;
    }
    return -1;
}

static int64_t percent_up(int64_t percent, int64_t of) {
    return (percent * of + 99) / 100;
}

/* "25%" or 3, of so many. */
static int64_t intstr_of(const struct intstr *v, int64_t of) {
    return v->str ? percent_up(strtoll(v->str, NULL, 10), of) : v->val;
}

bool model_budget(const struct oracle *o, const struct pdb *pdb, int64_t *healthy,
                  int64_t *desired) {
    int64_t matched = 0, scale = 0;
    VEC(const char *) seen = VEC_INIT;
    *healthy = 0;
    bool known = true;
    for (size_t i = 0; i < o->pods.len; i++) {
        const struct oracle_pod *p = o->pods.p[i];
        const struct pod *pod = p->gone ? NULL : record_as(pod, p->last);
        if (!pod || !model_selects(pdb, pod))
            continue;
        matched++;
        *healthy += !pod->meta.deleted && model_ready(pod);
        const char *uid = NULL;
        int64_t n = scale_of(o, pod, &uid);
        if (!uid) {
            known &= !meta_controller(&pod->meta); /* of a Job, for instance */
            continue;
        }
        bool again = false;
        for (size_t k = 0; k < seen.len; k++)
            again |= streq(seen.p[k], uid);
        if (!again) {
            *vec_push(&seen) = uid;
            scale += n;
        }
    }
    vec_done(&seen);
    if (pdb->max_unavailable.set) {
        *desired = MAX_OF(scale - intstr_of(&pdb->max_unavailable, scale), 0);
    } else if (pdb->min_available.set && pdb->min_available.str) {
        *desired = intstr_of(&pdb->min_available, scale);
    } else {
        *desired = pdb->min_available.set ? pdb->min_available.val : 0;
        known = true; /* owners are not asked */
    }
    return known;
}

/* --- the cordon record --- */

/* What clocks, and the controller that sets the taint, may differ by. */
#define CORDON_LATER SEC(60)

static int64_t time_in(const json_t *obj, const char *key) {
    const char *text = json_str(obj, key);
    int64_t t = 0;
    return text && time_parse(text, strlen(text), &t) ? t : 0;
}

/* When the node was cordoned, by the taint that the node's controller sets; 0: it has none. */
static int64_t cordoned_at(const json_t *node) {
    size_t i;
    json_t *taint;
    json_array_foreach(json_object_get(json_object_get(node, "spec"), "taints"), i, taint) {
        if (str_same(json_str(taint, "key"), "node.kubernetes.io/unschedulable"))
            return time_in(taint, "timeAdded");
    }
    return 0;
}

static bool is_earlier(const json_t *node, const json_t *holders) {
    size_t i;
    json_t *holder;
    int64_t at = cordoned_at(node), last = 0;
    json_array_foreach(holders, i, holder) {
        int64_t since = time_in(holder, "since");
        if (!since)
            return false;
        last = MAX_OF(last, since);
    }
    return at && last && at - last > CORDON_LATER;
}

void cordon_record_read(const struct record *node, struct cordon_record *out) {
    *out = (struct cordon_record){0};
    _cleanup_json_ json_t *obj = record_json(node);
    const char *text = json_str(json_object_get(json_object_get(obj, "metadata"), "annotations"),
                                "slipway.dev/cordon");
    if (!text)
        return;
    out->there = true;
    out->value = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *version = json_object_get(out->value, "v");
    const json_t *before = json_object_get(out->value, "before");
    out->holders = json_object_get(out->value, "holders");
    out->readable = json_is_integer(version) && json_integer_value(version) == 1 &&
                    json_is_boolean(before) && json_is_array(out->holders);
    out->before = json_is_true(before);
    out->earlier = out->readable && is_earlier(obj, out->holders);
}

void cordon_record_done(struct cordon_record *c) {
    json_decref(c->value);
}

bool cordon_record_has(const struct cordon_record *c, const char *id) {
    for (size_t i = 0; c->readable && i < json_array_size(c->holders); i++)
        if (str_same(json_str(json_array_get(c->holders, i), "id"), id))
            return true;
    return false;
}
