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
                      "internal service IP or kubernetes.default.svc.",
                      "data", "ca.crt", ""),
            NULL));
}

/* Deletes what is there; how much is left? */
static size_t empty(struct fleet *f, const char *ns) {
    size_t left = 0;
    const struct shelf *done = NULL;
    for (size_t i = 0; i < f->api->resources.len; i++) {
        struct resource *res = f->api->resources.p[i];
        if (!res->info->namespaced || !res->shelf || res->shelf == done)
            continue;
        done = res->shelf; /* versions of one resource stand together */
        struct snapshot *snap = shelf_snapshot(res->shelf);
        for (size_t k = snapshot_seek(snap, ns, ""); k < snap->n; k++) {
            const struct meta *m = &snap->items[k]->obj->meta;
            if (!str_same(m->ns, ns))
                break;
            struct delete_options o = DELETE_OPTIONS_INIT;
            o.propagation = "Background";
            if (!m->deleted)
                fleet_delete(f, res, ns, m->name, &o);
            left += shelf_get(res->shelf, ns, m->name) != NULL;
        }
        snapshot_unref(snap);
    }
    return left;
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
    if (empty(f, name)) {
        queue_add_after(c->queue, NULL, name, RETRY);
        return true;
    }
    r = shelf_get(f->namespaces->shelf, NULL, name);
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
