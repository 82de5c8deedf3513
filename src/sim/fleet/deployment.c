/* The Deployment controller: one ReplicaSet per template, rolled over within maxSurge and
 * maxUnavailable, or recreated. The rules are those of pkg/controller/deployment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/selector.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/status_text.h"
#include "sim/fleet/workload.h"
#include "sim/schema/text.h"
#include "sim/schema/text_read.h"

#define REVISION "deployment.kubernetes.io/revision"
#define DESIRED  "deployment.kubernetes.io/desired-replicas"
#define MAXIMUM  "deployment.kubernetes.io/max-replicas"
#define HISTORY  "deployment.kubernetes.io/revision-history"
#define HASH     "pod-template-hash"

struct deployments {
    struct fleet *fleet;
    struct queue *queue;
};

/* A deployment while it is looked at. */
struct look {
    struct deployments *c;
    struct fleet *f;
    struct record *r; /* a reference */
    const struct deployment *d;
    const json_t *spec;
    int64_t want, surge, unavailable;
    VEC(struct record *) sets; /* references; by age */
    struct record *new_set;    /* one of them, or NULL */
    bool created;              /* it was not there before */
};

static int64_t replicas_of(const struct record *r) {
    const struct replica_set *rs = record_as(replica_set, r);
    return rs->replicas == ABSENT32 ? 1 : rs->replicas;
}

static int by_age(const void *a, const void *b) {
    const struct meta *x = &(*(struct record *const *)a)->obj->meta,
                      *y = &(*(struct record *const *)b)->obj->meta;
    if (x->created != y->created)
        return x->created < y->created ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* --- its ReplicaSets --- */

static void set_owner(struct look *l, struct record *rs, bool own) {
    json_t *obj = record_json(rs);
    json_t *kept = json_array(), *o;
    size_t i;
    json_array_foreach(json_object_get(meta_of(obj), "ownerReferences"), i,
                       o) if (!str_same(json_str(o, "uid"), l->d->meta.uid))
        json_array_append(kept, o);
    if (own)
        json_array_append_new(kept, fleet_owner(l->f->deployments, l->r));
    json_object_set_new(meta_of(obj), "ownerReferences", kept);
    fleet_update(l->f, l->f->replica_sets, NULL, obj, NULL);
}

static void find_sets(struct look *l) {
    const struct meta *m = &l->d->meta;
    struct snapshot *snap = shelf_snapshot(l->f->replica_sets->shelf);
    for (size_t i = snapshot_seek(snap, m->ns, ""); i < snap->n; i++) {
        struct record *rs = snap->items[i];
        if (!str_same(rs->obj->meta.ns, m->ns))
            break;
        const char *owner = controller_uid(&rs->obj->meta);
        bool matches = selector_match(l->d->selector, rs->obj->meta.labels);
        if (str_same(owner, m->uid) && owner) {
            if (matches)
                *vec_push(&l->sets) = record_ref(rs);
            else if (!m->deleted)
                set_owner(l, rs, false);
        } else if (!owner && matches && !m->deleted && !rs->obj->meta.deleted) {
            set_owner(l, rs, true);
            struct record *now = shelf_get(l->f->replica_sets->shelf, m->ns, rs->obj->meta.name);
            if (now)
                *vec_push(&l->sets) = record_ref(now);
        }
    }
    snapshot_unref(snap);
    if (l->sets.len)
        qsort(l->sets.p, l->sets.len, sizeof *l->sets.p, by_age);
}

/* Equal, member by member, but for one: `except` says what is done with it. */
static bool same_but(const json_t *a, const json_t *b, const char *but,
                     bool (*except)(const json_t *, const json_t *)) {
    size_t n = 0;
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)a, key, v) {
        if (streq(key, but))
            continue;
        n++;
        if (!json_equal(v, json_object_get(b, key)))
            return false;
    }
    const json_t *x = json_object_get(a, but), *y = json_object_get(b, but);
    return n == json_object_size(b) - (y != NULL) && except(x, y);
}
static bool any(const json_t *a, const json_t *b) {
    (void)a, (void)b;
    return true;
}
static bool same_labels(const json_t *a, const json_t *b) {
    return same_but(a, b, HASH, any);
}
static bool same_meta(const json_t *a, const json_t *b) {
    return same_but(a, b, "labels", same_labels);
}
/* Equal but for the label that tells the sets apart. */
static bool same_template(const json_t *a, const json_t *b) {
    return same_but(a, b, "metadata", same_meta);
}

