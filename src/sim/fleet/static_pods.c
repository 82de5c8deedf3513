/* Files on machines, and their mirrors in the API. */
#include "sim/fleet/static_pods.h"

#include <stdio.h>
#include <string.h>

#define ANN_MIRROR "kubernetes.io/config.mirror"
#define ANN_HASH   "kubernetes.io/config.hash"
#define ANN_SEEN   "kubernetes.io/config.seen"
#define ANN_SOURCE "kubernetes.io/config.source"

struct static_pod {
    struct static_pods *all;
    struct machine *machine;
    struct static_pod *next; /* of the same machine, in the order of their files */
    char *ns, *name;         /* of the mirror */
    json_t *mirror;          /* what is created */
    struct alarm alarm;
    /* How it was when its mirror went, so that a new one shows the same containers; only as long as
     * the machine has not been booted since. NULL: not known. */
    json_t *status;
    char boot_id[UUID_LEN + 1];
};

struct static_pods {
    struct fleet *fleet;
    struct htab by_name;
};

struct pod_key {
    const char *ns, *name;
};

static uint32_t pod_hash(const char *ns, const char *name) {
    return hash_more(hash_bytes(ns, strlen(ns) + 1), name, strlen(name));
}
static uint32_t entry_hash(const void *entry) {
    const struct static_pod *p = entry;
    return pod_hash(p->ns, p->name);
}
static bool entry_equal(const void *entry, const void *key) {
    const struct static_pod *p = entry;
    const struct pod_key *k = key;
    return streq(p->name, k->name) && streq(p->ns, k->ns);
}
static const struct htab_ops entry_ops = {entry_hash, entry_equal};

static struct static_pod *find(const struct static_pods *s, const char *ns, const char *name) {
    return htab_find(&s->by_name, pod_hash(ns, name), &(struct pod_key){ns, name});
}

bool pod_is_mirror(const struct pod *pod) {
    return map_has(pod->meta.annotations, ANN_MIRROR);
}

/* --- files --- */

/* Takes the mirror. */
static struct static_pod *keep(struct static_pods *s, struct machine *m, json_t *mirror) {
    struct static_pod *p = xnew(struct static_pod);
    p->all = s;
    p->machine = m;
    p->ns = xstrdup(strna(meta_str(mirror, "namespace")));
    p->name = xstrdup(strna(meta_str(mirror, "name")));
    p->mirror = mirror;
    htab_insert(&s->by_name, p);
    struct static_pod **last = &m->static_pods;
    while (*last)
        last = &(*last)->next;
    *last = p;
    return p;
}

static void drop(struct static_pod *p) {
    struct static_pod **link = &p->machine->static_pods;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    htab_remove(&p->all->by_name, pod_hash(p->ns, p->name), &(struct pod_key){p->ns, p->name});
    clock_stop(&p->all->fleet->world->clock, &p->alarm);
    json_decref(p->mirror);
    json_decref(p->status);
    free(p->ns);
    free(p->name);
    free(p);
}

/* --- mirrors --- */

/* What a kubelet reports of a pod. The conditions that others have set are of the old mirror. */
static json_t *own_status(const struct record *r) {
    json_t *obj = record_json(r), *status = json_incref(json_object_get(obj, "status"));
    json_decref(obj);
    static const char *const own[] = {"PodReadyToStartContainers", "Initialized", "Ready",
                                      "ContainersReady", "PodScheduled"};
    json_t *list = json_object_get(status, "conditions");
    for (size_t i = json_array_size(list); i-- > 0;) {
        const char *type = json_str(json_array_get(list, i), "type");
        bool mine = false;
        for (size_t k = 0; k < ARRAY_LEN(own); k++)
            mine = mine || str_same(own[k], type);
        if (!mine)
            json_array_remove(list, i);
    }
    return status;
}

static bool create(struct static_pod *p, struct failure *failure) {
    struct fleet *f = p->all->fleet;
    const struct record *node = shelf_get(f->nodes->shelf, NULL, p->machine->name);
    if (!node || node->obj->meta.deleted)
        return false; /* "No need to create a mirror pod, since node has been removed" */
    json_t *obj = json_deep_copy(p->mirror);
    json_object_set_new(meta_of(obj), "ownerReferences",
                        json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "v1", "kind", "Node",
                                  "name", p->machine->name, "uid", node->obj->meta.uid,
                                  "controller", 1));
    struct record *r = fleet_create(f, f->pods, p->ns, obj, failure);
    if (!r)
        return false;
    record_unref(r);
    /* Whoever heard of it may have deleted it again. */
    r = shelf_get(f->pods->shelf, p->ns, p->name);
    if (r && p->status && streq(p->boot_id, p->machine->boot_id))
        fleet_put_status(f, f->pods, r, json_incref(p->status));
    json_decref(p->status);
    p->status = NULL;
    return true;
}

static void reconcile(void *arg) {
    struct static_pod *p = arg;
    if (p->machine->state == MACHINE_UP && !shelf_get(p->all->fleet->pods->shelf, p->ns, p->name))
        (void)create(p, NULL); /* if not, the next change of that pod asks again */
}

/* Within one turn of the kubelet's loop. */
static void reconcile_soon(struct static_pod *p) {
    struct fleet *f = p->all->fleet;
    clock_set(&f->world->clock, &p->alarm,
              f->world->clock.now + fleet_delay(f, MSEC(10), MSEC(100)), reconcile, p);
}

