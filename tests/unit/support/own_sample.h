/* Maintenances and Rollouts in stores, as the verbs about them have read them. */
#ifndef SUPPORT_OWN_SAMPLE_H
#define SUPPORT_OWN_SAMPLE_H

#include "cli/own_target.h"
#include "support/keeper_world.h"

struct own_sample {
    struct pool *pool;
    struct own_targets all;
    struct arena arena;
};

static inline int own_sample_begin(void **state) {
    struct own_sample *f = xnew(struct own_sample);
    f->pool = pool_new(type_drop);
    f->all.maintenances = store_new(&kind_maintenance, f->pool);
    f->all.rollouts = store_new(&kind_rollout, f->pool);
    f->arena = ARENA_INIT;
    *state = f;
    return 0;
}

static inline int own_sample_end(void **state) {
    struct own_sample *f = *state;
    store_free(f->all.maintenances);
    store_free(f->all.rollouts);
    pool_free(f->pool);
    arena_done(&f->arena);
    free(f);
    return 0;
}

#define OWN_TEST(name) cmocka_unit_test_setup_teardown(name, own_sample_begin, own_sample_end)

/* `owner`: the Rollout that has made it, or NULL. */
static inline struct own_target own_sample_maintenance(struct own_sample *f, const char *name,
                                                       const char *phase, const char *owner,
                                                       bool deleted) {
    json_t *doc = json_pack("{s:{s:s,s:s,s:s,s:s?},s:{s:s,s:s},s:{s:s}}", "metadata", "name", name,
                            "uid", name, "resourceVersion", "1", "deletionTimestamp",
                            deleted ? "2026-11-16T12:00:00Z" : NULL, "spec", "node", name,
                            "operation", "Reboot", "status", "phase", phase);
    if (owner)
        json_object_set_new(json_object_get(doc, "metadata"), "ownerReferences",
                            json_pack("[{s:s,s:s,s:s,s:b}]", "kind", "Rollout", "name", owner,
                                      "uid", owner, "controller", 1));
    assert_true(store_put(f->all.maintenances, kw_decode(f->pool, &kind_maintenance, doc)));
    json_decref(doc);
    return (struct own_target){&kind_maintenance, store_get(f->all.maintenances, NULL, name)};
}

static inline struct own_target own_sample_rollout(struct own_sample *f, const char *name,
                                                   const char *phase) {
    json_t *doc =
        json_pack("{s:{s:s,s:s,s:s},s:{s:s},s:{s:s}}", "metadata", "name", name, "uid", name,
                  "resourceVersion", "1", "spec", "operation", "Reboot", "status", "phase", phase);
    assert_true(store_put(f->all.rollouts, kw_decode(f->pool, &kind_rollout, doc)));
    json_decref(doc);
    return (struct own_target){&kind_rollout, store_get(f->all.rollouts, NULL, name)};
}

#endif
