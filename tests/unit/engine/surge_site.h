/* For tests of surges: a small server with the controllers that matter, and somebody who drains. A
 * patch is compared with the version it was made for, annotations and spec count up the generation
 * (k8s.io/kubernetes pkg/registry/apps/deployment/strategy.go), a ReplicaSet removes pods that are
 * not ready first and then the youngest (pkg/controller/controller_utils.go). */
#ifndef ENGINE_SURGE_SITE_H
#define ENGINE_SURGE_SITE_H

#include "engine/surge.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/surge_list.h"
#include "engine/surge_record.h"
#include "kube/codec.h"

#define WALL (INT64_C(1794729600) * 1000000) /* 2026-11-15T08:00:00Z */

enum { PODS = 8, DEPS = 3 };

struct mpod {
    bool there, leaving, ready;
};

struct dep {
    char name[8];
    json_t *labels, *annotations;
    int replicas;
    bool paused, gone, deleting;
    const char *strategy, *uid, *failure;
    int64_t generation, observed;
    int available;
    unsigned version;
    struct mpod pods[PODS]; /* by age; the first is on the node that is drained */
    bool stuck;             /* new pods do not become ready */
    /* what came out */
    enum surge_state said;
    char text[512];
    bool evicted;
    int least; /* available */
};

enum fault {
    FAULT_NONE,
    FAULT_LOST,     /* the request */
    FAULT_NO_REPLY, /* carried out, the answer is lost */
    FAULT_CONFLICT, /* somebody else was quicker */
    FAULT_ERROR,    /* 500 */
    FAULT_THROTTLED,
    FAULT_DENIED,    /* 403 */
    FAULT_EMPTY,     /* carried out, and no object in the answer */
    FAULT_READ_ONLY, /* 403 for what changes anything */
    FAULT_UNKEPT,    /* a webhook takes the change back at once */
    FAULTS,
};

struct site {
    struct pool *pool;
    struct cluster cluster;
    struct surge *surge;
    uint64_t ids;
    struct actions out;
    struct now now;
    unsigned version;
    struct dep deps[DEPS];
    size_t n;
    bool slow; /* controllers do nothing */
    unsigned requests, reads, writes;
    unsigned fault_at, fault_for; /* number of the request, and how many in a row; 0: none */
    enum fault fault;
    char last[1024]; /* patch */
};

/* --- the server --- */

