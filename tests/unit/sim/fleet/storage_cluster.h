/* A whole simulated cluster for the tests of storage: nodes with machines, classes, and short ways
 * to make objects, let time pass and look at what has become of them. */
#ifndef STORAGE_CLUSTER_H
#define STORAGE_CLUSTER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Before cmocka, which has a macro of the name of a function in failure.h. */
#include "sim/fleet/machine.h"
#include "sim/fleet/storage.h"
#include "sim/fleet/workload.h"
#include "sim/sim.h"

#include <cmocka.h>

struct cluster {
    struct sim *sim;
    struct fleet *f;
    struct clock *clock;
};

#define START INT64_C(1794729600000000) /* 2026-11-15T08:00:00Z */

static inline void cluster_run(struct cluster *c, int64_t usec) {
    clock_run(c->clock, c->clock->now + usec);
}

static inline int cluster_setup(void **state) {
    struct cluster *c = xnew(struct cluster);
    c->sim = sim_new(&(struct sim_options){.seed = 7, .start = START, .speed = 1});
    c->f = sim_fleet(c->sim);
    c->clock = &sim_world(c->sim)->clock;
    cluster_run(c, SEC(1)); /* namespaces get their service accounts */
    *state = c;
    return 0;
}

static inline int cluster_teardown(void **state) {
    struct cluster *c = *state;
    sim_free(c->sim);
    free(c);
    return 0;
}

/* Lets time pass, event by event, until something is so; all of it when it never is. */
#define WITHIN(c, limit, expr)                                                                     \
    ({                                                                                             \
        int64_t end_ = (c)->clock->now + (limit);                                                  \
        bool is_;                                                                                  \
        while (!(is_ = (expr)) && clock_step((c)->clock, end_))                                    \
            ;                                                                                      \
        if (!is_)                                                                                  \
            clock_run((c)->clock, end_);                                                           \
        is_;                                                                                       \
    })
/* It stays so for so long. */
#define STAYS(c, limit, expr) (!WITHIN(c, limit, !(expr)))

/* --- making --- */

/* From JSON with ' for ". Fails the test, saying why, when it is refused. */
__attribute__((format(printf, 4, 5))) static inline void
make(struct cluster *c, struct resource *res, const char *ns, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_error_t error;
    json_t *raw = json_loads(text, 0, &error);
    if (!raw)
        fail_msg("%s: %s", error.text, text);
    _cleanup_failure_ struct failure failure = FAILURE_INIT;
    struct record *r = fleet_create(c->f, res, ns, raw, &failure);
    if (!r)
        fail_msg("%s: %s", text, strna(failure.message));
    record_unref(r);
}

/* A node with a machine; `zone` may be NULL. */
static inline void make_node(struct cluster *c, const char *name, const char *zone) {
    make(c, c->f->nodes, NULL,
         "{'metadata': {'name': '%s', 'annotations': {'sim.slipway.dev/machine': ''},"
         " 'labels': {'kubernetes.io/hostname': '%s'%s%s%s}}}",
         name, name, zone ? ", 'topology.kubernetes.io/zone': '" : "", strna(zone),
         zone ? "'" : "");
}

/* Nodes w1, w2, ...; ready when it returns. */
static inline void make_nodes(struct cluster *c, int n) {
    for (int i = 1; i <= n; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "w%d", i);
        make_node(c, name, NULL);
    }
    cluster_run(c, SEC(5));
}

/* `more`: further members, after a comma. */
static inline void make_class(struct cluster *c, const char *name, const char *mode,
                              const char *more) {
    make(c, c->f->storage_classes, NULL,
         "{'metadata': {'name': '%s'}, 'provisioner': '" DISK_DRIVER "',"
         " 'volumeBindingMode': '%s'%s}",
         name, mode, more);
}

/* A claim of 1Gi, ReadWriteOnce; `class` may be NULL. */
static inline void make_claim(struct cluster *c, const char *name, const char *class,
                              const char *more) {
    make(c, c->f->pvcs, "default",
         "{'metadata': {'name': '%s', 'namespace': 'default'}, 'spec': {'accessModes': "
         "['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}%s%s%s%s}}",
         name, class ? ", 'storageClassName': '" : "", strna(class), class ? "'" : "", more);
}

/* A pod that uses a claim; on this node if it is not NULL. `meta` is further metadata, after a
 * comma. */
static inline void make_pod(struct cluster *c, const char *name, const char *claim,
                            const char *node, const char *meta) {
    make(c, c->f->pods, "default",
         "{'metadata': {'name': '%s', 'namespace': 'default'%s}, 'spec': {%s%s%s 'containers': "
         "[{'name': 'c', 'image': 'i', 'volumeMounts': [{'name': 'data', 'mountPath': '/d'}]}], "
         "'volumes': [{'name': 'data', 'persistentVolumeClaim': {'claimName': '%s'}}]}}",
         name, meta, node ? "'nodeName': '" : "", strna(node), node ? "'," : "", claim);
}

/* A StatefulSet of pods with a claim each, of the class. */
static inline void make_set(struct cluster *c, const char *name, int replicas, const char *class) {
    make(c, c->f->stateful_sets, "default",
         "{'metadata': {'name': '%s', 'namespace': 'default'}, 'spec': {'replicas': %d, "
         "'serviceName': '%s', 'selector': {'matchLabels': {'app': '%s'}}, 'template': "
         "{'metadata': {'labels': {'app': '%s'}}, 'spec': {'containers': [{'name': 'c', 'image': "
         "'i', 'volumeMounts': [{'name': 'data', 'mountPath': '/d'}]}]}}, 'volumeClaimTemplates': "
         "[{'metadata': {'name': 'data'}, 'spec': {'accessModes': ['ReadWriteOnce'], "
         "'storageClassName': '%s', 'resources': {'requests': {'storage': '10Gi'}}}}]}}",
         name, replicas, name, name, name, class);
}

