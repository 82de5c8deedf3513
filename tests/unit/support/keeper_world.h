/* A hand-made API server and replicas that keep slots on it, for tests of the keeper: no loop, no
 * clock that moves by itself.
 *
 * The server has objects (JSON, single quotes allowed for double ones) and a log of what happened
 * to them. Each replica has its own picture, which follows the log of each kind as far as the test
 * lets it: a late watch. What a keeper wants is carried out in two steps, so that something can
 * happen between them: kw_perform() (the server does it) and kw_deliver() (the answer arrives).
 *
 * kw_settle() does all of that at once, for all replicas, until nobody wants anything; kw_pass()
 * lets time go by.
 *
 * Every step checks what must always hold: a keeper asks to be woken later than now, bodies are
 * JSON, every patch of a Node or of the record is a compare-and-swap, every question has one reply
 * at most. */
#ifndef SUPPORT_KEEPER_WORLD_H
#define SUPPORT_KEEPER_WORLD_H

#include "support/drain_world.h"

#include "engine/keeper.h"
#include "engine/rollout.h"
#include "model/version.h"

#define KW_NS  "slipway-system"
#define KW_MAP "slipway-slots-default"

enum {
    KW_REPLICAS = 3,
    KW_TICKETS = 4096,
    KW_BUSY = 3000, /* rounds without an event of ours after which it is a busy loop */
};

enum kw_kind { KW_NODES, KW_PODS, KW_MAPS, KW_UPKEEPS, KW_ROLLOUTS, KW_KINDS };

/* What happened to an object. */
struct kw_event {
    enum kw_kind kind;
    char *ns, *name, *version;
    json_t *doc; /* NULL: it was deleted */
};

struct kw_call {
    struct action a; /* texts are owned */
    bool performed;
    bool orphan; /* nobody waits for the answer any more */
    enum kube_outcome outcome;
    json_t *doc;      /* that comes back */
    char version[24]; /* of a list */
};

struct kw;

struct kw_replica {
    struct kw *w;
    unsigned index;
    struct pool *pool;
    struct cluster c;
    struct store *maps, *upkeeps, *rollout_store;
    struct keeper *k;
    struct rollouts *rs;   /* kw_lead_rollouts(); else NULL */
    size_t seen[KW_KINDS]; /* events of the log */
    bool late[KW_KINDS];   /* kw_settle() does not show it anything */
    bool frozen;           /* kw_settle() does nothing for it */
    VEC(struct kw_call) calls;
    struct actions out;
};

struct kw_reply {
    bool there;
    enum keeper_say say;
    char *text;
};

struct kw {
    json_t *docs; /* "nodes//w0" */
    VEC(struct kw_event) log;
    uint64_t version;
    struct now now;
    struct keeper_opts opts;
    struct policy_rules *rules; /* of the policy, for rollouts */
    unsigned n;
    struct kw_replica r[KW_REPLICAS];
    struct kw_reply replies[KW_TICKETS];
    uint64_t tickets;
    struct str told;     /* notes of keepers, a line each */
    struct str ways;     /* of those that move: "Draining -> Drained; " */
    struct str wanted;   /* actions, a line each */
    struct str operated; /* operations that were begun: names, a line each */
    unsigned deposed;
    bool lazy_pods;     /* evicted pods stay until the test removes them */
    bool hold_minor;    /* Events and conditions are not answered */
    bool looks;         /* rollouts look at pods before it is a node's turn */
    const char *unseen; /* "w1 w2": nodes whose pods are not known to them; NULL: none */
    bool policies;      /* a list of the Policies finds some */
    size_t rounds;
    uint64_t pods; /* made so far */
    /* Faults: the next so many calls of that verb and kind. */
    struct {
        enum action_verb verb;
        const struct kind *kind;
        enum kube_outcome outcome;
        bool done; /* it is carried out all the same */
        unsigned times;
    } fault;
    /* Called with each reply, if it is not NULL. */
    void (*on_reply)(struct kw *w, unsigned replica, uint64_t ticket);
    void *arg; /* the test's own */
};

static const struct kind *const kw_kinds[KW_KINDS] = {&kind_node, &kind_pod, &kind_config_map,
                                                      &kind_maintenance, &kind_rollout};

/* --- the server --- */

static inline json_t *kw_doc(struct kw *w, const struct kind *kind, const char *ns,
                             const char *name) {
    _cleanup_free_ char *key = dw_key(kind, ns, name);
    return json_object_get(w->docs, key);
}