static void find_new_set(struct look *l) {
    const json_t *template = json_object_get(l->spec, "template");
    for (size_t i = 0; i < l->sets.len && !l->new_set; i++)
        if (same_template(json_object_get(record_spec(l->sets.p[i]), "template"), template))
            l->new_set = l->sets.p[i];
}

/* The current record of a set, in place of the one that is known. */
static void refresh(struct look *l, size_t i) {
    const struct meta *m = &l->sets.p[i]->obj->meta;
    struct record *now = shelf_get(l->f->replica_sets->shelf, m->ns, m->name);
    if (!now || now == l->sets.p[i])
        return;
    bool new = l->sets.p[i] == l->new_set;
    record_ref(now);
    record_unref(l->sets.p[i]);
    l->sets.p[i] = now;
    if (new)
        l->new_set = now;
}

static size_t place_of(const struct look *l, const struct record *rs) {
    size_t i = 0;
    while (l->sets.p[i] != rs)
        i++;
    return i;
}

static void set_annotations(struct look *l, json_t *obj) {
    json_t *map = json_object_get(meta_of(obj), "annotations");
    if (!map) {
        map = json_object();
        json_object_set_new(meta_of(obj), "annotations", map);
    }
    json_object_set_new(map, DESIRED, json_sprintf("%" PRId64, l->want));
    json_object_set_new(map, MAXIMUM, json_sprintf("%" PRId64, l->want + l->surge));
}

static bool number_is(const char *text, int64_t n) {
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRId64, n);
    return str_same(text, digits);
}

/* Another number of replicas; true when there was anything to do. */
static bool scale_set(struct look *l, size_t i, int64_t n) {
    struct record *rs = l->sets.p[i];
    int64_t was = replicas_of(rs);
    const struct pair *annotations = rs->obj->meta.annotations;
    if (was == n && number_is(map_get(annotations, DESIRED), l->want) &&
        number_is(map_get(annotations, MAXIMUM), l->want + l->surge))
        return false;
    json_t *obj = record_json(rs);
    json_object_set_new(json_object_get(obj, "spec"), "replicas", json_integer(n));
    set_annotations(l, obj);
    fleet_update(l->f, l->f->replica_sets, NULL, obj, NULL);
    refresh(l, i);
    if (was != n)
        fleet_event(l->f, "deployment-controller", l->f->deployments, l->r, "Normal",
                    "ScalingReplicaSet", "Scaled %s replica set %s from %" PRId64 " to %" PRId64,
                    n > was ? "up" : "down", rs->obj->meta.name, was, n);
    return was != n;
}

static int64_t sum_of(const struct look *l, int64_t (*of)(const struct record *)) {
    int64_t n = 0;
    for (size_t i = 0; i < l->sets.len; i++)
        n += of(l->sets.p[i]);
    return n;
}
static int64_t available_of(const struct record *r) {
    return record_as(replica_set, r)->available;
}
static int64_t ready_of(const struct record *r) {
    return record_as(replica_set, r)->ready;
}
static int64_t now_of(const struct record *r) {
    return record_as(replica_set, r)->now;
}
static int64_t terminating_of(const struct record *r) {
    return record_as(replica_set, r)->terminating;
}

/* --- revisions --- */

static int64_t revision_of(const struct record *r) {
    const char *text = map_get(r->obj->meta.annotations, REVISION);
    return text ? strtol(text, NULL, 10) : 0;
}

/* As the server encodes hashes: digits without vowels. */
static char *hash_name(const json_t *template) {
    _cleanup_str_ struct str text = STR_INIT;
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    text_value(template, &text);
    uint32_t h = hash_bytes(text.p, text.len);
    char digits[12], *out = xstrdup("0000000000");
    (void)snprintf(digits, sizeof digits, "%010" PRIu32, h);
    for (size_t i = 0; i < 10; i++)
        out[i] = letters[(unsigned char)digits[i] % (sizeof letters - 1)];
    return out;
}

static int64_t new_replicas(const struct look *l);

/* A deployment's annotations go along to its new set, but for those that both have of their own. */
static bool goes_along(const char *key) {
    return !streq(key, "kubectl.kubernetes.io/last-applied-configuration") &&
           !streq(key, "deprecated.deployment.rollback.to") &&
           !str_starts(key, "deployment.kubernetes.io/");
}

