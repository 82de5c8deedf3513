/* A hand-made cluster and a drain of it, for tests of the engine: no server, no loop, no clock that
 * moves by itself.
 *
 * Objects are JSON (single quotes allowed for double ones) in the stores of a struct cluster; each
 * change gets the next resourceVersion and is told to the drain. dw_step() takes one step and keeps
 * what is wanted until it is answered; dw_settle() steps and answers what is not of interest (the
 * cordon, reads, Events) from the objects that there are; dw_pass() lets time go by, and steps only
 * when the drain has asked for it.
 *
 * Every step checks what must always hold: it asks to be woken later than now, nothing is asked
 * twice at a time for one pod, evictions have a UID, bodies are JSON, the cordon is a
 * compare-and-swap. */
#ifndef SUPPORT_DRAIN_WORLD_H
#define SUPPORT_DRAIN_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"
#include "engine/drain.h"
#include "kube/codec.h"

enum { DW_BUSY = 400 }; /* steps without an event of ours after which it is a busy loop */

struct drain_world {
    struct pool *pool;
    struct cluster c;
    json_t *docs; /* "pods/default/a": the object as the server has it */
    struct drain_opts opts;
    struct drain *d; /* NULL before dw_start() */
    struct now now;
    struct actions out;
    uint64_t version; /* of the last change */
    uint64_t last_id;
    VEC(struct action) open; /* not answered; texts are owned */
    struct str told;         /* notes, a line each */
    struct str wanted;       /* actions, a line each */
    struct str text;         /* of the last dw_since() */
    size_t steps;
    int64_t skew; /* of the server's clock against ours */
    /* What dw_settle() leaves to the test. */
    bool by_hand_cordon, by_hand_reads, by_hand_minor, by_hand_confirm;
    enum kube_outcome minor_outcome; /* of Events and conditions, not by hand; KUBE_OK when 0 */
    bool obedient; /* evictions and deletions succeed and the pod is gone at once */
};

/* --- JSON --- */

__attribute__((format(printf, 1, 0))) static inline json_t *dw_vjson(const char *fmt, va_list ap) {
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    json_error_t error;
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    json_t *doc = json_loads(text, 0, &error);
    if (!doc)
        fail_msg("%s in %s", error.text, text);
    return doc;
}

/* RFC 7386. Takes over a reference to `patch`, and gives one to the result. */
static inline json_t *dw_merge(json_t *target, json_t *patch) {
    const char *key;
    json_t *value;
    if (!json_is_object(patch)) {
        json_decref(target);
        return patch;
    }
    if (!json_is_object(target)) {
        json_decref(target);
        target = json_object();
    }
    json_object_foreach(patch, key, value) {
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else {
            json_t *old = json_incref(json_object_get(target, key));
            json_object_set_new(target, key, dw_merge(old, json_incref(value)));
        }
    }
    json_decref(patch);
    return target;
}

/* "spec.unschedulable" of an object; NULL when it is not there. */
static inline json_t *dw_at(json_t *obj, const char *path) {
    for (const char *p = path; obj && *p;) {
        size_t len = strcspn(p, ".");
        obj = json_is_array(obj) ? json_array_get(obj, (size_t)strtoul(p, NULL, 10))
                                 : json_object_getn(obj, p, len);
        p += len + (p[len] == '.');
    }
    return obj;
}

static inline const char *dw_str(json_t *obj, const char *path) {
    return strna(json_string_value(dw_at(obj, path)));
}

/* --- life --- */

static inline void dw_changed_of(struct drain_world *w, const struct kind *kind,
                                 const struct object *before, const struct object *after) {
    if (w->d)
        drain_poke(w->d, kind, before, after);
}