static inline void kw_log(struct kw *w, const struct kind *kind, const char *ns, const char *name,
                          json_t *doc) {
    char version[24];
    snprintf(version, sizeof version, "%llu", (unsigned long long)w->version);
    for (unsigned i = 0; i < KW_KINDS; i++)
        if (kind == kw_kinds[i])
            *vec_push(&w->log) = (struct kw_event){.kind = (enum kw_kind)i,
                                                   .ns = ns ? xstrdup(ns) : NULL,
                                                   .name = xstrdup(name),
                                                   .version = xstrdup(version),
                                                   .doc = json_incref(doc)};
}

/* Takes the document over. A document is never changed: a write makes another one. */
static inline void kw_write(struct kw *w, const struct kind *kind, json_t *doc) {
    char version[24];
    snprintf(version, sizeof version, "%llu", (unsigned long long)++w->version);
    json_t *meta = json_object_get(doc, "metadata");
    json_object_set_new(meta, "resourceVersion", json_string(version));
    const char *ns = json_string_value(json_object_get(meta, "namespace"));
    _cleanup_free_ char *key = dw_key(kind, ns, dw_str(meta, "name"));
    kw_log(w, kind, ns, dw_str(meta, "name"), doc);
    json_object_set_new(w->docs, key, doc);
}

__attribute__((format(printf, 3, 4))) static inline void
kw_put(struct kw *w, const struct kind *kind, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    kw_write(w, kind, dw_vjson(fmt, ap));
    va_end(ap);
}

__attribute__((format(printf, 5, 6))) static inline void kw_edit(struct kw *w,
                                                                 const struct kind *kind,
                                                                 const char *ns, const char *name,
                                                                 const char *fmt, ...) {
    va_list ap;
    json_t *doc = kw_doc(w, kind, ns, name);
    assert_non_null(doc);
    va_start(ap, fmt);
    kw_write(w, kind, dw_merge(json_deep_copy(doc), dw_vjson(fmt, ap)));
    va_end(ap);
}

static inline void kw_delete(struct kw *w, const struct kind *kind, const char *ns,
                             const char *name) {
    _cleanup_free_ char *key = dw_key(kind, ns, name);
    w->version++;
    kw_log(w, kind, ns, name, NULL);
    assert_int_equal(json_object_del(w->docs, key), 0);
}

/* As kubectl does: what has finalizers stays until they are gone. */
static inline void kw_ask_delete(struct kw *w, const struct kind *kind, const char *name) {
    json_t *doc = kw_doc(w, kind, NULL, name);
    assert_non_null(doc);
    if (json_array_size(dw_at(doc, "metadata.finalizers")))
        kw_edit(w, kind, NULL, name, "{'metadata':{'deletionTimestamp':'2026-11-15T08:00:00Z'}}");
    else
        kw_delete(w, kind, NULL, name);
}

/* Ready, schedulable, in its first boot, with its lease. */
static inline void kw_node_as(struct kw *w, const char *name, const char *labels) {
    kw_put(w, &kind_node,
           "{'metadata':{'name':'%s','uid':'uid-%s','labels':{%s}},'spec':{},'status':{'nodeInfo':"
           "{'bootID':'boot-1'},'conditions':[{'type':'Ready','status':'True',"
           "'lastHeartbeatTime':'2026-11-15T07:59:00Z'}]}}",
           name, name, labels);
    kw_put(w, &kind_lease,
           "{'metadata':{'namespace':'kube-node-lease','name':'%s'},'spec':{'renewTime':"
           "'2026-11-15T07:59:00.000000Z'}}",
           name);
}

static inline void kw_node(struct kw *w, const char *name) {
    kw_node_as(w, name, "");
}

/* What the kubelet says; `boot` counts. */
static inline void kw_status(struct kw *w, const char *name, bool ready, unsigned boot) {
    char now[TIMEFMT_LEN];
    kw_edit(w, &kind_node, NULL, name,
            "{'status':{'nodeInfo':{'bootID':'boot-%u'},'conditions':[{'type':'Ready','status':"
            "'%s','lastHeartbeatTime':'%s'}]}}",
            boot, ready ? "True" : "False", time_format(w->now.wall, false, now));
}

static inline void kw_renew(struct kw *w, const char *name) {
    char now[TIMEFMT_LEN];
    kw_edit(w, &kind_lease, "kube-node-lease", name, "{'spec':{'renewTime':'%s'}}",
            time_format(w->now.wall, true, now));
}

/* Away and back. */
static inline void kw_reboot(struct kw *w, const char *name, unsigned boot) {
    kw_status(w, name, false, boot - 1);
    kw_status(w, name, true, boot);
    kw_renew(w, name);
}

static inline void kw_pod(struct kw *w, const char *node) {
    uint64_t i = ++w->pods;
    kw_put(w, &kind_pod,
           "{'metadata':{'namespace':'default','name':'p%llu','uid':'uid-p%llu','labels':{'app':"
           "'web'},'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web',"
           "'uid':'rs-web','controller':true}]},'spec':{'nodeName':'%s'},'status':{'phase':"
           "'Running','conditions':[{'type':'Ready','status':'True'}]}}",
           (unsigned long long)i, (unsigned long long)i, node);
}