/* Creates the set of the present template; false when it was refused. */
static bool create_new_set(struct look *l, int64_t revision) {
    struct fleet *f = l->f;
    const json_t *template = json_object_get(l->spec, "template");
    _cleanup_free_ char *hash = hash_name(template);
    json_t *copy = json_deep_copy(template);
    json_t *meta = json_object_get(copy, "metadata");
    json_t *labels = json_object_get(meta, "labels");
    json_object_set_new(labels, HASH, json_string(hash));
    json_t *selector = json_deep_copy(json_object_get(l->spec, "selector"));
    json_t *match = json_object_get(selector, "matchLabels");
    if (!match) {
        match = json_object();
        json_object_set_new(selector, "matchLabels", match);
    }
    json_object_set_new(match, HASH, json_string(hash));
    _cleanup_json_ json_t *obj = record_json(l->r);
    json_t *annotations = json_object();
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(meta_of(obj), "annotations"), key, v) if (goes_along(key))
        json_object_set(annotations, key, v);
    json_object_set_new(annotations, REVISION, json_sprintf("%" PRId64, revision));
    json_t *raw = json_pack("{s:{s:o, s:s, s:O, s:o, s:[o]}, s:{s:I, s:o, s:o}}", "metadata",
                            "name", json_sprintf("%s-%s", l->d->meta.name, hash), "namespace",
                            strna(l->d->meta.ns), "labels", labels, "annotations", annotations,
                            "ownerReferences", fleet_owner(f->deployments, l->r), "spec",
                            "replicas", (json_int_t)0, "selector", selector, "template", copy);
    const json_t *min_ready = json_object_get(l->spec, "minReadySeconds");
    if (min_ready)
        json_object_set(json_object_get(raw, "spec"), "minReadySeconds", (json_t *)min_ready);
    set_annotations(l, raw);
    int64_t n = new_replicas(l);
    json_object_set_new(json_object_get(raw, "spec"), "replicas", json_integer(n));
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct record *rs = fleet_create(f, f->replica_sets, l->d->meta.ns, raw, &failure);
    if (!rs)
        return false;
    *vec_push(&l->sets) = rs;
    l->new_set = rs;
    l->created = true;
    if (n > 0)
        fleet_event(f, "deployment-controller", f->deployments, l->r, "Normal", "ScalingReplicaSet",
                    "Scaled up replica set %s from 0 to %" PRId64, rs->obj->meta.name, n);
    return true;
}

/* What has changed of a deployment without a new template: the reason of the change above all,
 * which kubectl rollout history shows. */
static void follow(struct look *l) {
    static const char key[] = "minReadySeconds";
    struct record *rs = l->new_set;
    const json_t *min = json_object_get(l->spec, key),
                 *had = json_object_get(json_object_get(record_body(rs), "spec"), key);
    bool differs = json_integer_value(min) != json_integer_value(had);
    const struct pair *pairs = l->d->meta.annotations;
    for (size_t i = 0; i < list_len(pairs) && !differs; i++) {
        const char *value = map_get(rs->obj->meta.annotations, pairs[i].key);
        differs = goes_along(pairs[i].key) && (!value || !streq(value, strna(pairs[i].value)));
    }
    if (!differs)
        return;
    json_t *obj = record_json(rs), *annotations = json_object_get(meta_of(obj), "annotations");
    if (!annotations) {
        annotations = json_object();
        json_object_set_new(meta_of(obj), "annotations", annotations);
    }
    for (size_t i = 0; i < list_len(pairs); i++)
        if (goes_along(pairs[i].key))
            json_object_set_new(annotations, pairs[i].key, json_string(strna(pairs[i].value)));
    if (min)
        json_object_set(json_object_get(obj, "spec"), key, (json_t *)min);
    else
        json_object_del(json_object_get(obj, "spec"), key);
    fleet_update(l->f, l->f->replica_sets, NULL, obj, NULL);
    refresh(l, place_of(l, rs));
}