static inline struct object *decode(struct site *t, const struct kind *kind, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = object_new(kind);
    struct codec codec;
    _cleanup_err_ struct err err = ERR_INIT;
    codec_init(&codec, t->pool);
    memset(obj, 0, kind->type->size);
    if (codec_json(&codec, kind->type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    return obj;
}

static inline struct object *dep_object(struct site *t, const struct dep *d) {
    _cleanup_json_ json_t *root = json_pack(
        "{s:{s:s,s:s,s:s,s:o,s:I,s:O,s:O},s:{s:i,s:b,s:{s:s}},s:{s:I,s:i,s:[{s:s,s:s,s:s}]}}",
        "metadata", "namespace", "x", "name", d->name, "uid", d->uid, "resourceVersion",
        json_sprintf("%u", d->version), "generation", (json_int_t)d->generation, "labels",
        d->labels, "annotations", d->annotations, "spec", "replicas", d->replicas, "paused",
        d->paused, "strategy", "type", d->strategy, "status", "observedGeneration",
        (json_int_t)d->observed, "availableReplicas", d->available, "conditions", "type",
        "ReplicaFailure", "status", d->failure ? "True" : "False", "message", strna(d->failure));
    assert_non_null(root);
    if (d->deleting)
        json_object_set_new(json_object_get(root, "metadata"), "deletionTimestamp",
                            json_string("2026-11-15T08:00:00Z"));
    _cleanup_free_ char *text = json_dumps(root, 0);
    struct object *obj = object_new(&kind_deployment);
    struct codec codec;
    codec_init(&codec, t->pool);
    memset(obj, 0, kind_deployment.type->size);
    assert_int_equal(codec_json(&codec, kind_deployment.type, view_of(text), obj, NULL), 0);
    codec_done(&codec);
    return obj;
}

/* What a watch would bring. */
static inline void publish(struct site *t, struct dep *d) {
    if (d->gone)
        store_remove(t->cluster.deployments, "x", d->name, NULL);
    else if (t->cluster.owners_watched)
        store_put(t->cluster.deployments, dep_object(t, d));
}

static inline void touch(struct site *t, struct dep *d) {
    d->version = ++t->version;
    publish(t, d);
}

/* As the strategy of the real server does. */
static inline void write_spec(struct site *t, struct dep *d, int replicas) {
    d->replicas = replicas;
    d->generation++;
    touch(t, d);
}

static inline int active(const struct dep *d, bool ready) {
    int n = 0;
    for (int i = 0; i < PODS; i++)
        n += d->pods[i].there && !d->pods[i].leaving && (!ready || d->pods[i].ready);
    return n;
}

static inline void remove_one(struct dep *d) {
    struct mpod *victim = NULL;
    for (int i = 0; i < PODS; i++) {
        struct mpod *p = &d->pods[i];
        if (p->there && !p->leaving && (!victim || p->ready <= victim->ready))
            victim = p;
    }
    victim->there = false;
}

static inline void add_one(struct dep *d) {
    int i = PODS - 1;
    while (i > 0 && !d->pods[i - 1].there)
        i--;
    for (int k = 1; k < PODS && i == PODS - 1; k++)
        if (!d->pods[k].there)
            i = k;
    assert_false(d->pods[i].there);
    d->pods[i] = (struct mpod){.there = true};
}

static inline void put_pod(struct site *t, const struct dep *d) {
    _cleanup_free_ char *json = xasprintf(
        "{'metadata':{'namespace':'x','name':'%s-1','uid':'%s-pod','resourceVersion':'%u',"
        "'creationTimestamp':'2026-11-15T07:00:00Z'%s,'ownerReferences':[{'apiVersion':'apps/v1',"
        "'kind':'ReplicaSet','name':'%s-rs','uid':'%s-rs','controller':true}]},'spec':{'nodeName':"
        "'w1'},'status':{'phase':'Running','conditions':[{'type':'Ready','status':'%s',"
        "'lastTransitionTime':'2026-11-15T08:00:00Z'}]}}",
        d->name, d->name, ++t->version,
        d->pods[0].leaving ? ",'deletionTimestamp':'2026-11-15T08:00:30Z'" : "", d->name, d->name,
        d->pods[0].ready ? "True" : "False");
    store_put(t->cluster.pods, decode(t, &kind_pod, json));
}

static inline void controllers(struct site *t) {
    for (size_t i = 0; i < t->n && !t->slow; i++) {
        struct dep *d = &t->deps[i];
        if (d->gone)
            continue;
        /* kubelets, for what was there before */
        for (int k = 0; k < PODS; k++) {
            struct mpod *p = &d->pods[k];
            bool was = p->there;
            p->ready = p->ready || (p->there && !d->stuck);
            p->there = p->there && !p->leaving;
            if (!k && was && !p->there)
                store_remove(t->cluster.pods, "x", d->name, NULL);
        }
        while (active(d, false) < d->replicas)
            add_one(d);
        while (active(d, false) > d->replicas)
            remove_one(d);
        int available = active(d, true);
        d->least = MIN_OF(d->least, available);
        if (d->observed != d->generation || d->available != available) {
            d->observed = d->generation;
            d->available = available;
            touch(t, d);
        }
    }
}

static inline struct dep *dep_named(struct site *t, const char *name) {
    for (size_t i = 0; i < t->n; i++)
        if (streq(t->deps[i].name, name))
            return &t->deps[i];
    return NULL;
}

static inline void merge(json_t *into, const json_t *from) {
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)from, key, v) {
        if (json_is_null(v))
            json_object_del(into, key);
        else
            json_object_set(into, key, v);
    }
}

static inline enum kube_outcome patch(struct site *t, struct dep *d, const char *body) {
    _cleanup_json_ json_t *root = json_loads(body, 0, NULL);
    const json_t *meta = json_object_get(root, "metadata");
    const json_t *replicas = json_object_get(json_object_get(root, "spec"), "replicas");
    _cleanup_free_ char *version = xasprintf("%u", d->version);
    snprintf(t->last, sizeof t->last, "%s", body);
    assert_non_null(json_str(meta, "resourceVersion")); /* else it would not be safe to repeat */
    if (!streq(json_str(meta, "resourceVersion"), version))
        return KUBE_CONFLICT;
    merge(d->labels, json_object_get(meta, "labels"));
    merge(d->annotations, json_object_get(meta, "annotations"));
    write_spec(t, d, replicas ? (int)json_integer_value(replicas) : d->replicas);
    return KUBE_OK;
}

static inline enum kube_outcome apply(struct site *t, const struct action *a) {
    struct dep *d = dep_named(t, a->name);
    assert_string_equal(a->ns, "x");
    assert_ptr_equal(a->kind, &kind_deployment);
    assert_null(a->subresource);
    if (!d || d->gone)
        return KUBE_NOT_FOUND;
    return a->verb == ACTION_PATCH ? patch(t, d, a->body) : KUBE_OK;
}

