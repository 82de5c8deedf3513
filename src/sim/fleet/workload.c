/* Pods of controllers. */
#include "sim/fleet/workload.h"

#include <stdlib.h>

#include "model/selector.h"

bool pod_available(const struct pod *pod, int32_t min_ready_seconds, int64_t now, int64_t *again) {
    const struct condition *c = condition_find(pod->conditions, "Ready");
    if (!c || !str_same(c->status, "True"))
        return false;
    int64_t left = min_ready_seconds > 0 ? c->changed + SEC(min_ready_seconds) - now : 0;
    if (left <= 0)
        return true;
    if (again && left < *again)
        *again = left;
    return false;
}

unsigned pod_marks_of(const struct pod *pod) {
    return MARK_KNOWN | (pod_active(pod) ? MARK_ACTIVE : 0u) | (pod_ready(pod) ? MARK_READY : 0u);
}

json_t *workload_pod(const json_t *template, const struct resource *res, const struct record *owner,
                     const char *name, const char *prefix) {
    json_t *meta = json_object();
    if (name)
        json_object_set_new(meta, "name", json_string(name));
    else
        json_object_set_new(meta, "generateName", json_string(prefix));
    json_object_set_new(meta, "namespace", json_string(strna(owner->obj->meta.ns)));
    const json_t *from = json_object_get(template, "metadata");
    static const char *const copied[] = {"labels", "annotations", "finalizers"};
    for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
        const json_t *v = json_object_get(from, copied[i]);
        if (v)
            json_object_set_new(meta, copied[i], json_deep_copy(v));
    }
    json_object_set_new(meta, "ownerReferences", json_pack("[o]", fleet_owner(res, owner)));
    return json_pack("{s:o, s:o}", "metadata", meta, "spec",
                     json_deep_copy(json_object_get(template, "spec")));
}

void pod_set_done(struct pod_set *s) {
    for (size_t i = 0; i < s->v.len; i++)
        record_unref(s->v.p[i]);
    vec_done(&s->v);
}

const char *controller_uid(const struct meta *m) {
    const struct owner *o = meta_controller(m);
    return o ? o->uid : NULL;
}

bool matcher_match(struct matcher *m, const struct pair *labels) {
    uint64_t mixed = (uint64_t)(uintptr_t)labels * UINT64_C(0x9e3779b97f4a7c15);
    __typeof__(&*m->seen) s = &m->seen[(mixed >> 32) % MATCHER_SEEN];
    if (!s->known || s->labels != labels) {
        s->known = true;
        s->labels = labels;
        s->matches = selector_match(m->selector, labels);
    }
    return s->matches;
}

/* Writes ownerReferences with or without a controller. */
static void set_owner(struct fleet *f, const struct resource *res, const struct record *owner,
                      struct record *pod, bool own) {
    json_t *obj = record_json(pod);
    json_t *list = json_object_get(meta_of(obj), "ownerReferences");
    json_t *kept = json_array(), *o;
    size_t i;
    json_array_foreach(list, i, o) if (!str_same(json_str(o, "uid"), owner->obj->meta.uid))
        json_array_append(kept, o);
    if (own)
        json_array_append_new(kept, fleet_owner(res, owner));
    json_object_set_new(meta_of(obj), "ownerReferences", kept);
    fleet_update(f, f->pods, NULL, obj, NULL);
}

void workload_claim(struct fleet *f, const struct resource *res, const struct record *owner,
                    const struct label_selector *selector,
                    bool (*adopt)(void *, const struct pod *), void *arg, struct pod_set *out) {
    const struct meta *m = &owner->obj->meta;
    struct pod_set release = {0}, take = {0};
    struct pod_list mine = pods_of_owner(f->pod_index, m->uid);
    struct matcher match = {.selector = selector};
    vec_reserve(&out->v, mine.len);
    for (size_t i = 0; i < mine.len; i++) {
        const struct pod *pod = record_as(pod, mine.p[i]);
        bool fits = matcher_match(&match, pod->meta.labels) && (!adopt || adopt(arg, pod));
        if (fits || m->deleted || pod->meta.deleted) {
            if (fits)
                *vec_push(&out->v) = record_ref(mine.p[i]);
        } else {
            *vec_push(&release.v) = record_ref(mine.p[i]);
        }
    }
    struct pod_list free_ = pods_without_owner(f->pod_index, m->ns);
    for (size_t i = 0; i < free_.len && !m->deleted; i++) {
        const struct pod *pod = record_as(pod, free_.p[i]);
        if (pod_active(pod) && matcher_match(&match, pod->meta.labels) &&
            (!adopt || adopt(arg, pod)))
            *vec_push(&take.v) = record_ref(free_.p[i]);
    }
    for (size_t i = 0; i < release.v.len; i++)
        set_owner(f, res, owner, release.v.p[i], false);
    for (size_t i = 0; i < take.v.len; i++) {
        const struct meta *pm = &take.v.p[i]->obj->meta;
        set_owner(f, res, owner, take.v.p[i], true);
        struct record *now = shelf_get(f->pods->shelf, pm->ns, pm->name);
        if (now)
            *vec_push(&out->v) = record_ref(now);
    }
    pod_set_done(&release);
    pod_set_done(&take);
}