/* Sees to it that the new set exists and both carry the revision. */
static bool sync_revision(struct look *l, bool create) {
    int64_t newest = 0;
    for (size_t i = 0; i < l->sets.len; i++)
        if (l->sets.p[i] != l->new_set)
            newest = MAX_OF(newest, revision_of(l->sets.p[i]));
    int64_t revision = newest + 1;
    if (l->new_set)
        follow(l);
    if (!l->new_set) {
        if (!create)
            return true;
        if (!create_new_set(l, revision))
            return false;
    } else if (revision_of(l->new_set) < revision) {
        char digits[24];
        (void)snprintf(digits, sizeof digits, "%" PRId64, revision);
        size_t i = place_of(l, l->new_set);
        /* An old template is back: under which number it was known is kept. */
        const char *was = map_get(l->new_set->obj->meta.annotations, REVISION);
        const char *before = map_get(l->new_set->obj->meta.annotations, HISTORY);
        if (was) {
            _cleanup_free_ char *history = before ? xasprintf("%s,%s", before, was) : xstrdup(was);
            fleet_set_meta(l->f, l->f->replica_sets, l->new_set, "annotations", HISTORY, history);
            refresh(l, i);
        }
        fleet_set_meta(l->f, l->f->replica_sets, l->new_set, "annotations", REVISION, digits);
        refresh(l, i);
    } else {
        revision = revision_of(l->new_set);
    }
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRId64, revision);
    if (!str_same(map_get(l->d->meta.annotations, REVISION), digits)) {
        /* As the controller writes it: with the status, so that no new generation comes of it. */
        json_t *obj = record_json(l->r), *pairs = json_object_get(meta_of(obj), "annotations");
        if (!pairs) {
            pairs = json_object();
            json_object_set_new(meta_of(obj), "annotations", pairs);
        }
        json_object_set_new(pairs, REVISION, json_string(digits));
        fleet_update(l->f, l->f->deployments, "status", obj, NULL);
        struct record *now = shelf_get(l->f->deployments->shelf, l->d->meta.ns, l->d->meta.name);
        if (!now)
            return false;
        record_ref(now);
        record_unref(l->r);
        l->r = now;
        l->d = record_as(deployment, now);
        l->spec = record_spec(now);
    }
    return true;
}

/* --- rolling --- */

static bool recreates(const struct look *l) {
    return str_same(l->d->strategy.type, "Recreate");
}

/* How many the new set should have now. */
static int64_t new_replicas(const struct look *l) {
    int64_t have = l->new_set ? replicas_of(l->new_set) : 0;
    if (recreates(l))
        return l->want;
    int64_t all = sum_of(l, replicas_of), max = l->want + l->surge;
    if (all >= max)
        return have;
    return have + MIN_OF(max - all, l->want - have);
}

static bool reconcile_new(struct look *l) {
    size_t i = place_of(l, l->new_set);
    int64_t have = replicas_of(l->new_set);
    if (have == l->want)
        return scale_set(l, i, have);
    if (have > l->want)
        return scale_set(l, i, l->want);
    return scale_set(l, i, new_replicas(l));
}

/* Old sets lose first what is not healthy, then what the budget allows. */
static bool reconcile_old(struct look *l) {
    int64_t old = sum_of(l, replicas_of) - replicas_of(l->new_set);
    if (old == 0)
        return false;
    int64_t min_available = l->want - l->unavailable;
    int64_t new_unready = replicas_of(l->new_set) - available_of(l->new_set);
    int64_t spare = sum_of(l, replicas_of) - min_available - new_unready;
    if (spare <= 0)
        return false;
    bool any = false;
    for (size_t i = 0; i < l->sets.len && spare > 0; i++) {
        if (l->sets.p[i] == l->new_set || replicas_of(l->sets.p[i]) == 0)
            continue;
        int64_t have = replicas_of(l->sets.p[i]);
        int64_t sick = have - available_of(l->sets.p[i]);
        int64_t n = MIN_OF(sick, spare);
        if (n <= 0)
            continue;
        any = scale_set(l, i, have - n) || any;
        spare -= n;
    }
    int64_t available = sum_of(l, available_of);
    int64_t down = available - min_available;
    for (size_t i = 0; i < l->sets.len && down > 0; i++) {
        if (l->sets.p[i] == l->new_set || replicas_of(l->sets.p[i]) == 0)
            continue;
        int64_t n = MIN_OF(replicas_of(l->sets.p[i]), down);
        any = scale_set(l, i, replicas_of(l->sets.p[i]) - n) || any;
        down -= n;
    }
    return any;
}

static void roll(struct look *l) {
    if (!sync_revision(l, true))
        return;
    if (reconcile_new(l))
        return;
    reconcile_old(l);
}