static inline unsigned kw_pods_on(struct kw *w, const char *node) {
    unsigned n = 0;
    const char *key;
    json_t *doc;
    json_object_foreach(w->docs, key, doc) n +=
        str_starts(key, "pods/") && streq(dw_str(doc, "spec.nodeName"), node);
    return n;
}

/* --- what is there --- */

static inline const char *kw_cordon(struct kw *w, const char *node) {
    json_t *annotations = dw_at(kw_doc(w, &kind_node, NULL, node), "metadata.annotations");
    return strna(json_string_value(json_object_get(annotations, CORDON_ANNOTATION)));
}

static inline bool kw_is_cordoned(struct kw *w, const char *node) {
    return json_is_true(dw_at(kw_doc(w, &kind_node, NULL, node), "spec.unschedulable"));
}

static inline const char *kw_mark(struct kw *w, const char *node) {
    json_t *annotations = dw_at(kw_doc(w, &kind_node, NULL, node), "metadata.annotations");
    return strna(json_string_value(json_object_get(annotations, SEED_MARK)));
}

/* The record; to be freed with json_decref(). */
static inline json_t *kw_record(struct kw *w) {
    json_t *map = kw_doc(w, &kind_config_map, KW_NS, KW_MAP);
    return map ? json_loads(dw_str(map, "data.slots"), 0, NULL) : NULL;
}

/* "w1 granted, w3 taken; w2" : who holds slots; who waits. Valid until the next call. */
static inline const char *kw_slots(struct kw *w) {
    static struct str text;
    json_t *record = kw_record(w), *one;
    size_t i;
    str_reset(&text);
    json_array_foreach(json_object_get(record, "slots"), i, one)
        str_addf(&text, "%s%s %s", i ? ", " : "", dw_str(one, "node"), dw_str(one, "state"));
    json_array_foreach(json_object_get(record, "waiting"), i, one)
        str_addf(&text, "%s%s", i ? ", " : "; ", dw_str(one, "node"));
    json_decref(record);
    static char copy[1024];
    snprintf(copy, sizeof copy, "%s", str_get(&text));
    str_done(&text);
    text = STR_INIT;
    return copy;
}

#define assert_slots(w, text) assert_string_equal(kw_slots(w), text)

static inline int kw_fence(struct kw *w) {
    json_t *record = kw_record(w);
    int fence = (int)json_integer_value(json_object_get(record, "fence"));
    json_decref(record);
    return fence;
}

/* Writes the record as somebody else would. */
__attribute__((format(printf, 2, 3))) static inline void kw_set_record(struct kw *w,
                                                                       const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *text = xvasprintf(fmt, ap);
    va_end(ap);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    kw_write(w, &kind_config_map,
             json_pack("{s:{s:s,s:s,s:{s:s}},s:{s:s}}", "metadata", "namespace", KW_NS, "name",
                       KW_MAP, "labels", SLOTS_LABEL, "default", "data", SLOTS_KEY, text));
}

/* --- replicas --- */