static inline void carry_out(struct site *t, const struct action *a) {
    static const enum kube_outcome ends[] = {
        [FAULT_LOST] = KUBE_UNKNOWN,
        [FAULT_NO_REPLY] = KUBE_UNKNOWN,
        [FAULT_ERROR] = KUBE_SERVER_ERROR,
        [FAULT_THROTTLED] = KUBE_THROTTLED,
        [FAULT_DENIED] = KUBE_FORBIDDEN,
        [FAULT_READ_ONLY] = KUBE_FORBIDDEN,
        [FAULTS] = KUBE_OK,
    };
    bool write = a->verb == ACTION_PATCH;
    t->requests++;
    t->reads += !write;
    t->writes += write;
    assert_true(a->verb == ACTION_PATCH || a->verb == ACTION_READ);
    bool hit = t->fault_at && t->requests >= t->fault_at &&
               t->requests < t->fault_at + MAX_OF(t->fault_for, 1u);
    enum fault fault = hit ? t->fault : FAULT_NONE;
    if (fault == FAULT_READ_ONLY || fault == FAULT_UNKEPT)
        fault = write ? fault : FAULT_NONE;
    struct answer answer = {.message = "because", .retry_after = -1, .outcome = ends[fault]};
    struct object *obj = NULL;
    if (fault == FAULT_CONFLICT && dep_named(t, a->name))
        touch(t, dep_named(t, a->name));
    if (fault == FAULT_NONE || fault == FAULT_CONFLICT || fault == FAULT_EMPTY)
        answer.outcome = apply(t, a);
    else if (fault == FAULT_NO_REPLY)
        apply(t, a);
    else if (fault == FAULT_THROTTLED)
        answer.retry_after = 3;
    if (answer.outcome == KUBE_OK && fault != FAULT_EMPTY)
        answer.obj = obj = dep_object(t, dep_named(t, a->name));
    assert_true(surge_answer(t->surge, a->id, &answer, t->now));
    assert_false(surge_answer(t->surge, a->id, &answer, t->now));
    object_free(&kind_deployment, t->pool, obj);
}

/* The reads that cluster_look() wants. */
static inline void look_ups(struct site *t) {
    struct lookup *l;
    while ((l = cluster_next_wanted(&t->cluster))) {
        struct object *obj = NULL;
        cluster_reading(&t->cluster, l, ++t->ids);
        if (l->kind == &kind_deployment) {
            struct dep *d = dep_named(t, l->name);
            obj = d && !d->gone ? dep_object(t, d) : NULL;
        } else {
            _cleanup_free_ char *name = xstrndup(l->name, strcspn(l->name, "-"));
            struct dep *d = dep_named(t, name);
            _cleanup_free_ char *json = xasprintf(
                "{'metadata':{'namespace':'x','name':'%s','uid':'%s','resourceVersion':'1',"
                "'ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':'%s',"
                "'uid':'%s-uid','controller':true}]}}",
                l->name, l->name, name, name);
            assert_ptr_equal(l->kind, &kind_replica_set);
            obj = d ? decode(t, &kind_replica_set, json) : NULL;
        }
        cluster_read_done(&t->cluster, l->action, obj ? KUBE_OK : KUBE_NOT_FOUND, "", obj);
        object_free(l->kind, t->pool, obj);
    }
}

static inline void flush(struct site *t) {
    for (size_t i = 0; i < t->out.list.len; i++)
        carry_out(t, &t->out.list.p[i]);
    actions_reset(&t->out);
    look_ups(t);
}

/* --- who drains --- */

static const struct pod *pod_of(struct site *t, const struct dep *d) {
    _cleanup_free_ char *name = xasprintf("%s-1", d->name);
    return (const struct pod *)store_get(t->cluster.pods, "x", name);
}

static inline enum surge_state ask(struct site *t, struct dep *d) {
    const char *text = NULL;
    d->said = surge_ask(t->surge, pod_of(t, d), "w1", t->now, &t->out, &text);
    snprintf(d->text, sizeof d->text, "%s", text);
    assert_true(d->said == SURGE_WAIT ? *text != 0 : true);
    return d->said;
}

static inline void evict(struct site *t, struct dep *d) {
    _cleanup_free_ char *uid = xasprintf("%s-pod", d->name);
    d->evicted = d->pods[0].leaving = true;
    put_pod(t, d);
    surge_left(t->surge, uid, t->now, &t->out);
}

/* One turn: what a drain does, then what happens in the cluster. */
static inline void turn(struct site *t) {
    surge_step(t->surge, t->now, &t->out);
    for (size_t i = 0; i < t->n; i++)
        if (!t->deps[i].evicted && !t->deps[i].gone && ask(t, &t->deps[i]) != SURGE_WAIT)
            evict(t, &t->deps[i]);
    flush(t);
    controllers(t);
    int64_t next = surge_next(t->surge), soon = t->now.mono + MSEC(100);
    int64_t step = MAX_OF(MIN_OF(next, soon), t->now.mono + MSEC(5)) - t->now.mono;
    t->now.mono += step;
    t->now.wall += step;
}