static bool old_pods_run(const struct look *l) {
    for (size_t i = 0; i < l->sets.len; i++) {
        if (l->sets.p[i] == l->new_set)
            continue;
        struct pod_list pods = pods_of_owner(l->f->pod_index, l->sets.p[i]->obj->meta.uid);
        for (size_t k = 0; k < pods.len; k++)
            if (!pod_finished(record_as(pod, pods.p[k])))
                return true;
    }
    return false;
}

static void recreate(struct look *l) {
    sync_revision(l, false);
    bool scaled = false;
    for (size_t i = 0; i < l->sets.len; i++)
        if (l->sets.p[i] != l->new_set && replicas_of(l->sets.p[i]) > 0)
            scaled = scale_set(l, i, 0) || scaled;
    if (scaled || old_pods_run(l))
        return;
    if (sync_revision(l, true) && l->new_set)
        scale_set(l, place_of(l, l->new_set), l->want);
}

/* --- scaling while several sets are alive --- */

/* The one set that all replicas should be in, if there is only one. */
static struct record *only_active(const struct look *l) {
    struct record *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < l->sets.len; i++)
        if (replicas_of(l->sets.p[i]) > 0) {
            found = l->sets.p[i];
            n++;
        }
    if (n == 0)
        return l->new_set ? l->new_set : l->sets.len ? l->sets.p[l->sets.len - 1] : NULL;
    return n == 1 ? found : NULL;
}

static bool saturated(const struct look *l) {
    const struct record *r = l->new_set;
    const char *desired = r ? map_get(r->obj->meta.annotations, DESIRED) : NULL;
    return desired && strtol(desired, NULL, 10) == l->want && replicas_of(r) == l->want &&
           available_of(r) == l->want;
}

/* Was the wanted number changed since the sets were sized? */
static bool scaling_event(const struct look *l) {
    for (size_t i = 0; i < l->sets.len; i++) {
        if (replicas_of(l->sets.p[i]) == 0)
            continue;
        const char *text = map_get(l->sets.p[i]->obj->meta.annotations, DESIRED);
        if (text && strtol(text, NULL, 10) != l->want)
            return true;
    }
    return false;
}

/* Shares out the difference in proportion to the sizes; the largest sets first. */
static void scale_all(struct look *l) {
    struct record *only = only_active(l);
    if (only) {
        if (replicas_of(only) != l->want)
            scale_set(l, place_of(l, only), l->want);
        return;
    }
    if (saturated(l)) {
        for (size_t i = 0; i < l->sets.len; i++)
            if (l->sets.p[i] != l->new_set && replicas_of(l->sets.p[i]) > 0)
                scale_set(l, i, 0);
        return;
    }
    if (recreates(l))
        return;
    int64_t all = sum_of(l, replicas_of);
    int64_t allowed = l->want > 0 ? l->want + l->surge : 0;
    int64_t add = allowed - all, added = 0;
    size_t last = l->sets.len;
    for (size_t i = l->sets.len; i-- > 0;) {
        struct record *rs = l->sets.p[i];
        int64_t have = replicas_of(rs);
        if (have == 0)
            continue;
        last = i;
        int64_t n = 0;
        if (add != 0) {
            const char *text = map_get(rs->obj->meta.annotations, MAXIMUM);
            int64_t max = text ? strtol(text, NULL, 10) : all;
            int64_t share = max ? (2 * have * allowed + max) / (2 * max) - have : 0;
            int64_t left = add - added;
            n = add > 0 ? MIN_OF(share, left) : MAX_OF(share, left);
            if (add > 0 ? n < 0 : n > 0)
                n = 0;
            added += n;
        }
        scale_set(l, i, MAX_OF(have + n, 0));
    }
    if (last < l->sets.len && added != add) {
        int64_t have = replicas_of(l->sets.p[last]);
        scale_set(l, last, MAX_OF(have + add - added, 0));
    }
}

/* --- status --- */

/* Its conditions while they are worked out. Most of the time they stay as they are: then they are
 * never read, and written as they stand. */
struct conditions {
    const struct deployment *d;
    struct view text; /* as they stand; empty when there are none */
    json_t *list;     /* NULL until something changes */
};

static json_t *conditions_list(struct conditions *c) {
    if (!c->list && (!c->text.len || text_read(c->text, NULL, &c->list, NULL)))
        c->list = json_array();
    return c->list;
}