/* --- the API --- */

static void adopt(struct static_pods *s, struct machine *m, const struct record *r) {
    json_t *obj = record_json(r), *meta = meta_of(obj);
    static const char *const servers[] = {"uid", "resourceVersion", "creationTimestamp",
                                          "generation", "managedFields"};
    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        json_object_del(meta, servers[i]);
    json_object_del(obj, "status");
    (void)keep(s, m, obj);
}

static void pod_changed(void *arg, const struct change *c) {
    struct static_pods *s = arg;
    const struct pod *pod = record_as(pod, c->after);
    struct static_pod *p = find(s, strna(pod->meta.ns), pod->meta.name);
    if (c->type == CHANGE_DELETED) {
        if (!p)
            return;
        json_decref(p->status);
        p->status = NULL;
        if (p->machine->state != MACHINE_DOWN && pod_is_mirror(pod)) {
            p->status = own_status(c->after);
            (void)snprintf(p->boot_id, sizeof p->boot_id, "%s", p->machine->boot_id);
        }
        reconcile_soon(p);
    } else if (c->type == CHANGE_ADDED && pod_is_mirror(pod)) {
        struct machine *m = machine_find(s->fleet, pod->node_name);
        if (!p && m)
            adopt(s, m, c->after);
        /* Somebody else's, of the same name: the file is what counts. */
        else if (p && !str_same(
                          map_get(pod->meta.annotations, ANN_MIRROR),
                          json_str(json_object_get(meta_of(p->mirror), "annotations"), ANN_MIRROR)))
            fleet_delete(s->fleet, s->fleet->pods, p->ns, p->name,
                         &(struct delete_options){.grace = 0});
    }
}

/* As applyDefaults() of pkg/kubelet/config: takes nothing, returns a new value. */
static json_t *mirror_of(struct static_pods *s, const struct machine *m, const json_t *pod) {
    struct world *w = s->fleet->world;
    json_t *obj = json_deep_copy(pod), *meta = json_object_get(obj, "metadata");
    if (!json_is_object(meta)) {
        meta = json_object();
        json_object_set_new(obj, "metadata", meta);
    }
    _cleanup_free_ char *name = xasprintf("%s-%s", strna(json_str(meta, "name")), m->name);
    json_object_set_new(meta, "name", json_string(name));
    if (str_empty(json_str(meta, "namespace")))
        json_object_set_new(meta, "namespace", json_string("default"));
    json_t *annotations = json_object_get(meta, "annotations");
    if (!json_is_object(annotations)) {
        annotations = json_object();
        json_object_set_new(meta, "annotations", annotations);
    }
    /* 32 hexadecimal digits as the real hash of a file, but drawn. */
    char uuid[UUID_LEN + 1], hash[33], now[TIMEFMT_LEN];
    size_t n = 0;
    for (const char *c = world_uuid(w, uuid); *c; c++)
        if (*c != '-')
            hash[n++] = *c;
    hash[n] = '\0';
    json_object_set_new(annotations, ANN_HASH, json_string(hash));
    json_object_set_new(annotations, ANN_MIRROR, json_string(hash));
    json_object_set_new(annotations, ANN_SEEN, json_string(time_format(w->clock.now, true, now)));
    json_object_set_new(annotations, ANN_SOURCE, json_string("file"));
    json_t *spec = json_object_get(obj, "spec");
    if (!json_is_object(spec))
        return obj; /* the API will say so */
    json_object_set_new(spec, "nodeName", json_string(m->name));
    json_t *tolerations = json_object_get(spec, "tolerations");
    if (!json_is_array(tolerations)) {
        tolerations = json_array();
        json_object_set_new(spec, "tolerations", tolerations);
    }
    json_array_append_new(tolerations,
                          json_pack("{s:s, s:s}", "operator", "Exists", "effect", "NoExecute"));
    return obj;
}

bool static_pods_add(struct static_pods *s, struct machine *m, const json_t *pod,
                     struct failure *failure) {
    json_t *mirror = mirror_of(s, m, pod);
    if (find(s, strna(meta_str(mirror, "namespace")), strna(meta_str(mirror, "name")))) {
        fail_exists(failure, "", "pods", strna(meta_str(mirror, "name")));
        json_decref(mirror);
        return false;
    }
    struct static_pod *p = keep(s, m, mirror);
    if (create(p, failure))
        return true;
    drop(p);
    return false;
}

void static_pods_resume(struct static_pods *s, struct machine *m) {
    (void)s;
    for (struct static_pod *p = m->static_pods; p; p = p->next)
        reconcile_soon(p);
}

void static_pods_forget(struct static_pods *s, struct machine *m) {
    (void)s;
    while (m->static_pods)
        drop(m->static_pods);
}

struct static_pods *static_pods_new(struct fleet *f) {
    struct static_pods *s = xnew(struct static_pods);
    s->fleet = f;
    htab_init(&s->by_name, &entry_ops);
    shelf_listen(f->pods->shelf, pod_changed, s);
    return s;
}

void static_pods_free(struct static_pods *s) {
    if (!s)
        return;
    shelf_unlisten(s->fleet->pods->shelf, pod_changed, s);
    struct static_pod *p;
    for (uint32_t i = 0; (p = htab_next(&s->by_name, &i)); i = 0)
        drop(p);
    htab_done(&s->by_name);
    free(s);
}