static inline void delete_now(struct cluster *c, struct resource *res, const char *ns,
                              const char *name, int64_t grace) {
    struct delete_options o = DELETE_OPTIONS_INIT;
    o.grace = grace;
    assert_true(fleet_delete(c->f, res, ns, name, &o));
}

/* --- looking --- */

static inline const struct pvc *claim_of(const struct cluster *c, const char *name) {
    const struct record *r = shelf_get(c->f->pvcs->shelf, "default", name);
    return r ? record_as(pvc, r) : NULL;
}
static inline const struct pv *volume_of(const struct cluster *c, const char *name) {
    const struct record *r = shelf_get(c->f->pvs->shelf, NULL, strna(name));
    return r ? record_as(pv, r) : NULL;
}
static inline const struct pod *pod_of(const struct cluster *c, const char *name) {
    const struct record *r = shelf_get(c->f->pods->shelf, "default", name);
    return r ? record_as(pod, r) : NULL;
}
static inline const struct node *node_of(const struct cluster *c, const char *name) {
    const struct record *r = shelf_get(c->f->nodes->shelf, NULL, name);
    return r ? record_as(node, r) : NULL;
}

static inline bool claim_is(const struct cluster *c, const char *name, const char *phase) {
    const struct pvc *claim = claim_of(c, name);
    return claim && str_same(claim->phase, phase);
}
static inline bool volume_is(const struct cluster *c, const char *name, const char *phase) {
    const struct pv *volume = volume_of(c, name);
    return volume && str_same(volume->phase, phase);
}
static inline bool is_ready(const struct cluster *c, const char *name) {
    const struct pod *pod = pod_of(c, name);
    return pod && pod_ready(pod);
}

/* The attachment of a volume and a node. */
static inline const struct volume_attachment *attachment_of(const struct cluster *c,
                                                            const char *volume, const char *node) {
    char name[ATTACHMENT_NAME_SIZE];
    const struct pv *pv = volume_of(c, volume);
    if (!pv)
        return NULL;
    const struct record *r =
        shelf_get(c->f->attachments->shelf, NULL, attachment_name(pv, node, name));
    return r ? record_as(volume_attachment, r) : NULL;
}
static inline bool is_attached(const struct cluster *c, const char *volume, const char *node) {
    const struct volume_attachment *a = attachment_of(c, volume, node);
    return a && a->attached && !a->meta.deleted;
}
/* In the Node's status. */
static inline bool is_in_use(const struct cluster *c, const char *volume, const char *node) {
    _cleanup_free_ char *disk = disk_name(volume_of(c, volume));
    const struct node *n = node_of(c, node);
    for (size_t i = 0; i < list_len(n->volumes_in_use); i++)
        if (str_same(n->volumes_in_use[i], disk))
            return true;
    return false;
}
static inline bool is_reported(const struct cluster *c, const char *volume, const char *node) {
    _cleanup_free_ char *disk = disk_name(volume_of(c, volume));
    const struct node *n = node_of(c, node);
    for (size_t i = 0; i < list_len(n->volumes_attached); i++)
        if (str_same(n->volumes_attached[i].name, disk))
            return true;
    return false;
}

/* An object as JSON, the caller's. */
static inline json_t *json_of(struct resource *res, const char *ns, const char *name) {
    const struct record *r = shelf_get(res->shelf, ns, name);
    assert_non_null(r);
    return record_json(r);
}

/* There is an event about an object with this text. */
static inline bool event_says(const struct cluster *c, const char *name, const char *reason,
                              const char *text) {
    struct snapshot *snap = shelf_snapshot(c->f->events->shelf);
    bool found = false;
    for (size_t i = 0; i < snap->n; i++) {
        const struct kube_event *e = record_as(kube_event, snap->items[i]);
        found = found || (str_same(e->object.name, name) && str_same(e->reason, reason) &&
                          str_same(e->message, text));
    }
    snapshot_unref(snap);
    return found;
}
/* How often it was told. */
static inline int32_t event_count(const struct cluster *c, const char *name, const char *reason) {
    struct snapshot *snap = shelf_snapshot(c->f->events->shelf);
    int32_t n = 0;
    for (size_t i = 0; i < snap->n; i++) {
        const struct kube_event *e = record_as(kube_event, snap->items[i]);
        if (str_same(e->object.name, name) && str_same(e->reason, reason))
            n += e->count;
    }
    snapshot_unref(snap);
    return n;
}
/* The text of the only event about an object with this reason, or NULL. Valid until the next one.
 */
static inline const char *event_about(const struct cluster *c, const char *name,
                                      const char *reason) {
    struct snapshot *snap = shelf_snapshot(c->f->events->shelf);
    const char *message = NULL;
    for (size_t i = 0; i < snap->n; i++) {
        const struct kube_event *e = record_as(kube_event, snap->items[i]);
        if (!str_same(e->object.name, name) || !str_same(e->reason, reason))
            continue;
        if (message)
            fail_msg("%s of %s: \"%s\" and \"%s\"", reason, name, message, strna(e->message));
        message = e->message;
    }
    snapshot_unref(snap); /* the shelf still has them */
    return message;
}

#endif
