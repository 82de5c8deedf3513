/* A core without a cluster: nodes and records are put into its stores by hand. */
#ifndef SUPPORT_CORE_WORLD_H
#define SUPPORT_CORE_WORLD_H

#include "controller/core.h"

#include "support/keeper_world.h"

struct core_world {
    struct pool *pool;
    struct core *core;
    struct actions actions;
    struct now now;
    int version;
    unsigned replies, replaced, deposed;
    bool watched;
};

static inline void cw_note(void *arg, const struct keeper_note *note) {
    (void)arg, (void)note;
}
static inline void cw_drain_note(void *arg, const struct drain_note *note) {
    (void)arg, (void)note;
}
static inline void cw_rollout_note(void *arg, const struct rollout_note *note) {
    (void)arg, (void)note;
}
static inline void cw_reply(void *arg, const struct keeper_reply *reply) {
    (void)reply;
    ((struct core_world *)arg)->replies++;
}
static inline void cw_operate(void *arg, const struct maintenance *m) {
    (void)arg, (void)m;
}
static inline void cw_replaced(void *arg, const struct keeper *k) {
    (void)k;
    ((struct core_world *)arg)->replaced++;
}
static inline void cw_deposed(void *arg, const char *why, int32_t fence) {
    (void)why, (void)fence;
    ((struct core_world *)arg)->deposed++;
}
static inline bool cw_watched(void *arg, const char *node) {
    (void)node;
    return ((struct core_world *)arg)->watched;
}

__attribute__((format(printf, 3, 4))) static inline void
cw_put(struct core_world *w, struct store *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion",
                        json_sprintf("%d", ++w->version));
    store_put(s, kw_decode(w->pool, store_kind(s), doc));
    json_decref(doc);
}

static inline void cw_node(struct core_world *w, const char *name) {
    cw_put(w, core_cluster(w->core)->nodes,
           "{'metadata':{'name':'%s','uid':'uid-%s','annotations':{'rebootmanager/status':'Ready',"
           "'somebody/else':'secret'}},'spec':{'providerID':'secret'},'status':{'nodeInfo':{"
           "'machineID':'secret','systemUUID':'secret','bootID':'boot'},'addresses':[{'type':"
           "'InternalIP','address':'secret'}],'conditions':[{'type':'Ready','status':'True'}]}}",
           name, name);
}

static inline void cw_step(struct core_world *w) {
    core_look(w->core);
    actions_reset(&w->actions);
    core_step(w->core, w->now, &w->actions);
}

static inline void cw_pass(struct core_world *w, int64_t time) {
    w->now.mono += time;
    w->now.wall += time;
    cw_step(w);
}

/* All is known, but of a kind that is not defined (NULL: they all are), and there is one node. */
static inline void cw_init_without(struct core_world *w, const struct kind *absent) {
    size_t n;
    *w = (struct core_world){0};
    w->pool = pool_new(type_drop);
    w->now = (struct now){SEC(1000), SEC(1794729600)};
    w->version = 1;
    w->core = core_new(&(struct core_opts){.ns = KW_NS,
                                           .pool = w->pool,
                                           .seed = 7,
                                           .rate = 20,
                                           .note = cw_note,
                                           .drain_note = cw_drain_note,
                                           .rollout_note = cw_rollout_note,
                                           .reply = cw_reply,
                                           .operate = cw_operate,
                                           .replaced = cw_replaced,
                                           .deposed = cw_deposed,
                                           .watched = cw_watched,
                                           .arg = w});
    struct store *const *all = core_all_stores(w->core, &n);
    for (size_t i = 0; i < n; i++) {
        if (store_kind(all[i]) == absent)
            continue;
        store_replace_begin(all[i]);
        store_replace_end(all[i], "1");
    }
    cw_node(w, "w0");
    core_ready(w->core);
}

static inline void cw_init(struct core_world *w) {
    cw_init_without(w, NULL);
}

static inline void cw_done(struct core_world *w) {
    core_free(w->core);
    actions_done(&w->actions);
    assert_int_equal(pool_stats(w->pool).entries, 0);
    pool_free(w->pool);
}

#endif
