/* Objects of a copy, one by one. */
#include "sim/restore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/podrole.h"
#include "sim/api/names.h"
#include "sim/api/rules.h"
#include "sim/fleet/static_pods.h"
#include "sim/fleet/storage.h"
#include "sim/fleet/workload.h"
#include "sim/restore_internal.h"
#include "sim/schema/text_read.h"

/* So long a pod may take to start: then it is stuck. */
#define PATIENCE SEC(300)

/* --- what pods need --- */

static uint32_t need_hash_of(const char *ns, const char *name) {
    return hash_more(hash_bytes(ns, strlen(ns) + 1), name, strlen(name));
}
static uint32_t need_hash(const void *entry) {
    const struct restore_need *n = entry;
    return need_hash_of(n->ns, n->name);
}
static bool need_equal(const void *entry, const void *key) {
    const struct restore_need *a = entry, *b = key;
    return streq(a->name, b->name) && streq(a->ns, b->ns);
}
static const struct htab_ops need_ops = {need_hash, need_equal};

static void need(struct htab *t, const char *ns, const char *name, int64_t value) {
    struct restore_need key = {.ns = (char *)strna(ns), .name = (char *)strna(name)};
    if (!*key.name || htab_find(t, need_hash(&key), &key))
        return;
    struct restore_need *n = xnew(struct restore_need);
    *n = (struct restore_need){xstrdup(key.ns), xstrdup(key.name), value};
    htab_insert(t, n);
}

static void needs_done(struct htab *t) {
    struct restore_need *n;
    for (uint32_t i = 0; (n = htab_next(t, &i));) {
        free(n->ns);
        free(n->name);
        free(n);
    }
    htab_done(t);
}

/* `spec` is that of a pod or of a template. */
static void note_needs(struct restore *r, const char *ns, const json_t *spec) {
    const char *account = json_str(spec, "serviceAccountName");
    need(&r->accounts, ns, str_empty(account) ? "default" : account, 0);
    need(&r->classes, NULL, json_str(spec, "priorityClassName"),
         json_integer_value(json_object_get(spec, "priority")));
}

/* --- pods --- */

static void annotate(json_t *obj, const char *key, const char *value) {
    json_t *map = json_object_get(meta_of(obj), "annotations");
    if (!json_is_object(map)) {
        map = json_object();
        json_object_set_new(meta_of(obj), "annotations", map);
    }
    if (!json_object_get(map, key))
        json_object_set_new(map, key, json_string(value));
}

/* What is stuck stays so. */
static void mark_stuck(const struct restore *r, json_t *obj) {
    int64_t now = r->fleet->world->clock.now;
    const json_t *status = json_object_get(obj, "status");
    const char *phase = strna(json_str(status, "phase"));
    int64_t deleted = restore_time(meta_of(obj), "deletionTimestamp");
    if (streq(phase, "Succeeded") || streq(phase, "Failed"))
        return;
    if (deleted && deleted < now - SEC(POD_STUCK_AFTER))
        annotate(obj, SIM_ANNOTATION "stop", "stuck");
    if (streq(phase, "Running")) {
        if (!restore_is_true(restore_condition(status, "Ready")))
            annotate(obj, SIM_ANNOTATION "ready", "never");
        return;
    }
    const json_t *scheduled = restore_condition(status, "PodScheduled");
    if (restore_is_true(scheduled) &&
        restore_time(scheduled, "lastTransitionTime") < now - PATIENCE)
        annotate(obj, SIM_ANNOTATION "start", "never");
}

/* --- other kinds --- */

static void note_driver(struct restore *r, const json_t *obj) {
    if (json_is_false(json_object_get(json_object_get(obj, "spec"), "attachRequired")))
        original_add_detached_driver(r->fleet->original, meta_str(obj, "name"));
}

/* What did not get off its node there does not here. */
static void mark_stuck_attachment(const struct restore *r, json_t *obj) {
    int64_t deleted = restore_time(meta_of(obj), "deletionTimestamp");
    bool late = deleted && deleted < r->fleet->world->clock.now - SEC(POD_STUCK_AFTER);
    if (late || json_object_get(json_object_get(obj, "status"), "detachError"))
        annotate(obj, SIM_ANNOTATION "detach", "never");
}