static json_t *condition_json(struct conditions *c, const char *type) {
    size_t i;
    json_t *v;
    json_array_foreach(conditions_list(c), i, v) if (str_same(json_str(v, "type"), type)) return v;
    return NULL;
}

static void put_condition(struct look *l, struct conditions *cs, const char *type, const char *text,
                          const char *reason, const char *message) {
    const struct condition *old = condition_find(cs->d->conditions, type);
    if (old && str_same(old->status, text) && str_same(old->reason, reason))
        return;
    char now[TIMEFMT_LEN];
    time_format(l->f->world->clock.now, false, now);
    json_t *c =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", type, "status", text, "lastUpdateTime",
                  now, "lastTransitionTime", now, "reason", reason, "message", message);
    if (old && str_same(old->status, text))
        json_object_set(c, "lastTransitionTime",
                        json_object_get(condition_json(cs, type), "lastTransitionTime"));
    json_t *kept = json_array(), *item;
    size_t i;
    json_array_foreach(conditions_list(cs), i, item) if (!str_same(json_str(item, "type"), type))
        json_array_append(kept, item);
    json_array_append_new(kept, c);
    json_decref(cs->list);
    cs->list = kept;
}

static void set_condition(struct look *l, struct conditions *cs, const char *type, bool value,
                          const char *reason, const char *message) {
    put_condition(l, cs, type, value ? "True" : "False", reason, message);
}

/* NULL: it may take as long as it likes. */
static const json_t *deadline_of(const struct look *l) {
    const json_t *deadline = json_object_get(l->spec, "progressDeadlineSeconds");
    return json_integer_value(deadline) == INT32_MAX ? NULL : deadline;
}

/* How a rollout goes nobody knows while it is paused, and the time does not count for its deadline
 * (checkPausedConditions() in pkg/controller/deployment/sync.go). */
static void set_paused(struct look *l, struct conditions *cs) {
    const struct condition *old = condition_find(cs->d->conditions, "Progressing");
    const char *reason = old ? strna(old->reason) : "";
    bool known = streq(reason, "DeploymentPaused");
    if (!deadline_of(l) || streq(reason, "ProgressDeadlineExceeded") || l->d->paused == known)
        return;
    if (l->d->paused)
        put_condition(l, cs, "Progressing", "Unknown", "DeploymentPaused", "Deployment is paused");
    else
        put_condition(l, cs, "Progressing", "Unknown", "DeploymentResumed",
                      "Deployment is resumed");
}

/* The rollout moves as long as numbers change within progressDeadlineSeconds. Once it is complete,
 * it stays so until there is another set: scaling is no rollout (`scaled`: all pods are new). */
static void set_progress(struct look *l, struct conditions *cs, bool complete, bool moved,
                         bool scaled) {
    const json_t *deadline = deadline_of(l);
    if (!deadline)
        return;
    const struct condition *old = condition_find(cs->d->conditions, "Progressing");
    const char *set = l->new_set ? l->new_set->obj->meta.name : l->d->meta.name;
    const char *reason = old ? strna(old->reason) : "";
    _cleanup_free_ char *text = NULL;
    if (l->created) {
        _cleanup_free_ char *made = xasprintf("Created new replica set \"%s\"", set);
        set_condition(l, cs, "Progressing", true, "NewReplicaSetCreated", made);
    } else if (scaled && streq(reason, "NewReplicaSetAvailable")) {
        return;
    }
    if (complete) {
        text = xasprintf("ReplicaSet \"%s\" has successfully progressed.", set);
        if (!l->created) {
            set_condition(l, cs, "Progressing", true, "NewReplicaSetAvailable", text);
            return;
        }
        json_t *c = condition_json(cs, "Progressing"); /* may have said the same of another set */
        json_object_set_new(c, "reason", json_string("NewReplicaSetAvailable"));
        json_object_set_new(c, "message", json_string(text));
        return;
    }
    if (!old) {
        text = xasprintf("Found new replica set \"%s\"", set);
        if (!l->created)
            set_condition(l, cs, "Progressing", true, "FoundNewReplicaSet", text);
        return;
    }
    if (moved) {
        text = xasprintf("ReplicaSet \"%s\" is progressing.", set);
        if (str_same(old->status, "True") && streq(reason, "ReplicaSetUpdated")) {
            /* The time of the last progress is what the deadline counts from. */
            char now[TIMEFMT_LEN];
            json_object_set_new(condition_json(cs, "Progressing"), "lastUpdateTime",
                                json_string(time_format(l->f->world->clock.now, false, now)));
            return;
        }
        set_condition(l, cs, "Progressing", true, "ReplicaSetUpdated", text);
        return;
    }
    if (streq(reason, "NewReplicaSetAvailable") || streq(reason, "ProgressDeadlineExceeded"))
        return;
    int64_t since = 0;
    const char *at = strna(json_str(condition_json(cs, "Progressing"), "lastUpdateTime"));
    time_parse(at, strlen(at), &since);
    int64_t due = since + SEC(json_integer_value(deadline));
    if (l->f->world->clock.now > due) {
        text = xasprintf("ReplicaSet \"%s\" has timed out progressing.", set);
        set_condition(l, cs, "Progressing", false, "ProgressDeadlineExceeded", text);
    } else {
        queue_add_after(l->c->queue, l->d->meta.ns, l->d->meta.name,
                        due - l->f->world->clock.now + SEC(1));
    }
}