static inline struct object *kw_decode(struct pool *pool, const struct kind *kind,
                                       const json_t *doc) {
    _cleanup_free_ char *text = json_dumps(doc, 0);
    _cleanup_err_ struct err err = ERR_INIT;
    struct codec codec;
    struct object *obj = object_new(kind);
    memset(obj, 0, kind->type->size);
    codec_init(&codec, pool);
    if (codec_json(&codec, kind->type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    return obj;
}

static inline void kw_changed(struct kw_replica *r, const struct kind *kind,
                              const struct object *before, const struct object *after) {
    if (r->k)
        keeper_poke(r->k, kind, before, after);
    if (r->rs)
        rollouts_poke(r->rs, kind, before, after);
}

static inline void kw_on_node(void *arg, const struct object *before, const struct object *after) {
    kw_changed(arg, &kind_node, before, after);
}

static inline void kw_on_pod(void *arg, const struct object *before, const struct object *after) {
    kw_changed(arg, &kind_pod, before, after);
}

static inline void kw_on_map(void *arg, const struct object *before, const struct object *after) {
    kw_changed(arg, &kind_config_map, before, after);
}

static inline void kw_on_upkeep(void *arg, const struct object *before,
                                const struct object *after) {
    kw_changed(arg, &kind_maintenance, before, after);
}

static inline void kw_on_rollout(void *arg, const struct object *before,
                                 const struct object *after) {
    kw_changed(arg, &kind_rollout, before, after);
}

static inline void kw_on_note(void *arg, const struct keeper_note *note) {
    struct kw_replica *r = arg;
    assert_true(*note->text != '\0');
    str_addf(&r->w->told, "%s%s %s: %s\n", note->warning ? "warning " : "", note->reason,
             note->node, note->text);
    if (note->moves)
        str_addf(&r->w->ways, "%s -> %s; ", maint_phases[note->from].word,
                 maint_phases[note->to].word);
}

static inline void kw_on_reply(void *arg, const struct keeper_reply *reply) {
    struct kw_replica *r = arg;
    struct kw *w = r->w;
    struct kw_reply *mine = &w->replies[reply->ticket % KW_TICKETS];
    assert_true(reply->ticket && reply->ticket <= w->tickets);
    assert_false(mine->there); /* one at most */
    assert_true(*reply->text != '\0');
    *mine = (struct kw_reply){true, reply->say, xstrdup(reply->text)};
    if (w->on_reply)
        w->on_reply(w, r->index, reply->ticket);
}

static inline void kw_on_deposed(void *arg, const char *why) {
    struct kw_replica *r = arg;
    assert_true(*why != '\0');
    r->w->deposed++;
}

static inline struct store *kw_store(struct kw_replica *r, enum kw_kind kind) {
    return kind == KW_NODES     ? r->c.nodes
           : kind == KW_PODS    ? r->c.pods
           : kind == KW_MAPS    ? r->maps
           : kind == KW_UPKEEPS ? r->upkeeps
                                : r->rollout_store;
}

static inline bool kw_owns(void *arg, const struct keeper *k, const struct maintenance *m) {
    assert_ptr_equal(k, ((struct kw_replica *)arg)->k);
    return !m->policy || streq(m->policy, "default");
}

static inline const char *kw_unclear(void *arg, const struct maintenance *m) {
    const struct kw_replica *r = arg;
    const struct node *node = cluster_node(&r->c, m->node);
    return node && map_has(node->meta.labels, "no-policy") ? "no policy has its node" : NULL;
}

static inline bool kw_needed(void *arg, const struct maintenance *m) {
    const struct kw_replica *r = arg;
    return !rollout_remembers(r->rollout_store, m);
}

/* It is written before it is begun, and its node is away from the others by then. */
static inline void kw_operate(void *arg, struct keeper *k, const struct maintenance *m) {
    struct kw *w = ((struct kw_replica *)arg)->w;
    json_t *doc = kw_doc(w, &kind_maintenance, NULL, m->meta.name);
    assert_ptr_equal(k, ((struct kw_replica *)arg)->k);
    assert_string_equal(dw_str(doc, "status.phase"), "Operating");
    assert_true(kw_is_cordoned(w, m->node));
    str_addf(&w->operated, "%s\n", m->meta.name);
}

/* The watch of that kind brings the next event; false when there is none. */
static inline bool kw_show_one(struct kw_replica *r, enum kw_kind kind) {
    struct kw *w = r->w;
    struct store *s = kw_store(r, kind);
    while (r->seen[kind] < w->log.len) {
        const struct kw_event *e = &w->log.p[r->seen[kind]++];
        if (e->kind != kind)
            continue;
        if (e->doc)
            store_put(s, kw_decode(r->pool, kw_kinds[kind], e->doc));
        else
            store_remove(s, e->ns, e->name, e->version);
        store_set_version(s, e->version);
        return true;
    }
    return false;
}

/* Its keeper, with the picture that it has. */
static inline void kw_keep(struct kw *w, unsigned i) {
    struct kw_replica *r = &w->r[i];
    struct keeper_opts opts = w->opts;
    opts.arg = r;
    opts.seed = opts.drain.seed = (w->version << 8) + i + 1;
    opts.note = kw_on_note;
    opts.reply = kw_on_reply;
    opts.deposed = kw_on_deposed;
    opts.maintenances = r->upkeeps;
    opts.owns = kw_owns;
    opts.operate = kw_operate;
    opts.unclear = kw_unclear;
    opts.needed = kw_needed;
    r->k = keeper_new(&opts, &r->c, r->maps);
}

/* A process begins: it lists everything, and watches from there. */
static inline void kw_begin(struct kw *w, unsigned i) {
    struct kw_replica *r = &w->r[i];
    char version[24];
    snprintf(version, sizeof version, "%llu", (unsigned long long)w->version);
    for (unsigned kind = 0; kind < KW_KINDS; kind++) {
        struct store *s = kw_store(r, (enum kw_kind)kind);
        while (kw_show_one(r, (enum kw_kind)kind))
            ;
        store_replace_begin(s);
        const char *key;
        json_t *doc;
        _cleanup_free_ char *prefix = xasprintf("%s/", kw_kinds[kind]->resource);
        json_object_foreach(w->docs, key, doc) if (str_starts(key, prefix))
            store_put(s, kw_decode(r->pool, kw_kinds[kind], doc));
        store_replace_end(s, version);
    }
    kw_keep(w, i);
}

static inline size_t kw_policy(void *arg, const struct node *node, struct rollout_policy *out) {
    struct kw_replica *r = arg;
    *out = (struct rollout_policy){r->w->rules, r->k};
    return map_has(node->meta.labels, "no-policy") ? 0 : 1;
}

static inline void kw_on_rollout_note(void *arg, const struct rollout_note *note) {
    struct kw_replica *r = arg;
    assert_true(*note->text != '\0');
    str_addf(&r->w->told, "%s%s %s: %s\n", note->warning ? "warning " : "", note->reason,
             note->rollout, note->text);
}

/* This one leads rollouts, too. */
static inline bool kw_is_seen(void *arg, const char *node) {
    const struct kw_replica *r = arg;
    return !strstr(strna(r->w->unseen), node);
}

static inline void kw_lead_rollouts(struct kw *w, unsigned i) {
    struct kw_replica *r = &w->r[i];
    rollouts_free(r->rs);
    r->rs = rollouts_new(&(struct rollouts_opts){.cluster = &r->c,
                                                 .rollouts = r->rollout_store,
                                                 .maintenances = r->upkeeps,
                                                 .policy = kw_policy,
                                                 .maps = r->maps,
                                                 .ns = KW_NS,
                                                 .note = kw_on_rollout_note,
                                                 .watched = w->looks ? kw_is_seen : NULL,
                                                 .arg = r,
                                                 .seed = w->version});
}

/* Whatever is under way: the server may carry it out all the same. */
static inline void kw_kill(struct kw *w, unsigned i) {
    struct kw_replica *r = &w->r[i];
    keeper_free(r->k);
    r->k = NULL;
    rollouts_free(r->rs);
    r->rs = NULL;
    for (size_t j = 0; j < r->calls.len; j++)
        r->calls.p[j].orphan = true;
}

static inline void kw_init(struct kw *w, unsigned replicas) {
    *w = (struct kw){
        .version = 100, .n = replicas, .docs = json_object(), .rules = policy_builtin()};
    w->now.mono = SEC(1000);
    const char *begin = "2026-11-15T08:00:00Z";
    assert_true(time_parse(begin, strlen(begin), &w->now.wall));
    w->opts = (struct keeper_opts){.ns = KW_NS,
                                   .policy = "default",
                                   .max = {.value = 1},
                                   .forget = SEC(1800),
                                   .unclaimed = SEC(720),
                                   .same_boot = SEC(300),
                                   .return_timeout = SEC(900),
                                   .drain = {.grace = -1, .ignore_daemonsets = true}};
    for (unsigned i = 0; i < replicas; i++) {
        struct kw_replica *r = &w->r[i];
        *r = (struct kw_replica){.w = w, .index = i, .pool = pool_new(type_drop)};
        cluster_init(&r->c, r->pool);
        r->maps = store_new(&kind_config_map, r->pool);
        r->upkeeps = store_new(&kind_maintenance, r->pool);
        r->rollout_store = store_new(&kind_rollout, r->pool);
        store_listen(r->c.nodes, kw_on_node, r);
        store_listen(r->c.pods, kw_on_pod, r);
        store_listen(r->maps, kw_on_map, r);
        store_listen(r->upkeeps, kw_on_upkeep, r);
        store_listen(r->rollout_store, kw_on_rollout, r);
    }
}

static inline void kw_drop_call(struct kw_call *c) {
    dw_drop(&c->a);
    json_decref(c->doc);
}

static inline void kw_replica_done(struct kw_replica *r) {
    kw_kill(r->w, r->index);
    for (size_t i = 0; i < r->calls.len; i++)
        kw_drop_call(&r->calls.p[i]);
    vec_done(&r->calls);
    actions_done(&r->out);
    store_free(r->maps);
    store_free(r->upkeeps);
    store_free(r->rollout_store);
    cluster_done(&r->c);
    assert_int_equal(pool_stats(r->pool).entries, 0);
    pool_free(r->pool);
}

static inline void kw_done(struct kw *w) {
    for (unsigned i = 0; i < w->n; i++)
        kw_replica_done(&w->r[i]);
    for (size_t i = 0; i < w->log.len; i++) {
        free(w->log.p[i].ns);
        free(w->log.p[i].name);
        free(w->log.p[i].version);
        json_decref(w->log.p[i].doc);
    }
    vec_done(&w->log);
    policy_rules_free(w->rules);
    for (size_t i = 0; i < KW_TICKETS; i++)
        free(w->replies[i].text);
    json_decref(w->docs);
    str_done(&w->told);
    str_done(&w->ways);
    str_done(&w->wanted);
    str_done(&w->operated);
}

/* --- requests --- */

static inline void kw_check(const struct action *a) {
    assert_non_null(a->kind);
    assert_non_null(a->name);
    if (dw_is_pod_call(a))
        assert_true(a->uid && *a->uid);
    if ((a->verb != ACTION_PATCH && a->verb != ACTION_CREATE) || a->minor)
        return;
    json_t *body = json_loads(a->body, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(body);
    bool version = *dw_str(body, "metadata.resourceVersion") != '\0';
    assert_int_equal(version, a->verb == ACTION_PATCH); /* a compare-and-swap */
    json_decref(body);
}

static inline void kw_take(struct kw_replica *r, const struct action *a) {
    static const char *const verbs[] = {
        [ACTION_EVICT] = "evict",   [ACTION_DELETE] = "delete", [ACTION_PATCH] = "patch",
        [ACTION_CREATE] = "create", [ACTION_READ] = "read",     [ACTION_CONFIRM] = "confirm"};
    kw_check(a);
    str_addf(&r->w->wanted, "%s %s %s\n", verbs[a->verb], a->kind->resource, a->name);
    struct kw_call *c = vec_push(&r->calls);
    *c = (struct kw_call){.a = *a};
    c->a.ns = a->ns ? xstrdup(a->ns) : NULL;
    c->a.name = xstrdup(a->name);
    c->a.uid = a->uid ? xstrdup(a->uid) : NULL;
    c->a.subresource = a->subresource ? xstrdup(a->subresource) : NULL;
    c->a.body = a->body ? xstrdup(a->body) : NULL;
}

static inline int64_t kw_next_of(const struct kw_replica *r) {
    int64_t next = keeper_next(r->k);
    return r->rs ? MIN_OF(next, rollouts_next(r->rs)) : next;
}

static inline void kw_step(struct kw_replica *r) {
    struct kw *w = r->w;
    actions_reset(&r->out);
    keeper_step(r->k, w->now, &r->out);
    if (r->rs && rollouts_next(r->rs) <= w->now.mono)
        rollouts_step(r->rs, w->now, &r->out);
    for (size_t i = 0; i < r->out.list.len; i++)
        kw_take(r, &r->out.list.p[i]);
    if (kw_next_of(r) <= w->now.mono)
        fail_msg("it wants to be called again at once");
}

/* A kind with a status subresource: one write changes the status or the rest, never both. */
static inline void kw_only(json_t *body, bool status) {
    if (!status) {
        json_object_del(body, "status");
        return;
    }
    json_object_del(body, "metadata");
    json_object_del(body, "spec");
}

/* That was its last finalizer. */
static inline bool kw_is_over(json_t *doc) {
    return *dw_str(doc, "metadata.deletionTimestamp") &&
           !json_array_size(dw_at(doc, "metadata.finalizers"));
}

static inline enum kube_outcome kw_do_patch(struct kw *w, struct kw_call *c) {
    json_t *doc = kw_doc(w, c->a.kind, c->a.ns, c->a.name);
    json_t *body = json_loads(c->a.body, 0, NULL);
    enum kube_outcome outcome = KUBE_OK;
    if (!doc)
        outcome = KUBE_NOT_FOUND;
    else if (!streq(dw_str(body, "metadata.resourceVersion"),
                    dw_str(doc, "metadata.resourceVersion")))
        outcome = KUBE_CONFLICT;
    if (c->a.kind == &kind_maintenance || c->a.kind == &kind_rollout)
        kw_only(body, c->a.subresource && streq(c->a.subresource, "status"));
    if (outcome == KUBE_OK) {
        kw_write(w, c->a.kind, dw_merge(json_deep_copy(doc), json_incref(body)));
        c->doc = json_incref(kw_doc(w, c->a.kind, c->a.ns, c->a.name));
        if (kw_is_over(c->doc))
            kw_delete(w, c->a.kind, c->a.ns, c->a.name);
    }
    json_decref(body);
    return outcome;
}

static inline enum kube_outcome kw_do_create(struct kw *w, struct kw_call *c) {
    if (kw_doc(w, c->a.kind, c->a.ns, c->a.name))
        return KUBE_EXISTS;
    json_t *doc = json_loads(c->a.body, 0, NULL), *meta = json_object_get(doc, "metadata");
    json_object_set_new(meta, "uid", json_sprintf("uid-%s", c->a.name));
    json_object_set_new(meta, "generation", json_integer(1));
    kw_write(w, c->a.kind, doc);
    return KUBE_OK;
}

static inline enum kube_outcome kw_do_evict(struct kw *w, struct kw_call *c) {
    json_t *doc = kw_doc(w, &kind_pod, c->a.ns, c->a.name);
    if (!doc)
        return KUBE_NOT_FOUND;
    if (!streq(dw_str(doc, "metadata.uid"), c->a.uid))
        return KUBE_CONFLICT;
    if (!w->lazy_pods)
        kw_delete(w, &kind_pod, c->a.ns, c->a.name);
    return KUBE_OK;
}

static inline json_t *kw_list_pods(struct kw *w, const char *node) {
    const char *key;
    json_t *doc, *list = json_array();
    json_object_foreach(w->docs, key, doc) {
        if (str_starts(key, "pods/") && streq(dw_str(doc, "spec.nodeName"), node))
            json_array_append(list, doc);
    }
    return list;
}

/* The server does it. */
static inline void kw_do(struct kw *w, struct kw_call *c) {
    if (c->a.minor) {
        c->outcome = KUBE_OK; /* Events and conditions: nobody looks at them here */
        return;
    }
    switch (c->a.verb) {
    case ACTION_PATCH:
        c->outcome = kw_do_patch(w, c);
        break;
    case ACTION_CREATE:
        c->outcome = kw_do_create(w, c);
        break;
    case ACTION_EVICT:
    case ACTION_DELETE:
        c->outcome = kw_do_evict(w, c);
        break;
    case ACTION_READ:
        c->outcome = kw_doc(w, c->a.kind, c->a.ns, c->a.name) ? KUBE_OK : KUBE_NOT_FOUND;
        break;
    default:
        c->outcome = KUBE_OK;
        if (c->a.kind == &kind_policy) {
            c->outcome = w->policies ? KUBE_EXISTS : KUBE_NOT_FOUND;
            break;
        }
        c->doc = kw_list_pods(w, c->a.name);
        snprintf(c->version, sizeof c->version, "%llu", (unsigned long long)w->version);
    }
    bool one = c->a.verb == ACTION_READ || c->a.verb == ACTION_CREATE;
    if (c->outcome == KUBE_OK && one)
        c->doc = json_incref(kw_doc(w, c->a.kind, c->a.ns, c->a.name));
}

/* Of the call as it is carried out now, or not: with this outcome. */
static inline void kw_perform_as(struct kw *w, struct kw_call *c, enum kube_outcome outcome,
                                 bool done) {
    c->performed = true;
    if (outcome == KUBE_OK || done)
        kw_do(w, c);
    if (outcome == KUBE_OK)
        return;
    json_decref(c->doc);
    c->doc = NULL;
    c->outcome = outcome;
}

static inline void kw_perform(struct kw *w, struct kw_call *c) {
    bool hit = w->fault.times && c->a.verb == w->fault.verb && c->a.kind == w->fault.kind;
    w->fault.times -= hit;
    kw_perform_as(w, c, hit ? w->fault.outcome : KUBE_OK, !hit || w->fault.done);
}

/* What a list of the pods of a node has brought comes into the store, as src/exec/confirm.c does
 * it: not what was deleted since. */
static inline void kw_confirm(struct kw_replica *r, const struct kw_call *c) {
    size_t i, n;
    json_t *doc;
    if (version_compare(store_version(r->c.pods), c->version) >= 0)
        return;
    json_array_foreach(c->doc, i, doc) store_put(r->c.pods, kw_decode(r->pool, &kind_pod, doc));
    _cleanup_free_ const struct object **all = store_sorted(r->c.pods, &n);
    for (i = 0; i < n; i++) {
        const struct pod *pod = (const struct pod *)all[i];
        bool listed = false;
        size_t j;
        json_array_foreach(c->doc, j, doc) listed |=
            streq(dw_str(doc, "metadata.name"), pod->meta.name);
        if (!listed && streq(pod->node_name, c->a.name))
            store_remove(r->c.pods, pod->meta.ns, pod->meta.name, c->version);
    }
}

/* The answer arrives; the call is over. */
static inline void kw_deliver(struct kw_replica *r, size_t i) {
    struct kw_call c = r->calls.p[i];
    memmove(&r->calls.p[i], &r->calls.p[i + 1], (--r->calls.len - i) * sizeof c);
    assert_true(c.performed);
    if (!c.orphan && r->k) {
        bool list = c.a.verb == ACTION_CONFIRM;
        struct object *obj = c.doc && !list ? kw_decode(r->pool, c.a.kind, c.doc) : NULL;
        if (c.a.verb == ACTION_PATCH && c.a.kind == &kind_node && obj)
            store_wrote(r->c.nodes, NULL, c.a.name, obj->meta.version);
        if (c.doc && list && c.a.kind == &kind_pod)
            kw_confirm(r, &c);
        struct answer answer = {.outcome = c.outcome,
                                .message = c.outcome ? "the test says no" : "",
                                .retry_after = -1,
                                .obj = obj};
        if (!keeper_answer(r->k, c.a.id, &answer, r->w->now) && r->rs)
            rollouts_answer(r->rs, c.a.id, &answer, r->w->now);
        object_free(c.a.kind, r->pool, obj);
    }
    kw_drop_call(&c);
}

/* --- time --- */

/* One round for a replica; whether anything happened. */
static inline bool kw_round(struct kw_replica *r) {
    bool any = false;
    if (!r->k || r->frozen)
        return false;
    for (unsigned kind = 0; kind < KW_KINDS; kind++)
        while (!r->late[kind] && kw_show_one(r, (enum kw_kind)kind))
            any = true;
    if (kw_next_of(r) <= r->w->now.mono) {
        kw_step(r);
        any = true;
    }
    size_t i = 0;
    while (r->w->hold_minor && i < r->calls.len && r->calls.p[i].a.minor)
        i++;
    if (i < r->calls.len) {
        if (!r->calls.p[i].performed)
            kw_perform(r->w, &r->calls.p[i]);
        kw_deliver(r, i);
        any = true;
    }
    return any;
}

static inline void kw_settle(struct kw *w) {
    size_t before = w->rounds;
    bool any;
    do {
        any = false;
        for (unsigned i = 0; i < w->n; i++)
            any |= kw_round(&w->r[i]);
        if (++w->rounds > before + KW_BUSY)
            fail_msg("a busy loop: %s", dw_end(&w->wanted));
    } while (any);
}

static inline int64_t kw_next(const struct kw *w) {
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < w->n; i++)
        if (w->r[i].k && !w->r[i].frozen)
            next = MIN_OF(next, kw_next_of(&w->r[i]));
    return next;
}

static inline void kw_set_time(struct kw *w, int64_t mono) {
    w->now.wall += mono - w->now.mono;
    w->now.mono = mono;
}

static inline void kw_pass(struct kw *w, int64_t usec) {
    int64_t end = w->now.mono + usec;
    size_t before = w->rounds;
    kw_settle(w);
    for (int64_t next; (next = kw_next(w)) <= end;) {
        kw_set_time(w, next);
        kw_settle(w);
        if (w->rounds > before + KW_BUSY)
            fail_msg("%zu rounds in %lld s: %s", w->rounds - before, (long long)(usec / SEC(1)),
                     dw_end(&w->wanted));
    }
    kw_set_time(w, end);
}

/* --- questions --- */

static inline uint64_t kw_ask(struct kw *w, unsigned i, const char *node,
                              enum keeper_question question) {
    uint64_t ticket = ++w->tickets;
    struct kw_reply *mine = &w->replies[ticket % KW_TICKETS];
    free(mine->text);
    *mine = (struct kw_reply){0};
    keeper_ask(w->r[i].k, ticket, node, question, w->now);
    return ticket;
}

static inline const struct kw_reply *kw_reply(const struct kw *w, uint64_t ticket) {
    return &w->replies[ticket % KW_TICKETS];
}

/* Asks, and waits for the reply, which comes in time. Valid until the next. */
static inline const struct kw_reply *kw_answer(struct kw *w, unsigned i, const char *node,
                                               enum keeper_question question) {
    uint64_t ticket = kw_ask(w, i, node, question);
    kw_pass(w, KEEPER_PATIENCE);
    kw_settle(w);
    assert_true(kw_reply(w, ticket)->there);
    return kw_reply(w, ticket);
}

#define assert_says(w, i, node, question, what)                                                    \
    assert_int_equal(kw_answer(w, i, node, question)->say, what)

/* --- the usual beginning --- */

static inline int kw_setup(void **state) {
    struct kw *w = xnew(struct kw);
    kw_init(w, 2);
    *state = w;
    return 0;
}

static inline int kw_teardown(void **state) {
    kw_done(*state);
    free(*state);
    return 0;
}

#define KEEPER_TEST(f) cmocka_unit_test_setup_teardown(f, kw_setup, kw_teardown)

/* All replicas begin, and the first leads in term 1. */
static inline void kw_start(struct kw *w) {
    for (unsigned i = 0; i < w->n; i++)
        kw_begin(w, i);
    keeper_lead(w->r[0].k, 1);
    kw_settle(w);
}

/* Nodes, each with a pod. */
__attribute__((sentinel)) static inline void kw_nodes(struct kw *w, ...) {
    const char *name;
    va_list ap;
    va_start(ap, w);
    while ((name = va_arg(ap, const char *))) {
        kw_node(w, name);
        kw_pod(w, name);
    }
    va_end(ap);
}

#endif
