/* Namespaces: each gets its default ServiceAccount and the root certificate's ConfigMap; one that
 * is deleted is emptied first. */
#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

/* Contents with finalizers or grace periods are looked at again. */
#define RETRY SEC(1)

struct namespaces {
    struct fleet *fleet;
    struct queue *queue;
    struct resource *accounts, *configs;
};

static void furnish(struct namespaces *c, const char *ns) {
    struct fleet *f = c->fleet;
    if (!shelf_get(c->accounts->shelf, ns, "default"))
        record_unref(fleet_create(
            f, c->accounts, ns,
            json_pack("{s:{s:s, s:s}}", "metadata", "name", "default", "namespace", ns), NULL));
    if (!shelf_get(c->configs->shelf, ns, "kube-root-ca.crt"))
        record_unref(fleet_create(
            f, c->configs, ns,
            json_pack("{s:{s:s, s:s, s:{s:s}}, s:{s:s}}", "metadata", "name", "kube-root-ca.crt",
                      "namespace", ns, "annotations", "kubernetes.io/description",
                      "Contains a CA bundle that can be used to verify the "
                      "kube-apiserver when using internal endpoints such as the "
                      "internal service IP or kubernetes.default.svc. No other usage is "
                      "guaranteed across distributions of Kubernetes clusters.",
                      "data", "ca.crt", strna(f->ca)),
            NULL));
}

/* What is left of a namespace that is being emptied. */
struct left {
    size_t n;
    struct str resources;  /* "configmaps. has 1 resource instances, ..." */
    struct str finalizers; /* of the first that holds something */
    size_t held;
};

/* Deletes what is there. */
static void empty(struct fleet *f, const char *ns, struct left *left) {
    const struct shelf *done = NULL;
    for (size_t i = 0; i < f->api->resources.len; i++) {
        struct resource *res = f->api->resources.p[i];
        if (!res->info->namespaced || !res->shelf || res->shelf == done)
            continue;
        done = res->shelf; /* versions of one resource stand together */
        struct snapshot *snap = shelf_snapshot(res->shelf);
        size_t here = 0;
        for (size_t k = snapshot_seek(snap, ns, ""); k < snap->n; k++) {
            const struct meta *m = &snap->items[k]->obj->meta;
            if (!str_same(m->ns, ns))
                break;
            struct delete_options o = DELETE_OPTIONS_INIT;
            o.propagation = "Background";
            if (!m->deleted)
                fleet_delete(f, res, ns, m->name, &o);
            const struct record *still = shelf_get(res->shelf, ns, m->name);
            if (!still)
                continue;
            here++;
            for (size_t x = 0; x < list_len(still->obj->meta.finalizers); x++) {
                if (!left->held++)
                    str_add(&left->finalizers, still->obj->meta.finalizers[x]);
            }
        }
        snapshot_unref(snap);
        if (here) {
            str_addf(&left->resources, "%s%s.%s has %zu resource instances",
                     left->resources.len ? ", " : "", res->info->plural, res->info->group, here);
            left->n += here;
        }
    }
}

static json_t *condition(const char *type, bool value, const char *reason, const char *message,
                         const char *now) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", type, "status", value ? "True" : "False",
                     "lastTransitionTime", now, "reason", reason, "message", message);
}

