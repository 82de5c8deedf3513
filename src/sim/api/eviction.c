/* POST .../pods/NAME/eviction: the real server's algorithm (pkg/registry/core/pod/storage), without
 * its retries, since nothing else writes in between. */
#include <assert.h>

#include "model/selector.h"
#include "sim/api/body.h"
#include "sim/api/print.h"
#include "sim/api/registry.h"
#include "sim/api/subresources.h"

enum { DISRUPTED_MAX = 2000 }; /* MaxDisruptedPodSize */

static int too_many(struct failure *f, int retry_after, char *message) {
    fail(f, 429, "TooManyRequests",
         "Cannot evict pod as it would violate the pod's disruption budget.");
    failure_cause(f, "DisruptionBudget", message, "");
    f->retry_after = retry_after;
    free(message);
    return -1;
}

static int still_processed(struct failure *f, const char *pdb) {
    return too_many(
        f, 10, xasprintf("The disruption budget %s is still being processed by the server.", pdb));
}

static bool is(const char *a, const char *b) {
    return str_same(a, b);
}

/* Counts the eviction in the budget's status, or says why it may not happen. */
static int decrement(struct api *a, struct record *r, const char *pod, bool dry_run,
                     struct failure *f) {
    const struct pdb *pdb = record_as(pdb, r);
    const char *name = pdb->meta.name;
    if (pdb->observed_generation < pdb->meta.generation)
        return still_processed(f, name);
    if (pdb->allowed < 0)
        return fail_forbidden(f, "policy", "poddisruptionbudget", name,
                              "pdb disruptions allowed is negative");
    if (list_len(pdb->disrupted) > DISRUPTED_MAX)
        return fail_forbidden(f, "policy", "poddisruptionbudget", name,
                              "DisruptedPods map too big - too many evictions not confirmed by PDB "
                              "controller");
    if (pdb->allowed == 0) {
        const struct condition *c = condition_find(pdb->conditions, "DisruptionAllowed");
        bool said = c && is(c->status, "False") && !str_empty(c->message);
        if (said && is(c->reason, "SyncFailed"))
            return too_many(f, 0,
                            xasprintf("The disruption budget %s does not allow evicting pods "
                                      "currently because it failed sync: %s",
                                      name, c->message));
        if (pdb->healthy <= pdb->desired)
            return too_many(f, 0,
                            xasprintf("The disruption budget %s needs %d healthy pods and has %d "
                                      "currently",
                                      name, pdb->desired, pdb->healthy));
        if (said)
            return too_many(f, 0,
                            xasprintf("The disruption budget %s does not allow evicting pods "
                                      "currently (%s): %s",
                                      name, strna(c->reason), c->message));
        return too_many(
            f, 0,
            xasprintf("The disruption budget %s does not allow evicting pods currently", name));
    }
    if (dry_run)
        return 0;
    _cleanup_json_ json_t *obj = record_json(r);
    json_t *status = json_object_get(obj, "status");
    json_object_set_new(status, "disruptionsAllowed", json_integer(pdb->allowed - 1));
    if (pdb->allowed == 1)
        pdb_set_condition(status, a->world->clock.now,
                          json_integer_value(json_object_get(status, "observedGeneration")), false);
    json_t *disrupted = json_object_get(status, "disruptedPods");
    if (!disrupted) {
        disrupted = json_object();
        json_object_set_new(status, "disruptedPods", disrupted);
    }
    char now[TIMEFMT_LEN];
    json_object_set_new(disrupted, pod, json_string(time_format(a->world->clock.now, false, now)));
    /* Written as the server would: as an update of the status. */
    struct write w = {.api = a,
                      .res = a->pdbs,
                      .ns = pdb->meta.ns,
                      .name = name,
                      .sub = "status",
                      .dry_run = false};
    struct record *out;
    bool created;
    if (registry_update(&w, &obj, &out, &created, f))
        return -1;
    record_unref(out);
    return 0;
}