/* The driver's own is let go of by nobody here. */
static void change_finalizer(json_t *obj) {
    json_t *list = json_object_get(meta_of(obj), "finalizers"), *v;
    size_t i;
    json_array_foreach(list, i,
                       v) if (str_starts(strna(json_string_value(v)), "external-attacher/"))
        json_array_set_new(list, i, json_string(ATTACHER_FINALIZER));
}

/* --- the whole --- */

static bool is_sound(const char *name) {
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    if (str_empty(name))
        return false;
    name_path_segment(name, &p);
    return !p.v.len;
}

int restore_check_meta(const struct resource *res, const json_t *obj, struct err *err) {
    const char *ns = meta_str(obj, "namespace");
    if (!is_sound(meta_str(obj, "name")))
        return err_set(err, EINVAL, "a %s has no name, or one that no object can have",
                       res->info->kind);
    if (res->info->namespaced ? !is_sound(ns) : !str_empty(ns))
        return err_set(err, EINVAL, "%s %s %s", res->info->kind, meta_str(obj, "name"),
                       res->info->namespaced ? "has no namespace" : "cannot have a namespace");
    return 0;
}

/* Every object that is stored has these. */
static void complete_meta(struct restore *r, json_t *obj) {
    struct world *w = r->fleet->world;
    char uid[UUID_LEN + 1];
    if (str_empty(meta_str(obj, "uid")))
        meta_set_str(obj, "uid", world_uuid(w, uid));
    if (str_empty(meta_str(obj, "resourceVersion")))
        meta_set_str(obj, "resourceVersion", "1");
    if (!restore_time(meta_of(obj), "creationTimestamp"))
        meta_set_time(obj, "creationTimestamp", w->clock.now);
    meta_order(obj);
}

/* What the server would not have let in, the parts of the fleet need not bear. As it would judge a
 * write that changes nothing: rules that came after the object do not count. */
static bool is_valid(struct restore *r, const struct resource *res, const json_t *obj) {
    static const char *const parts[] = {NULL, "status"};
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        /* The fleet writes the status of pods anew from whatever it finds; they are by far the
         * most. */
        if (parts[i] && (!res->info->has_status || res == r->fleet->pods))
            continue;
        if (!rules_check(r->fleet->api, res, parts[i], obj, &failure))
            continue;
        if (!r->refused++)
            str_replace(&r->refusal, strna(failure.message));
        return false;
    }
    return true;
}

struct record *restore_put(struct restore *r, struct resource *res, json_t *obj, struct err *err) {
    struct world *w = r->fleet->world;
    _cleanup_json_ json_t *value = obj, *canonical = NULL;
    (void)value; /* it is given back at the end, whatever happens */
    complete_meta(r, obj);
    if (w->stored > WORLD_QUOTA) {
        err_set(
            err, EFBIG,
            "there are more than %llu MiB of objects: a simulated cluster does not hold so much",
            (unsigned long long)(WORLD_QUOTA >> 20));
        return NULL;
    }
    if (res->custom) /* it has its order */
        return shelf_put(res->shelf, obj, err);
    /* Defaults and what was added here stand in no order. */
    return schema_canonical(res->schema, obj, &canonical, NULL, err)
               ? NULL
               : shelf_put(res->shelf, canonical, err);
}

/* Those that mean something in a copy: not what machines write anew, and nobody's secrets, whoever
 * put them there. */
static struct resource *resource_for(const struct restore *r, const char *version,
                                     const char *kind) {
    struct resource *res = api_resource_of_kind(r->fleet->api, version, kind);
    if (!res || !res->shelf || res == r->fleet->events || res == r->fleet->leases ||
        streq(kind, "Secret"))
        return NULL;
    _cleanup_str_ struct str served = STR_INIT;
    group_version_add(&served, res->info->group, res->info->version);
    return streq(str_get(&served), version) ? res : NULL;
}

/* Pods that workloads may want in all: Kubernetes is made for clusters of up to 150,000 (see
 * https://kubernetes.io/docs/setup/best-practices/cluster-large/). What simulates them makes each.
 */
enum { WANTED_MAX = 1000000 };