/* Says what a namespace that cannot go is waiting for. */
static void tell(struct fleet *f, struct record *r, const struct left *left) {
    char now[TIMEFMT_LEN];
    time_format(f->world->clock.now, false, now);
    _cleanup_free_ char *rest =
        left->n ? xasprintf("Some resources are remaining: %s", str_get(&left->resources))
                : xstrdup("All content successfully removed");
    _cleanup_free_ char *held =
        left->held
            ? xasprintf(
                  "Some content in the namespace has finalizers remaining: %s in %zu resource "
                  "instances",
                  str_get(&left->finalizers), left->held)
            : xstrdup("All content-preserving finalizers finished");
    json_t *fresh = json_pack(
        "[o, o, o, o, o]",
        condition("NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                  "All resources successfully discovered", now),
        condition("NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                  "All legacy kube types successfully parsed", now),
        condition("NamespaceDeletionContentFailure", false, "ContentDeleted",
                  "All content successfully deleted, may be waiting on finalization", now),
        condition("NamespaceContentRemaining", left->n > 0,
                  left->n ? "SomeResourcesRemain" : "ContentRemoved", rest, now),
        condition("NamespaceFinalizersRemaining", left->held > 0,
                  left->held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers", held, now));
    _cleanup_json_ json_t *obj = record_json(r);
    json_t *status = json_object_get(obj, "status"), *item, *old;
    size_t i, k;
    json_array_foreach(fresh, i, item) /* times move only with their condition */
        json_array_foreach(json_object_get(status, "conditions"), k,
                           old) if (str_same(json_str(old, "type"), json_str(item, "type")) &&
                                    str_same(json_str(old, "status"), json_str(item, "status")))
            json_object_set(item, "lastTransitionTime", json_object_get(old, "lastTransitionTime"));
    json_object_set_new(status, "conditions", fresh);
    fleet_put_status(f, f->namespaces, r, json_incref(status));
}

static bool sync(void *arg, const char *none, const char *name) {
    struct namespaces *c = arg;
    struct fleet *f = c->fleet;
    (void)none;
    struct record *r = shelf_get(f->namespaces->shelf, NULL, name);
    if (!r)
        return true;
    if (!r->obj->meta.deleted) {
        furnish(c, name);
        return true;
    }
    struct left left = {0};
    empty(f, name, &left);
    r = shelf_get(f->namespaces->shelf, NULL, name);
    if (r && left.n)
        tell(f, r, &left);
    str_done(&left.resources);
    str_done(&left.finalizers);
    if (!r)
        return true;
    if (left.n) {
        queue_add_after(c->queue, NULL, name, RETRY);
        return true;
    }
    json_t *obj = record_json(r);
    json_t *list = json_object_get(json_object_get(obj, "spec"), "finalizers"), *v;
    size_t i;
    json_array_foreach(list, i, v) if (str_same(json_string_value(v), "kubernetes")) {
        json_array_remove(list, i);
        break;
    }
    fleet_update(f, f->namespaces, "finalize", obj, NULL);
    return true;
}

static void namespace_changed(void *arg, const struct change *change) {
    struct namespaces *c = arg;
    const struct meta *m = &change->after->obj->meta;
    if (change->type == CHANGE_DELETED)
        return;
    queue_add_after(c->queue, NULL, m->name, 0);
}

/* What every namespace has comes back when it is deleted. */
static void furniture_changed(void *arg, const struct change *change) {
    struct namespaces *c = arg;
    if (change->type == CHANGE_DELETED)
        queue_add(c->queue, NULL, change->after->obj->meta.ns);
}

static void *start(struct fleet *f) {
    struct namespaces *c = xnew(struct namespaces);
    c->fleet = f;
    c->accounts = api_resource(f->api, "", "v1", "serviceaccounts");
    c->configs = api_resource(f->api, "", "v1", "configmaps");
    c->queue = queue_new(f->world, MSEC(5), MSEC(20), sync, c);
    struct snapshot *snap = shelf_snapshot(f->namespaces->shelf);
    for (size_t i = 0; i < snap->n; i++)
        furnish(c, snap->items[i]->obj->meta.name);
    snapshot_unref(snap);
    shelf_listen(f->namespaces->shelf, namespace_changed, c);
    shelf_listen(c->accounts->shelf, furniture_changed, c);
    shelf_listen(c->configs->shelf, furniture_changed, c);
    return c;
}

static void stop(void *part) {
    struct namespaces *c = part;
    shelf_unlisten(c->fleet->namespaces->shelf, namespace_changed, c);
    shelf_unlisten(c->accounts->shelf, furniture_changed, c);
    shelf_unlisten(c->configs->shelf, furniture_changed, c);
    queue_free(c->queue);
    free(c);
}

const struct part namespaces_part = {"namespace-controller", start, stop};
