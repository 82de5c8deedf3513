/* Policies and the records of their slots, in stores without a server: for tests of what looks at
 * them. Objects are JSON, single quotes allowed for double ones. */
#ifndef SUPPORT_POLICY_WORLD_H
#define SUPPORT_POLICY_WORLD_H

#include "controller/policies.h"

#include "support/keeper_world.h"

struct policy_world {
    struct pool *pool;
    struct cluster cluster;
    struct store *maps, *policies, *maintenances;
    struct policies *p;
    struct log log;
    struct now now;
    unsigned replaced;
    int version;
    /* Of whoever wants to hear; may be NULL. */
    void (*on_reply)(void *arg, const struct keeper_reply *reply);
    void (*on_replaced)(void *arg, const struct keeper *k);
    void *arg;
};

static inline void pw_reply(void *arg, const struct keeper_reply *reply) {
    const struct policy_world *w = arg;
    if (w->on_reply)
        w->on_reply(w->arg, reply);
}

static inline void pw_replaced(void *arg, const struct keeper *k) {
    struct policy_world *w = arg;
    assert_non_null(k);
    w->replaced++;
    if (w->on_replaced)
        w->on_replaced(w->arg, k);
}

static inline void pw_init(struct policy_world *w) {
    w->pool = pool_new(type_drop);
    w->now = (struct now){SEC(1000), SEC(1794729600)};
    w->log = (struct log){.level = LOG_ERROR, .fd = -1};
    cluster_init(&w->cluster, w->pool);
    w->maps = store_new(&kind_config_map, w->pool);
    w->policies = store_new(&kind_policy, w->pool);
    w->maintenances = store_new(&kind_maintenance, w->pool);
    /* All of them are known; what is put in later has happened since. */
    struct store *const all[] = {w->cluster.nodes, w->maps, w->policies, w->maintenances};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        store_replace_begin(all[i]);
        store_replace_end(all[i], "1");
    }
    w->version = 1;
    w->p = policies_new(&(struct policies_opts){
        .keeper = {.ns = KW_NS, .forget = SEC(1800), .reply = pw_reply, .arg = w},
        .cluster = &w->cluster,
        .maps = w->maps,
        .policies = w->policies,
        .log = &w->log,
        .replaced = pw_replaced,
        .arg = w,
    });
}

static inline void pw_done(struct policy_world *w) {
    policies_free(w->p);
    store_free(w->maps);
    store_free(w->policies);
    store_free(w->maintenances);
    cluster_done(&w->cluster);
    assert_int_equal(pool_stats(w->pool).entries, 0);
    pool_free(w->pool);
}

__attribute__((format(printf, 3, 4))) static inline void
pw_put(struct policy_world *w, struct store *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    json_t *doc = dw_vjson(fmt, ap);
    va_end(ap);
    json_object_set_new(json_object_get(doc, "metadata"), "resourceVersion",
                        json_sprintf("%d", ++w->version));
    assert_true(store_put(s, kw_decode(w->pool, store_kind(s), doc)));
    json_decref(doc);
}

/* Of the nodes with that label. */
static inline void pw_policy(struct policy_world *w, const char *name, int generation,
                             const char *pool) {
    pw_put(w, w->policies,
           "{'metadata':{'name':'%s','uid':'uid-%s','generation':%d},'spec':{'nodeSelector':"
           "{'matchLabels':{'pool':'%s'}},'maxUnavailable':2,'fleetlock':{'groups':['default']}}}",
           name, name, generation, pool);
}

static inline void pw_node(struct policy_world *w, const char *name, const char *pool) {
    pw_put(w, w->cluster.nodes, "{'metadata':{'name':'%s','labels':{'pool':'%s'}}}", name, pool);
}

static inline void pw_record(struct policy_world *w, const char *name, const char *slots) {
    pw_put(w, w->maps,
           "{'metadata':{'namespace':'" KW_NS "','name':'slipway-slots-%s','labels':{'" SLOTS_LABEL
           "':'%s'}},'data':{'slots':'%s'}}",
           name, name, slots);
}

#define PW_SLOT(node, by, state)                                                                   \
    "{\\\"v\\\":1,\\\"fence\\\":1,\\\"slots\\\":[{\\\"id\\\":\\\"h\\\",\\\"node\\\":\\\"" node     \
    "\\\",\\\"uid\\\":\\\"u\\\",\\\"operation\\\":\\\"Reboot\\\",\\\"by\\\":\\\"" by               \
    "\\\",\\\"state\\\":\\\"" state "\\\",\\\"boot\\\":\\\"b\\\","                                 \
    "\\\"since\\\":\\\"2026-11-15T08:00:00Z\\\",\\\"granted\\\":\\\"2026-11-15T08:01:00Z\\\"}]}"
#define PW_NO_SLOT "{\\\"v\\\":1,\\\"fence\\\":1,\\\"slots\\\":[]}"

/* All of them look at what there is. */
static inline void pw_step(struct policy_world *w) {
    struct actions out = ACTIONS_INIT;
    policies_look(w->p);
    for (size_t i = 0; i < policies_len(w->p); i++)
        if (policies_at(w->p, i)->keeper) {
            keeper_poke(policies_at(w->p, i)->keeper, NULL, NULL, NULL);
            keeper_step(policies_at(w->p, i)->keeper, w->now, &out);
        }
    actions_done(&out);
}

#endif