#define DW_LISTEN(what)                                                                            \
    static inline void dw_on_##what(void *arg, const struct object *before,                        \
                                    const struct object *after) {                                  \
        dw_changed_of(arg, &kind_##what, before, after);                                           \
    }
DW_LISTEN(node)
DW_LISTEN(pod)
DW_LISTEN(pdb)
DW_LISTEN(volume_attachment)
DW_LISTEN(replica_set)
DW_LISTEN(stateful_set)
DW_LISTEN(deployment)

static inline void dw_init(struct drain_world *w) {
    *w = (struct drain_world){.version = 100};
    w->pool = pool_new(type_drop);
    w->docs = json_object();
    cluster_init(&w->c, w->pool);
    store_listen(w->c.nodes, dw_on_node, w);
    store_listen(w->c.pods, dw_on_pod, w);
    store_listen(w->c.budgets, dw_on_pdb, w);
    store_listen(w->c.attachments, dw_on_volume_attachment, w);
    store_listen(w->c.replica_sets, dw_on_replica_set, w);
    store_listen(w->c.stateful_sets, dw_on_stateful_set, w);
    store_listen(w->c.deployments, dw_on_deployment, w);
    w->now.mono = SEC(1000);
    const char *begin = "2026-11-15T08:00:00Z";
    assert_true(time_parse(begin, strlen(begin), &w->now.wall));
    w->opts = (struct drain_opts){
        .grace = -1, .ignore_daemonsets = true, .holder = {.id = "cli/test", .by = "alice"}};
}

static inline void dw_drop(struct action *a) {
    free((char *)a->ns);
    free((char *)a->name);
    free((char *)a->uid);
    free((char *)a->subresource);
    free((char *)a->body);
}

/* The process ends, whatever is under way; a new drain can be started. */
static inline void dw_kill(struct drain_world *w) {
    drain_free(w->d);
    w->d = NULL;
    for (size_t i = 0; i < w->open.len; i++)
        dw_drop(&w->open.p[i]);
    w->open.len = 0;
    w->last_id = 0;
}

/* Fails when something was not given back. */
static inline void dw_done(struct drain_world *w) {
    dw_kill(w);
    vec_done(&w->open);
    actions_done(&w->out);
    cluster_done(&w->c);
    json_decref(w->docs);
    str_done(&w->told);
    str_done(&w->wanted);
    str_done(&w->text);
    assert_int_equal(pool_stats(w->pool).entries, 0);
    pool_free(w->pool);
}

static inline int dw_setup(void **state) {
    struct drain_world *w = xnew(struct drain_world);
    dw_init(w);
    *state = w;
    return 0;
}

static inline int dw_teardown(void **state) {
    dw_done(*state);
    free(*state);
    return 0;
}

#define DRAIN_TEST(f) cmocka_unit_test_setup_teardown(f, dw_setup, dw_teardown)

/* --- objects --- */

static inline struct store *dw_store(struct drain_world *w, const struct kind *kind) {
    return kind == &kind_node                ? w->c.nodes
           : kind == &kind_pod               ? w->c.pods
           : kind == &kind_pdb               ? w->c.budgets
           : kind == &kind_volume_attachment ? w->c.attachments
           : kind == &kind_replica_set       ? w->c.replica_sets
           : kind == &kind_stateful_set      ? w->c.stateful_sets
           : kind == &kind_deployment        ? w->c.deployments
                                             : NULL;
}

static inline char *dw_key(const struct kind *kind, const char *ns, const char *name) {
    return xasprintf("%s/%s/%s", kind->resource, strna(ns), name);
}

/* The object as the server has it, or NULL. */
static inline json_t *dw_doc(struct drain_world *w, const struct kind *kind, const char *ns,
                             const char *name) {
    _cleanup_free_ char *key = dw_key(kind, ns, name);
    return json_object_get(w->docs, key);
}

/* To be freed with object_free(). */
static inline struct object *dw_decode(struct drain_world *w, const struct kind *kind,
                                       const json_t *doc) {
    _cleanup_free_ char *text = json_dumps(doc, 0);
    _cleanup_err_ struct err err = ERR_INIT;
    struct codec codec;
    struct object *obj = object_new(kind);
    memset(obj, 0, kind->type->size);
    codec_init(&codec, w->pool);
    if (codec_json(&codec, kind->type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    return obj;
}

/* What the server has reaches the store: the watch. */
static inline void dw_show(struct drain_world *w, const struct kind *kind, const char *ns,
                           const char *name) {
    struct store *s = dw_store(w, kind);
    json_t *doc = dw_doc(w, kind, ns, name);
    char version[24];
    if (s && doc) {
        store_put(s, dw_decode(w, kind, doc));
    } else if (s) {
        snprintf(version, sizeof version, "%llu", (unsigned long long)++w->version);
        store_remove(s, ns, name, version);
        store_set_version(s, version);
    }
}

/* Only on the server: nobody has seen it yet. */
static inline void dw_write(struct drain_world *w, const struct kind *kind, json_t *doc) {
    char version[24];
    snprintf(version, sizeof version, "%llu", (unsigned long long)++w->version);
    json_t *meta = json_object_get(doc, "metadata");
    json_object_set_new(meta, "resourceVersion", json_string(version));
    _cleanup_free_ char *key =
        dw_key(kind, json_string_value(json_object_get(meta, "namespace")), dw_str(meta, "name"));
    json_object_set_new(w->docs, key, doc);
}

/* Creates or replaces an object, and the store sees it. */
__attribute__((format(printf, 3, 4))) static inline void
dw_put(struct drain_world *w, const struct kind *kind, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    dw_write(w, kind, doc);
    json_t *meta = json_object_get(doc, "metadata");
    dw_show(w, kind, json_string_value(json_object_get(meta, "namespace")), dw_str(meta, "name"));
}

/* A merge patch by somebody, on the server alone. */
static inline void dw_patch(struct drain_world *w, const struct kind *kind, const char *ns,
                            const char *name, json_t *patch) {
    json_t *doc = dw_doc(w, kind, ns, name);
    assert_non_null(doc);
    doc = dw_merge(json_deep_copy(doc), patch);
    dw_write(w, kind, doc);
}

/* The same, and the store sees it. */
__attribute__((format(printf, 5, 6))) static inline void dw_edit(struct drain_world *w,
                                                                 const struct kind *kind,
                                                                 const char *ns, const char *name,
                                                                 const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *patch = dw_vjson(fmt, ap);
    va_end(ap);
    dw_patch(w, kind, ns, name, patch);
    dw_show(w, kind, ns, name);
}

static inline void dw_remove(struct drain_world *w, const struct kind *kind, const char *ns,
                             const char *name) {
    _cleanup_free_ char *key = dw_key(kind, ns, name);
    assert_int_equal(json_object_del(w->docs, key), 0);
    dw_show(w, kind, ns, name);
}

/* An object straight from text, of which no document is kept: for thousands of them. */
__attribute__((format(printf, 3, 4))) static inline struct object *
dw_make(struct drain_world *w, const struct kind *kind, const char *fmt, ...) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct codec codec;
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = object_new(kind);
    memset(obj, 0, kind->type->size);
    codec_init(&codec, w->pool);
    if (codec_json(&codec, kind->type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    return obj;
}

static inline void dw_node(struct drain_world *w, const char *name) {
    dw_put(w, &kind_node,
           "{'metadata':{'name':'%s','uid':'uid-%s'},'spec':{},"
           "'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
           name, name);
}

#define dw_edit_node(w, name, ...)   dw_edit(w, &kind_node, NULL, name, __VA_ARGS__)
#define dw_edit_pod(w, name, ...)    dw_edit(w, &kind_pod, "default", name, __VA_ARGS__)
#define dw_edit_budget(w, name, ...) dw_edit(w, &kind_pdb, "default", name, __VA_ARGS__)
#define dw_edit_stateful_set(w, name, ...)                                                         \
    dw_edit(w, &kind_stateful_set, "default", name, __VA_ARGS__)

/* Made now, running and ready, of the ReplicaSet web, with the label app=web, in the namespace
 * default; then `more` is merged in ("{}": nothing). Its UID is uid-NAME. */
__attribute__((format(printf, 4, 5))) static inline void
dw_pod(struct drain_world *w, const char *name, const char *node, const char *more, ...) {
    va_list ap;
    va_start(ap, more);
    json_t *patch = dw_vjson(more, ap);
    va_end(ap);
    char created[TIMEFMT_LEN];
    json_t *doc = json_pack(
        "{s:{s:s,s:s,s:o,s:s,s:{s:s},s:[{s:s,s:s,s:s,s:s,s:b}]},s:{s:s,s:i},s:{s:s,s:[{s:s,s:s}]}}",
        "metadata", "namespace", "default", "name", name, "uid", json_sprintf("uid-%s", name),
        "creationTimestamp", time_format(w->now.wall + w->skew, false, created), "labels", "app",
        "web", "ownerReferences", "apiVersion", "apps/v1", "kind", "ReplicaSet", "name", "web",
        "uid", "rs-web", "controller", 1, "spec", "nodeName", node, "terminationGracePeriodSeconds",
        30, "status", "phase", "Running", "conditions", "type", "Ready", "status", "True");
    assert_non_null(doc);
    dw_write(w, &kind_pod, dw_merge(doc, patch));
    dw_show(w, &kind_pod, "default", name);
}

/* What makes pods of other owners out of dw_pod()'s. */
#define DW_OWNER(api, kind, name)                                                                  \
    "'ownerReferences':[{'apiVersion':'" api "','kind':'" kind "','name':'" name                   \
    "','uid':'uid-" name "','controller':true}]"
#define DW_BARE "{'metadata':{'ownerReferences':null}}"

/* Over app=web, in the namespace default. */
static inline void dw_budget(struct drain_world *w, const char *name, int allowed, int healthy,
                             int desired, int expected) {
    dw_put(w, &kind_pdb,
           "{'metadata':{'namespace':'default','name':'%s','uid':'uid-%s','generation':1},"
           "'spec':{'maxUnavailable':1,'selector':{'matchLabels':{'app':'web'}}},"
           "'status':{'observedGeneration':1,'disruptionsAllowed':%d,'currentHealthy':%d,"
           "'desiredHealthy':%d,'expectedPods':%d}}",
           name, name, allowed, healthy, desired, expected);
}

/* --- what is told --- */

static inline void dw_on_note(void *arg, const struct drain_note *n) {
    static const char *const words[] = {
        [NOTE_CORDONED] = "cordoned",
        [NOTE_ALREADY_CORDONED] = "already-cordoned",
        [NOTE_CORDON_FAILED] = "cordon-failed",
        [NOTE_UNCORDONED] = "uncordoned",
        [NOTE_WARNINGS] = "warning",
        [NOTE_POD_EVICTING] = "evicting",
        [NOTE_POD_DELETING] = "deleting",
        [NOTE_POD_GONE] = "gone",
        [NOTE_POD_LATE] = "late",
        [NOTE_POD_SKIPPED_WAIT] = "skipped",
        [NOTE_POD_FAILED] = "failed",
        [NOTE_BLOCKED] = "blocked",
        [NOTE_UNBLOCKED] = "unblocked",
        [NOTE_ESCALATED] = "escalated",
        [NOTE_SURGE] = "surge",
        [NOTE_REMARK] = "remark",
    };
    struct drain_world *w = arg;
    struct str *o = &w->told;
    assert_int_equal(n->time, w->now.wall);
    assert_non_null(n->text);
    if (n->kind == NOTE_PHASE) {
        assert_int_not_equal(n->before, n->node->phase);
        str_addf(o, "%s -> %s %s\n", drain_phase_word(n->before), drain_phase_word(n->node->phase),
                 n->node->name);
        return;
    }
    str_add(o, words[n->kind]);
    if (n->blocker)
        str_addf(o, " %s %s", blocker_row(n->blocker->code)->name, n->blocker->object);
    else if (n->pod)
        str_addf(o, " %s/%s", n->pod->ns, n->pod->name);
    else if (n->node)
        str_addf(o, " %s", n->node->name);
    if (*n->text)
        str_addf(o, ": %s", n->text);
    str_addc(o, '\n');
}

static inline unsigned dw_count(const struct str *log, const char *text) {
    unsigned n = 0;
    for (const char *p = str_get(log); (p = strstr(p, text)); p++)
        n++;
    return n;
}

/* How many notes have this in them. */
static inline unsigned dw_told(const struct drain_world *w, const char *text) {
    return dw_count(&w->told, text);
}

/* How many actions: "evict default/a". */
static inline unsigned dw_asked(const struct drain_world *w, const char *text) {
    return dw_count(&w->wanted, text);
}

/* What was told or wanted since the last time; valid until the next. */
static inline const char *dw_since(struct drain_world *w, struct str *log) {
    str_reset(&w->text);
    str_add(&w->text, str_get(log));
    str_reset(log);
    return str_get(&w->text);
}

#define assert_told(w, lines)   assert_string_equal(dw_since(w, &(w)->told), lines)
#define assert_wanted(w, lines) assert_string_equal(dw_since(w, &(w)->wanted), lines)

static inline void dw_forget(struct drain_world *w) {
    str_reset(&w->told);
    str_reset(&w->wanted);
}

/* --- steps --- */

static inline bool dw_is_pod_call(const struct action *a) {
    return a->verb == ACTION_EVICT || a->verb == ACTION_DELETE;
}

static inline void dw_check(struct drain_world *w, const struct action *a) {
    assert_true(a->id > w->last_id);
    w->last_id = a->id;
    assert_non_null(a->kind);
    assert_non_null(a->name);
    for (size_t i = 0; dw_is_pod_call(a) && i < w->open.len; i++)
        if (dw_is_pod_call(&w->open.p[i]) && streq(w->open.p[i].uid, a->uid))
            fail_msg("%s/%s is asked twice at a time", a->ns, a->name);
    if (dw_is_pod_call(a)) {
        assert_ptr_equal(a->kind, &kind_pod);
        assert_non_null(a->uid);
        assert_true(*a->uid != '\0');
    }
    if (a->verb != ACTION_PATCH && a->verb != ACTION_CREATE)
        return;
    json_error_t error;
    json_t *body = json_loads(a->body, JSON_REJECT_DUPLICATES, &error);
    if (!body)
        fail_msg("%s in %s", error.text, a->body);
    if (a->kind == &kind_node && !a->subresource)
        assert_string_equal(dw_str(body, "metadata.resourceVersion"),
                            cluster_node(&w->c, a->name)->meta.version);
    json_decref(body);
}

static inline void dw_log(struct drain_world *w, const struct action *a, const char *verb) {
    str_addf(&w->wanted, "%s ", verb);
    if (!dw_is_pod_call(a))
        str_addf(&w->wanted, "%s%s%s ", a->kind->resource, a->subresource ? "/" : "",
                 strna(a->subresource));
    str_addf(&w->wanted, "%s%s%s", strna(a->ns), a->ns ? "/" : "", a->name);
    if (a->grace >= 0)
        str_addf(&w->wanted, " grace=%lld", (long long)a->grace);
    str_addf(&w->wanted, "%s\n", a->dry_run ? " dry" : "");
}

static inline void dw_take(struct drain_world *w, const struct action *a) {
    static const char *const verbs[] = {
        [ACTION_EVICT] = "evict",   [ACTION_DELETE] = "delete", [ACTION_PATCH] = "patch",
        [ACTION_CREATE] = "create", [ACTION_READ] = "read",     [ACTION_CONFIRM] = "confirm"};
    dw_check(w, a);
    if (a->verb != ACTION_CONFIRM || w->by_hand_confirm)
        dw_log(w, a, verbs[a->verb]);
    struct action *mine = vec_push(&w->open);
    *mine = *a;
    mine->ns = a->ns ? xstrdup(a->ns) : NULL;
    mine->name = xstrdup(a->name);
    mine->uid = a->uid ? xstrdup(a->uid) : NULL;
    mine->subresource = a->subresource ? xstrdup(a->subresource) : NULL;
    mine->body = a->body ? xstrdup(a->body) : NULL;
}

static inline void dw_step(struct drain_world *w) {
    actions_reset(&w->out);
    drain_step(w->d, w->now, &w->out);
    for (size_t i = 0; i < w->out.list.len; i++)
        dw_take(w, &w->out.list.p[i]);
    w->steps++;
    if (drain_next(w->d) <= w->now.mono)
        fail_msg("it wants to be called again at once");
}

/* The oldest action under way of this kind and name; fails when there is none. */
static inline struct action *dw_open(struct drain_world *w, enum action_verb verb,
                                     const char *name) {
    for (size_t i = 0; i < w->open.len; i++)
        if (w->open.p[i].verb == verb && streq(w->open.p[i].name, name) && !w->open.p[i].minor)
            return &w->open.p[i];
    fail_msg("nothing of verb %d for %s is under way", (int)verb, name);
    return NULL;
}

static inline unsigned dw_under_way(const struct drain_world *w, enum action_verb verb) {
    unsigned n = 0;
    for (size_t i = 0; i < w->open.len; i++)
        n += w->open.p[i].verb == verb && !w->open.p[i].minor;
    return n;
}

static inline void dw_answer(struct drain_world *w, struct action *a, const struct answer *answer) {
    struct action mine = *a;
    size_t i = (size_t)(a - w->open.p);
    memmove(a, a + 1, (--w->open.len - i) * sizeof *a);
    assert_true(drain_answer(w->d, mine.id, answer, w->now));
    dw_drop(&mine);
}

/* The same in short; `retry_after` in seconds, -1 for none. */
static inline void dw_reply(struct drain_world *w, enum action_verb verb, const char *name,
                            enum kube_outcome outcome, int64_t retry_after) {
    dw_answer(w, dw_open(w, verb, name),
              &(struct answer){.outcome = outcome,
                               .message = kube_outcome_row(outcome)->meaning,
                               .retry_after = retry_after});
}

/* The server carries out a patch and answers; `seen`: the watch is as fast. */
static inline void dw_patched(struct drain_world *w, struct action *a, bool seen) {
    _cleanup_free_ char *name = xstrdup(a->name), *ns = a->ns ? xstrdup(a->ns) : NULL;
    if (!a->dry_run) {
        dw_patch(w, a->kind, a->ns, a->name, json_loads(a->body, 0, NULL));
        store_wrote(dw_store(w, a->kind), a->ns, a->name,
                    dw_str(dw_doc(w, a->kind, a->ns, a->name), "metadata.resourceVersion"));
    }
    const struct kind *kind = a->kind;
    if (seen)
        dw_show(w, kind, ns, name);
    dw_answer(w, a,
              &(struct answer){.outcome = KUBE_OK,
                               .message = "",
                               .retry_after = -1,
                               .date = (w->now.wall + w->skew) / SEC(1) * SEC(1)});
}

/* As the server would: the object, or that there is none. */
static inline void dw_read(struct drain_world *w, struct action *a) {
    const struct kind *kind = a->kind;
    json_t *doc = dw_doc(w, kind, a->ns, a->name);
    _cleanup_free_ char *why = xasprintf("%s%s%s \"%s\" not found", kind->resource,
                                         *kind->group ? "." : "", kind->group, a->name);
    struct object *obj = doc ? dw_decode(w, kind, doc) : NULL;
    dw_answer(w, a,
              &(struct answer){.outcome = obj ? KUBE_OK : KUBE_NOT_FOUND,
                               .message = obj ? "" : why,
                               .retry_after = -1,
                               .obj = obj});
    object_free(kind, w->pool, obj);
}

/* A list of what is on the node (its pods, its VolumeAttachments), as the server would: they are in
 * the store when it answers. */
static inline void dw_confirm(struct drain_world *w, struct action *a) {
    const char *key;
    json_t *doc;
    json_object_foreach(w->docs, key, doc) {
        if (!streq(dw_str(doc, "spec.nodeName"), a->name))
            continue;
        if (a->kind == &kind_pod && str_starts(key, "pods/"))
            dw_show(w, &kind_pod, dw_str(doc, "metadata.namespace"), dw_str(doc, "metadata.name"));
        else if (a->kind == &kind_volume_attachment && str_starts(key, "volumeattachments/"))
            dw_show(w, &kind_volume_attachment, NULL, dw_str(doc, "metadata.name"));
    }
    dw_answer(w, a, &(struct answer){.outcome = KUBE_OK, .message = "", .retry_after = -1});
}

/* An eviction is accepted: the pod terminates, `grace` seconds from now. */
static inline void dw_accept(struct drain_world *w, enum action_verb verb, const char *name) {
    char at[TIMEFMT_LEN];
    struct action *a = dw_open(w, verb, name);
    _cleanup_free_ char *ns = xstrdup(a->ns);
    int64_t grace = a->grace >= 0 ? a->grace : 30;
    dw_answer(w, a, &(struct answer){.outcome = KUBE_OK, .message = "", .retry_after = -1});
    dw_edit(w, &kind_pod, ns, name, "{'metadata':{'deletionTimestamp':'%s'}}",
            time_format(w->now.wall + SEC(grace), false, at));
}

static inline void dw_obey(struct drain_world *w, struct action *a) {
    _cleanup_free_ char *ns = xstrdup(a->ns), *name = xstrdup(a->name);
    dw_answer(w, a, &(struct answer){.outcome = KUBE_OK, .message = "", .retry_after = -1});
    dw_remove(w, &kind_pod, ns, name);
}

/* Answers one of those that are not the test's business; false when there is none. */
static inline bool dw_serve(struct drain_world *w) {
    for (size_t i = 0; i < w->open.len; i++) {
        struct action *a = &w->open.p[i];
        if (a->minor && w->by_hand_minor)
            continue;
        bool mark = a->minor && a->verb == ACTION_PATCH && !a->subresource;
        bool write = a->verb == ACTION_PATCH && a->kind == &kind_node && !w->by_hand_cordon;
        if ((mark && w->minor_outcome == KUBE_OK) || (!a->minor && write))
            dw_patched(w, a, true);
        else if (a->minor)
            dw_answer(
                w, a,
                &(struct answer){.outcome = w->minor_outcome, .message = "", .retry_after = -1});
        else if (a->verb == ACTION_READ && !w->by_hand_reads)
            dw_read(w, a);
        else if (a->verb == ACTION_CONFIRM && !w->by_hand_confirm)
            dw_confirm(w, a);
        else if (dw_is_pod_call(a) && w->obedient)
            dw_obey(w, a);
        else
            continue;
        return true;
    }
    return false;
}

/* The last bit of a log, for messages. */
static inline const char *dw_end(const struct str *log) {
    return str_get(log) + (log->len > 200 ? log->len - 200 : 0);
}

static inline void dw_settle(struct drain_world *w) {
    size_t before = w->steps;
    do {
        if (drain_next(w->d) <= w->now.mono)
            dw_step(w);
        if (w->steps > before + DW_BUSY)
            fail_msg("a busy loop: %s", dw_end(&w->wanted));
    } while (dw_serve(w) || drain_next(w->d) <= w->now.mono);
}

/* Time goes by; the drain is called when it has asked for it, and at no other time. */
static inline void dw_pass(struct drain_world *w, int64_t usec) {
    int64_t end = w->now.mono + usec;
    size_t before = w->steps;
    dw_settle(w);
    for (int64_t next; (next = drain_next(w->d)) <= end;) {
        w->now.wall += next - w->now.mono;
        w->now.mono = next;
        dw_settle(w);
        if (w->steps > before + DW_BUSY)
            fail_msg("%zu steps in %lld s: %s", w->steps - before, (long long)(usec / SEC(1)),
                     dw_end(&w->wanted));
    }
    w->now.wall += end - w->now.mono;
    w->now.mono = end;
}

/* The drain of these nodes begins; up to its first evictions when they are not `obedient`. */
__attribute__((sentinel)) static inline void dw_start(struct drain_world *w, ...) {
    const char *names[16], *name;
    size_t n = 0;
    va_list ap;
    va_start(ap, w);
    while ((name = va_arg(ap, const char *)))
        names[n++] = name;
    va_end(ap);
    w->d = drain_new(&w->opts, &w->c, names, n, dw_on_note, w);
    dw_settle(w);
}

/* --- reading --- */

static inline const struct drain_node *dw_view(const struct drain_world *w, size_t i) {
    size_t n;
    const struct drain_node *const *list = drain_nodes(w->d, &n);
    assert_true(i < n);
    return list[i];
}

/* The newest pod of that name, of any node. */
static inline const struct drain_pod *dw_pod_view(const struct drain_world *w, const char *name) {
    size_t n;
    const struct drain_pod *found = NULL;
    const struct drain_node *const *list = drain_nodes(w->d, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < list[i]->n_pods; k++)
            if (streq(list[i]->pods[k]->name, name))
                found = list[i]->pods[k];
    if (!found)
        fail_msg("pod %s is not known", name);
    return found;
}

#define assert_phase(w, i, p)                                                                      \
    assert_string_equal(drain_phase_word(dw_view(w, i)->phase), drain_phase_word(p))
#define assert_state(w, pod, s) assert_int_equal(dw_pod_view(w, pod)->state, s)
#define assert_blocked(w, pod, c)                                                                  \
    do {                                                                                           \
        assert_true(dw_pod_view(w, pod)->blocked);                                                 \
        assert_string_equal(blocker_row(dw_pod_view(w, pod)->blocker.code)->name,                  \
                            blocker_row(c)->name);                                                 \
    } while (0)

#endif
