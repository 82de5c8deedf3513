/* A small cluster for tests of the engine: objects from JSON (single quotes allowed for double
 * ones) in stores. */
#ifndef SUPPORT_WORLD_H
#define SUPPORT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/codec.h"
#include "model/pdbs.h"
#include "model/store.h"

struct world {
    struct pool *pool;
    struct store *nodes, *pods, *budgets;
    struct pdbs *pdbs;
    unsigned by_node;
};

static inline void world_init(struct world *w) {
    w->pool = pool_new(type_drop);
    w->nodes = store_new(&kind_node, w->pool);
    w->pods = store_new(&kind_pod, w->pool);
    w->budgets = store_new(&kind_pdb, w->pool);
    w->by_node = store_index(w->pods, store_key_node);
    w->pdbs = pdbs_new(w->pods, w->budgets);
}

static inline void world_done(struct world *w) {
    pdbs_free(w->pdbs);
    store_free(w->nodes);
    store_free(w->pods);
    store_free(w->budgets);
    assert_int_equal(pool_stats(w->pool).entries, 0);
    pool_free(w->pool);
}

/* The object in the store, which is one of this pool; valid until it is changed. */
static inline const void *world_put(struct world *w, struct store *s, const char *json) {
    const struct kind *kind = store_kind(s);
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    struct object *obj = object_new(kind);
    struct codec codec;
    struct err err = ERR_INIT;
    codec_init(&codec, w->pool);
    memset(obj, 0, kind->type->size);
    if (codec_json(&codec, kind->type, (struct view){text, strlen(text)}, obj, &err))
        fail_msg("%s in %s", err_msg(&err), text);
    codec_done(&codec);
    const struct object *stored = obj;
    assert_true(store_put(s, obj));
    return stored;
}

static inline const void *world_add(struct world *w, const struct kind *kind, const char *json) {
    return world_put(w,
                     kind == &kind_node  ? w->nodes
                     : kind == &kind_pod ? w->pods
                                         : w->budgets,
                     json);
}

#endif