void pdb_set_condition(json_t *status, int64_t now, int64_t generation, bool sufficient) {
    json_t *list = json_object_get(status, "conditions"), *item, *found = NULL;
    size_t i;
    json_array_foreach(list, i, item) if (is(json_str(item, "type"), "DisruptionAllowed")) found =
        item;
    const char *value = sufficient ? "True" : "False";
    char time[TIMEFMT_LEN];
    json_t *c = json_pack("{s:s, s:s, s:I, s:s, s:s, s:s}", "type", "DisruptionAllowed", "status",
                          value, "observedGeneration", (json_int_t)generation, "lastTransitionTime",
                          time_format(now, false, time), "reason",
                          sufficient ? "SufficientPods" : "InsufficientPods", "message", "");
    if (found && is(json_str(found, "status"), value))
        json_object_set(c, "lastTransitionTime", json_object_get(found, "lastTransitionTime"));
    if (found) {
        json_object_clear(found);
        json_object_update(found, c);
        json_decref(c);
        return;
    }
    if (!list) {
        list = json_array();
        json_object_set_new(status, "conditions", list);
    }
    json_array_append_new(list, c);
}

static int check_preconditions(const struct delete_options *o, const struct meta *m,
                               struct failure *f) {
    if (!str_empty(o->uid) && !str_same(o->uid, m->uid))
        return fail_conflict(f, "", "Pod", m->name,
                             "the UID in the precondition (%s) does not match the UID in record "
                             "(%s). The object might have been deleted and then recreated",
                             o->uid, strna(m->uid));
    if (!str_empty(o->version) && !str_same(o->version, m->version))
        return fail_conflict(f, "", "Pod", m->name,
                             "the ResourceVersion in the precondition (%s) does not match the "
                             "ResourceVersion in record (%s). The object might have been modified",
                             o->version, strna(m->version));
    return 0;
}

void pod_add_condition(json_t *obj, const char *type, const char *value, const char *reason,
                       const char *message, int64_t now) {
    json_t *status = json_object_get(obj, "status"), *item, *found = NULL;
    json_t *list = json_object_get(status, "conditions");
    size_t i;
    if (!list) {
        list = json_array();
        json_object_set_new(status, "conditions", list);
    }
    json_array_foreach(list, i, item) if (is(json_str(item, "type"), type)) found = item;
    char time[TIMEFMT_LEN];
    json_t *c = json_pack("{s:s, s:s, s:n, s:s}", "type", type, "status", value, "lastProbeTime",
                          "lastTransitionTime", time_format(now, false, time));
    if (!str_empty(reason))
        json_object_set_new(c, "reason", json_string(reason));
    if (!str_empty(message))
        json_object_set_new(c, "message", json_string(message));
    if (found && is(json_str(found, "status"), value))
        json_object_set(c, "lastTransitionTime", json_object_get(found, "lastTransitionTime"));
    if (found) {
        json_object_clear(found);
        json_object_update(found, c);
        json_decref(c);
    } else {
        json_array_append_new(list, c);
    }
}

/* The condition, then the deletion. */
static int evict(struct call *c, const struct delete_options *given, bool dry_run,
                 struct failure *f) {
    struct write w = {.api = c->api,
                      .res = c->res,
                      .ns = c->ns,
                      .name = c->name,
                      .sub = NULL,
                      .dry_run = dry_run};
    struct delete_options o = *given;
    struct record *r;
    if (registry_get(&w, &r, f))
        return -1;
    if (!dry_run) {
        if (check_preconditions(&o, &r->obj->meta, f))
            return -1;
        _cleanup_json_ json_t *obj = record_json(r);
        pod_add_condition(obj, "DisruptionTarget", "True", "EvictionByEvictionAPI",
                          "Eviction API: evicting", c->api->world->clock.now);
        w.sub = "status";
        bool created;
        struct record *updated;
        if (registry_update(&w, &obj, &updated, &created, f))
            return -1;
        w.sub = NULL;
        if (o.version)
            o.version = arena_strndup(&c->arena, updated->obj->meta.version,
                                      strlen(updated->obj->meta.version));
        record_unref(updated);
    }
    bool gone;
    if (registry_delete(&w, &o, &r, &gone, f))
        return -1;
    record_unref(r);
    return 0;
}