static void put_status(struct look *l) {
    struct fleet *f = l->f;
    struct record *r = shelf_get(f->deployments->shelf, l->d->meta.ns, l->d->meta.name);
    if (!r)
        return;
    for (size_t i = 0; i < l->sets.len; i++)
        refresh(l, i);
    const struct deployment *d = record_as(deployment, r);
    int64_t now = sum_of(l, now_of), available = sum_of(l, available_of);
    int64_t updated = l->new_set ? now_of(l->new_set) : 0;
    int64_t want = sum_of(l, replicas_of);
    static const struct view keys[] = {VIEW("conditions"), VIEW("collisionCount")};
    struct view kept[2] = {0};
    if (r->status_len)
        (void)codec_json_find(&f->world->codec, record_status_text(r), keys, 2, kept, NULL);
    struct conditions cs = {.d = d, .text = kept[0]};
    if (!d->meta.deleted)
        set_paused(l, &cs);
    if (available >= l->want - l->unavailable)
        set_condition(l, &cs, "Available", true, "MinimumReplicasAvailable",
                      "Deployment has minimum availability.");
    else
        set_condition(l, &cs, "Available", false, "MinimumReplicasUnavailable",
                      "Deployment does not have minimum availability.");
    bool complete = l->new_set && updated == l->want && now == l->want && available == l->want &&
                    d->meta.generation >= 1;
    bool moved = updated > d->updated || sum_of(l, ready_of) > d->ready ||
                 available > d->available || (now - updated) < (d->now - d->updated);
    if (!d->paused)
        set_progress(l, &cs, complete, moved, now == updated);
    _cleanup_str_ struct str out = STR_INIT;
    str_addc(&out, '{');
    member_count(&out, "observedGeneration", d->meta.generation);
    member_count(&out, "replicas", now);
    member_count(&out, "updatedReplicas", updated);
    member_count(&out, "readyReplicas", sum_of(l, ready_of));
    member_count(&out, "availableReplicas", available);
    member_count(&out, "unavailableReplicas", MAX_OF(want - available, 0));
    member_number(&out, "terminatingReplicas", sum_of(l, terminating_of));
    if (cs.list)
        member_value(&out, "conditions", cs.list);
    else
        member_raw(&out, "conditions", cs.text);
    member_raw(&out, "collisionCount", kept[1]);
    str_addc(&out, '}');
    json_decref(cs.list);
    fleet_put_status_text(f, f->deployments, r, &out);
}

/* Old sets beyond the history limit go. */
static void clean_up(struct look *l) {
    const json_t *limit = json_object_get(l->spec, "revisionHistoryLimit");
    if (!limit)
        return;
    int64_t idle = 0;
    for (size_t i = 0; i < l->sets.len; i++)
        idle += l->sets.p[i] != l->new_set;
    int64_t extra = idle - json_integer_value(limit);
    for (size_t i = 0; i < l->sets.len && extra > 0; i++) {
        const struct replica_set *rs = record_as(replica_set, l->sets.p[i]);
        if (l->sets.p[i] == l->new_set)
            continue;
        extra--;
        if (rs->now || replicas_of(l->sets.p[i]) || rs->meta.deleted ||
            rs->meta.generation > rs->observed_generation)
            continue;
        fleet_delete(l->f, l->f->replica_sets, rs->meta.ns, rs->meta.name, NULL);
    }
}