/* A number in a file that somebody sends keeps nobody busy for ever. */
static int check_replicas(struct restore *r, const char *kind, const json_t *obj, struct err *err) {
    const json_t *spec = json_object_get(obj, "spec");
    const char *member = streq(kind, "Job") ? "parallelism" : "replicas";
    const json_t *n = json_object_get(spec, member);
    if (!json_is_integer(n) || !json_object_get(spec, "template"))
        return 0;
    int64_t wants = MAX_OF((int64_t)json_integer_value(n), 0);
    if (!streq(kind, "ReplicaSet")) /* most are of Deployments, which count */
        r->wanted += MIN_OF(wants, (int64_t)WANTED_MAX + 1);
    if (wants <= WANTED_MAX && r->wanted <= WANTED_MAX)
        return 0;
    return err_set(
        err, EINVAL,
        "%s %s: with %s %lld the cluster wants more than %d pods, which is more than can "
        "be simulated",
        kind, strna(meta_str(obj, "name")), member, (long long)wants, WANTED_MAX);
}

static int place(struct restore *r, struct resource *res, const json_t *raw, struct err *err) {
    struct fleet *f = r->fleet;
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    json_t *obj = NULL;
    if (rules_decode(f->api, res, raw, &obj, NULL, &failure))
        return err_set(err, EINVAL, "%s", strna(failure.message));
    int rc = restore_check_meta(res, obj, err);
    if (!rc)
        rc = check_replicas(r, strna(json_str(raw, "kind")), obj, err);
    if (rc) {
        json_decref(obj);
        return rc;
    }
    complete_meta(r, obj);
    if (!is_valid(r, res, obj)) {
        json_decref(obj);
        return 0;
    }
    const json_t *spec = json_object_get(obj, "spec");
    const json_t *template = json_object_get(json_object_get(spec, "template"), "spec");
    bool pod = res == f->pods;
    if (pod || template)
        note_needs(r, meta_str(obj, "namespace"), pod ? spec : template);
    if (pod)
        mark_stuck(r, obj);
    if (res == f->attachments) {
        change_finalizer(obj);
        mark_stuck_attachment(r, obj);
    }
    struct record *stored = restore_put(r, res, json_incref(obj), err);
    if (stored && pod && r->learn)
        restore_learn(r, obj, record_as(pod, stored));
    json_decref(obj);
    r->kept += stored != NULL;
    return stored ? 0 : -EINVAL;
}

int restore_object(struct restore *r, struct view text, struct err *err) {
    json_t *value = NULL;
    int rc = text_read(text, NULL, &value, err);
    _cleanup_json_ json_t *raw = value;
    if (rc)
        return rc;
    const char *version = json_str(raw, "apiVersion"), *kind = json_str(raw, "kind");
    if (str_empty(version) || str_empty(kind) || !json_is_object(meta_of(raw)))
        return err_set(err, EINVAL, "it is no object: it has no apiVersion, kind or metadata");
    if (streq(kind, "CSIDriver") && streq(version, "storage.k8s.io/v1")) {
        note_driver(r, raw);
        return 0;
    }
    struct resource *res = resource_for(r, version, kind);
    if (!res) {
        r->dropped++;
        return 0;
    }
    if (res == r->fleet->api->crds)
        return restore_definition(r, raw, err);
    return res->custom ? restore_custom(r, res, raw, err) : place(r, res, raw, err);
}

struct restore *restore_new(struct sim *s, struct habits *habits, bool learn) {
    struct restore *r = xnew(struct restore);
    r->sim = s;
    r->fleet = sim_fleet(s);
    struct prng *random = &sim_world(s)->random;
    *random = (struct prng){prng_next(random)};
    r->habits = habits;
    r->learn = learn;
    htab_init(&r->accounts, &need_ops);
    htab_init(&r->classes, &need_ops);
    r->fleet->original = original_new(habits);
    return r;
}

void restore_free(struct restore *r) {
    if (!r)
        return;
    needs_done(&r->accounts);
    needs_done(&r->classes);
    restore_learn_done(r);
    free(r->refusal);
    free(r);
}

size_t restore_kept(const struct restore *r) {
    return r->kept;
}

size_t restore_dropped(const struct restore *r) {
    return r->dropped;
}

size_t restore_refused(const struct restore *r, const char **why) {
    if (why)
        *why = r->refusal;
    return r->refused;
}