/* Decides by the budget; *guard when the deletion must not race with the pod's becoming ready. */
static int check_budget(struct call *c, const struct record *r, bool dry_run, bool *guard,
                        struct failure *f) {
    const struct pod *pod = record_as(pod, r);
    struct record *pdb_record = NULL;
    size_t n = 0;
    struct snapshot *snap = shelf_snapshot(c->api->pdbs->shelf);
    for (size_t i = snapshot_seek(snap, c->ns, ""); i < snap->n; i++) {
        const struct pdb *p = record_as(pdb, snap->items[i]);
        if (!str_same(p->meta.ns, c->ns))
            break;
        if (selector_match(p->selector, pod->meta.labels)) {
            pdb_record = snap->items[i];
            n++;
        }
    }
    snapshot_unref(snap);
    if (n > 1)
        return fail(f, 500, "",
                    "This pod has more than one PodDisruptionBudget, which the eviction "
                    "subresource does not support.");
    if (n == 0)
        return 0;
    const struct pdb *pdb = record_as(pdb, pdb_record);
    const struct condition *ready = condition_find(pod->conditions, "Ready");
    if (!ready || !is(ready->status, "True")) {
        if (is(pdb->unhealthy_policy, "AlwaysAllow") ||
            (pdb->healthy >= pdb->desired && pdb->desired > 0)) {
            *guard = true;
            return 0;
        }
    }
    record_ref(pdb_record);
    int rc = decrement(c->api, pdb_record, pod->meta.name, dry_run, f);
    record_unref(pdb_record);
    return rc;
}

int eviction_create(struct call *c, struct failure *f) {
    struct write_options wo;
    /* policy/v1beta1 bodies are read as well. */
    const struct posted eviction = {"policy", "v1", "Eviction", "policy/v1beta1",
                                    schema_find("policy", "v1", "Eviction")};
    _cleanup_json_ json_t *obj = NULL;
    if (body_check_type(c, eviction.schema, f) ||
        query_write_options(&c->query, "CreateOptions", &wo, f) ||
        posted_read(c, &eviction, wo.validation, &obj, f))
        return -1;
    const json_t *meta = json_object_get(obj, "metadata");
    const char *ns = json_str(meta, "namespace");
    if (!str_empty(ns) && !streq(ns, c->ns))
        return fail_bad_request(f, "the namespace of the provided object does not match the "
                                   "namespace sent on the request");
    if (!is(json_str(meta, "name"), c->name))
        return fail_bad_request(f, "name in URL does not match name in Eviction object");
    struct delete_options o = DELETE_OPTIONS_INIT;
    bool dry_run = false;
    const json_t *options = json_object_get(obj, "deleteOptions");
    const json_t *unsafe =
        json_object_get(options, "ignoreStoreReadErrorWithClusterBreakingPotential");
    if (json_is_true(unsafe)) {
        struct field_errors e = {0};
        field_error(&e, FIELD_INVALID,
                    "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential", unsafe,
                    "can not be set for pod eviction, try after removing the option");
        fail_invalid(f, "policy", "Eviction", c->name, &e);
        field_errors_done(&e);
        return -1;
    }
    if (delete_options_of(c, options, &o, &dry_run, f))
        return -1;
    size_t n = json_array_size(json_object_get(options, "dryRun"));
    if (n && wo.n_dry_run && n != wo.n_dry_run)
        return fail(f, 500, "",
                    "Non-matching dry-run options in request and content: %zu times and %zu times",
                    wo.n_dry_run, n);
    dry_run = dry_run || wo.dry_run;

    struct write w = {
        .api = c->api, .res = c->res, .ns = c->ns, .name = c->name, .dry_run = dry_run};
    struct record *r;
    if (registry_check_namespace(&w, c->name, f) || registry_get(&w, &r, f))
        return -1;
    const struct pod *pod = record_as(pod, r);
    bool terminal = is(pod->phase, "Succeeded") || is(pod->phase, "Failed") || pod->meta.deleted;
    bool guard = false;
    if (terminal || is(pod->phase, "Pending")) {
        if (evict(c, &o, dry_run, f))
            return -1;
        posted_answer(c);
        return 0;
    }
    if (check_budget(c, r, dry_run, &guard, f))
        return -1;
    if (guard) /* whatever version the client has asked for */
        o.version = arena_strndup(&c->arena, pod->meta.version, strlen(pod->meta.version));
    if (evict(c, &o, dry_run, f))
        return -1;
    posted_answer(c);
    return 0;
}