static inline bool done(const struct site *t) {
    for (size_t i = 0; i < t->n; i++)
        if (!t->deps[i].evicted && !t->deps[i].gone)
            return false;
    return surge_over(t->surge);
}

static inline void run(struct site *t, unsigned turns) {
    for (unsigned i = 0; i < turns && !done(t); i++)
        turn(t);
    if (!done(t))
        fail_msg("no end: %s: %s", t->deps[0].name, t->deps[0].text);
}

/* --- sites --- */

static inline void add(struct site *t, const char *name) {
    struct dep *d = &t->deps[t->n++];
    *d = (struct dep){.replicas = 1,
                      .labels = json_object(),
                      .annotations = json_object(),
                      .strategy = "RollingUpdate",
                      .generation = 1,
                      .observed = 1,
                      .available = 1,
                      .least = 1,
                      .pods = {{.there = true, .ready = true}}};
    snprintf(d->name, sizeof d->name, "%s", name);
    d->uid = xasprintf("%s-uid", name);
    put_pod(t, d);
    touch(t, d);
    if (t->cluster.owners_watched) {
        _cleanup_free_ char *json = xasprintf(
            "{'metadata':{'namespace':'x','name':'%s-rs','uid':'%s-rs','resourceVersion':'1',"
            "'ownerReferences':[{'apiVersion':'apps/v1','kind':'Deployment','name':'%s',"
            "'uid':'%s-uid','controller':true}]}}",
            name, name, name, name);
        store_put(t->cluster.replica_sets, decode(t, &kind_replica_set, json));
    }
}

static inline void setup(struct site *t, bool watched) {
    *t = (struct site){.now = {SEC(1000), WALL}, .version = 100};
    t->pool = pool_new(type_drop);
    cluster_init(&t->cluster, t->pool);
    t->cluster.owners_watched = watched;
    store_put(t->cluster.nodes, decode(t, &kind_node, "{'metadata':{'name':'w1'}}"));
    t->surge = surge_new(&t->cluster, "cli/alice", &t->ids);
    add(t, "a");
}

static inline void teardown(struct site *t) {
    for (size_t i = 0; i < t->n; i++) {
        json_decref(t->deps[i].labels);
        json_decref(t->deps[i].annotations);
        free((char *)t->deps[i].uid);
    }
    surge_free(t->surge);
    cluster_done(&t->cluster);
    actions_done(&t->out);
    assert_int_equal(pool_stats(t->pool).entries, 0);
    pool_free(t->pool);
}

/* The process is killed and started again: it knows what is in the cluster, and nothing else. */
static inline void restart(struct site *t) {
    surge_free(t->surge);
    actions_reset(&t->out);
    t->surge = surge_new(&t->cluster, "cli/alice", &t->ids);
    for (size_t i = 0; i < t->n; i++) {
        if (t->deps[i].gone || !json_object_get(t->deps[i].labels, SURGE_MARK))
            continue;
        struct object *obj = dep_object(t, &t->deps[i]);
        surge_resume(t->surge, (struct deployment *)obj, t->now, &t->out);
        object_free(&kind_deployment, t->pool, obj);
    }
    flush(t);
}

static inline bool marked(const struct dep *d) {
    return json_object_get(d->labels, SURGE_MARK) || json_object_get(d->annotations, SURGE_MARK);
}

/* Everything is as it was, and the pod was moved without a moment in which none was available. */
static inline void assert_as_before(const struct site *t, const char *what, unsigned where) {
    for (size_t i = 0; i < t->n; i++) {
        const struct dep *d = &t->deps[i];
        if (d->replicas != 1 || marked(d) || d->least < 1 || !d->evicted)
            fail_msg("%s at %u: %d replicas, %s, at least %d available, %s", what, where,
                     d->replicas, marked(d) ? "marked" : "not marked", d->least,
                     d->evicted ? "evicted" : "not evicted");
    }
    assert_true(surge_over(t->surge));
    assert_true(surge_next(t->surge) > t->now.mono);
}

/* Up, and the second one does not become available. */
static inline void raise_and_wait(struct site *t) {
    struct dep *d = &t->deps[0];
    d->stuck = true;
    for (int i = 0; i < 20; i++)
        turn(t);
    assert_int_equal(d->replicas, 2);
    assert_true(marked(d));
}

/* As somebody else would; `record` may be NULL. */
static inline void mark(struct dep *d, const char *record) {
    json_object_set_new(d->labels, SURGE_MARK, json_string("true"));
    if (record)
        json_object_set_new(d->annotations, SURGE_MARK, json_string(record));
}

#endif
