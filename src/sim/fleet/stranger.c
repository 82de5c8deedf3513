/* In a copy of another cluster: pods of controllers that are not simulated (operators, kinds of
 * other people) come back when they go, as their controllers would make them again: the same pod
 * under its own name, or under a new one where its name was made up, and without a node. What their
 * real controllers do beside that (a switch-over, an order of their own) is not known here. */
#include "sim/fleet/machine.h"
#include "sim/fleet/original.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/workload.h"

/* As controllers react. */
#define WAIT_MIN MSEC(50)
#define WAIT_MAX MSEC(500)
#define RETRY    SEC(1)

/* A pod that will be there again. */
struct comeback {
    struct strangers *all;
    struct comeback *next, **link;
    struct alarm alarm;
    char *ns;
    json_t *pod;
};

struct strangers {
    struct fleet *fleet;
    struct comeback *list;
};

static void comeback_free(struct comeback *c) {
    clock_stop(&c->all->fleet->world->clock, &c->alarm);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    json_decref(c->pod);
    free(c->ns);
    free(c);
}

static void come_back(void *arg) {
    struct comeback *c = arg;
    struct fleet *f = c->all->fleet;
    struct record *r = fleet_create(f, f->pods, c->ns, json_deep_copy(c->pod), NULL);
    if (r) {
        record_unref(r);
        comeback_free(c);
        return;
    }
    /* The old one is not gone yet, or its namespace is going: then for good. */
    if (shelf_get(f->namespaces->shelf, NULL, c->ns))
        clock_set(&f->world->clock, &c->alarm, f->world->clock.now + RETRY, come_back, c);
    else
        comeback_free(c);
}

/* What its controller would send. */
static json_t *anew(const struct record *r) {
    static const char *const meta_kept[] = {"generateName", "namespace",       "labels",
                                            "annotations",  "ownerReferences", "finalizers"};
    static const char *const stuck[] = {SIM_ANNOTATION "ready", SIM_ANNOTATION "start",
                                        SIM_ANNOTATION "stop"};
    static const char *const given[] = {"nodeName", "priority", "preemptionPolicy",
                                        "ephemeralContainers"};
    _cleanup_json_ json_t *old = record_json(r);
    json_t *meta = json_object(), *spec = json_deep_copy(json_object_get(old, "spec"));
    for (size_t i = 0; i < ARRAY_LEN(meta_kept); i++) {
        json_t *v = json_object_get(meta_of(old), meta_kept[i]);
        if (v)
            json_object_set_new(meta, meta_kept[i], json_deep_copy(v));
    }
    if (!json_object_get(meta, "generateName"))
        json_object_set_new(meta, "name", json_string(r->obj->meta.name));
    /* What the old one was stuck in is its own. */
    for (size_t i = 0; i < ARRAY_LEN(stuck); i++)
        json_object_del(json_object_get(meta, "annotations"), stuck[i]);
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        json_object_del(spec, given[i]);
    return json_pack("{s:o, s:o}", "metadata", meta, "spec", spec);
}

static void pod_changed(void *arg, const struct change *c) {
    struct strangers *all = arg;
    struct fleet *f = all->fleet;
    const struct pod *pod = record_as(pod, c->after);
    const struct owner *o = meta_controller(&pod->meta);
    if (c->type != CHANGE_DELETED || !f->original || !o ||
        !original_is_stranger(f->original, o->uid) || str_same(o->kind, "Node") ||
        str_same(pod->phase, "Succeeded"))
        return;
    struct comeback *b = xnew(struct comeback);
    *b = (struct comeback){.all = all,
                           .next = all->list,
                           .link = &all->list,
                           .ns = xstrdup(strna(pod->meta.ns)),
                           .pod = anew(c->after)};
    if (b->next)
        b->next->link = &b->next;
    all->list = b;
    clock_set(&f->world->clock, &b->alarm, f->world->clock.now + fleet_delay(f, WAIT_MIN, WAIT_MAX),
              come_back, b);
}

static void *start(struct fleet *f) {
    struct strangers *all = xnew(struct strangers);
    all->fleet = f;
    shelf_listen(f->pods->shelf, pod_changed, all);
    return all;
}

static void stop(void *part) {
    struct strangers *all = part;
    shelf_unlisten(all->fleet->pods->shelf, pod_changed, all);
    while (all->list)
        comeback_free(all->list);
    free(all);
}

const struct part strangers_part = {"stranger", start, stop};