/* --- which pods go first --- */

static int64_t deletion_cost(const struct pod *pod) {
    const char *text = map_get(pod->meta.annotations, "controller.kubernetes.io/pod-deletion-cost");
    return text ? strtol(text, NULL, 10) : 0;
}

static int phase_rank(const struct pod *pod) {
    return str_same(pod->phase, "Pending") ? 0 : str_same(pod->phase, "Unknown") ? 1 : 2;
}

static int32_t restarts(const struct pod *pod) {
    int32_t most = 0;
    for (size_t i = 0; i < list_len(pod->containers); i++)
        most = MAX_OF(most, pod->containers[i].restarts);
    return most;
}

/* As the real controller: ages are compared by powers of two, so that a rollout's order does not
 * decide. */
static int age_rank(int64_t since, int64_t now) {
    int rank = 0;
    for (int64_t s = (now - since) / USEC_PER_SEC; s > 0; s >>= 1)
        rank++;
    return rank;
}

struct ranked {
    struct record *r;
    size_t together; /* pods of the same set on the same node */
    int64_t now;
};

#define ORDER(a, b)                                                                                \
    do {                                                                                           \
        __typeof__(a) a_ = (a), b_ = (b);                                                          \
        if (a_ != b_)                                                                              \
            return a_ < b_ ? -1 : 1;                                                               \
    } while (0)

static int by_rank(const void *x, const void *y) {
    const struct ranked *rx = x, *ry = y;
    const struct pod *a = record_as(pod, rx->r), *b = record_as(pod, ry->r);
    ORDER(!str_empty(a->node_name), !str_empty(b->node_name));
    ORDER(phase_rank(a), phase_rank(b));
    ORDER(pod_ready(a), pod_ready(b));
    ORDER(deletion_cost(a), deletion_cost(b));
    ORDER(ry->together, rx->together);
    if (pod_ready(a)) {
        const struct condition *ca = condition_find(a->conditions, "Ready"),
                               *cb = condition_find(b->conditions, "Ready");
        ORDER(age_rank(ca->changed, rx->now), age_rank(cb->changed, rx->now));
    }
    ORDER(restarts(b), restarts(a));
    ORDER(age_rank(a->meta.created, rx->now), age_rank(b->meta.created, rx->now));
    return strcmp(strna(a->meta.uid), strna(b->meta.uid));
}

void pod_set_rank(struct pod_set *s, int64_t now) {
    struct ranked *list = xcalloc(s->v.len ? s->v.len : 1, sizeof *list);
    for (size_t i = 0; i < s->v.len; i++) {
        list[i] = (struct ranked){.r = s->v.p[i], .now = now};
        const char *node = record_as(pod, s->v.p[i])->node_name;
        for (size_t j = 0; node && j < s->v.len; j++)
            list[i].together += record_as(pod, s->v.p[j])->node_name == node;
    }
    qsort(list, s->v.len, sizeof *list, by_rank);
    for (size_t i = 0; i < s->v.len; i++)
        s->v.p[i] = list[i].r;
    free(list);
}

int64_t intstr_of(const struct intstr *v, int64_t total, bool up) {
    if (!v->set)
        return 0;
    if (!v->is_str)
        return v->val;
    int64_t percent = strtol(strna(v->str), NULL, 10);
    return up ? (percent * total + 99) / 100 : percent * total / 100;
}