static void set_bounds(struct look *l) {
    const struct rolling_update *u = l->d->strategy.rolling;
    l->want = l->d->replicas == ABSENT32 ? 1 : l->d->replicas;
    if (recreates(l) || !u)
        return;
    l->surge = intstr_of(&u->max_surge, l->want, true);
    l->unavailable = intstr_of(&u->max_unavailable, l->want, false);
    if (!l->surge && !l->unavailable)
        l->unavailable = 1;
    l->unavailable = MIN_OF(l->unavailable, l->want);
}

static bool sync(void *arg, const char *ns, const char *name) {
    struct deployments *c = arg;
    struct fleet *f = c->fleet;
    struct record *r = shelf_get(f->deployments->shelf, ns, name);
    if (!r)
        return true;
    struct look l = {.c = c, .f = f, .r = record_ref(r), .d = record_as(deployment, r)};
    l.spec = record_spec(r);
    set_bounds(&l);
    find_sets(&l);
    find_new_set(&l);
    if (!l.d->meta.deleted) {
        if (l.d->paused || scaling_event(&l)) {
            sync_revision(&l, false);
            scale_all(&l);
        } else if (recreates(&l)) {
            recreate(&l);
        } else {
            roll(&l);
        }
    }
    put_status(&l);
    bool complete = l.new_set && available_of(l.new_set) == l.want && sum_of(&l, now_of) == l.want;
    if ((complete || l.d->paused) && !l.d->meta.deleted)
        clean_up(&l);
    for (size_t i = 0; i < l.sets.len; i++)
        record_unref(l.sets.p[i]);
    vec_done(&l.sets);
    record_unref(l.r);
    return true;
}

static void deployment_changed(void *arg, const struct change *change) {
    struct deployments *c = arg;
    const struct meta *m = &change->after->obj->meta;
    if (change->type != CHANGE_DELETED)
        queue_add(c->queue, m->ns, m->name);
}

static void set_changed(void *arg, const struct change *change) {
    struct deployments *c = arg;
    const struct meta *m = &change->after->obj->meta;
    const struct owner *o = meta_controller(m);
    if (o) {
        if (str_same(o->kind, "Deployment"))
            queue_add(c->queue, m->ns, o->name);
        return;
    }
    struct snapshot *snap = shelf_snapshot(c->fleet->deployments->shelf);
    for (size_t i = snapshot_seek(snap, m->ns, ""); i < snap->n; i++) {
        const struct deployment *d = record_as(deployment, snap->items[i]);
        if (!str_same(d->meta.ns, m->ns))
            break;
        if (selector_match(d->selector, m->labels))
            queue_add(c->queue, d->meta.ns, d->meta.name);
    }
    snapshot_unref(snap);
}

/* Recreate waits for the last old pod. */
static void pod_changed(void *arg, const struct change *change) {
    struct deployments *c = arg;
    if (change->type != CHANGE_DELETED)
        return;
    const struct owner *o = meta_controller(&change->after->obj->meta);
    if (!o || !str_same(o->kind, "ReplicaSet"))
        return;
    const struct record *rs =
        shelf_get(c->fleet->replica_sets->shelf, change->after->obj->meta.ns, o->name);
    const struct owner *d = rs ? meta_controller(&rs->obj->meta) : NULL;
    if (d && str_same(d->kind, "Deployment"))
        queue_add(c->queue, change->after->obj->meta.ns, d->name);
}

static void *start(struct fleet *f) {
    struct deployments *c = xnew(struct deployments);
    c->fleet = f;
    /* Behind the ReplicaSets: what they were told is done before they are told more. */
    c->queue = queue_new(f->world, MSEC(6), MSEC(15), sync, c);
    shelf_listen(f->deployments->shelf, deployment_changed, c);
    shelf_listen(f->replica_sets->shelf, set_changed, c);
    shelf_listen(f->pods->shelf, pod_changed, c);
    return c;
}

static void stop(void *part) {
    struct deployments *c = part;
    shelf_unlisten(c->fleet->deployments->shelf, deployment_changed, c);
    shelf_unlisten(c->fleet->replica_sets->shelf, set_changed, c);
    shelf_unlisten(c->fleet->pods->shelf, pod_changed, c);
    queue_free(c->queue);
    free(c);
}

const struct part deployments_part = {"deployment-controller", start, stop};
