/* Objects in a recording. */
#include "controller/tape_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/keeper.h"
#include "engine/rivals.h"
#include "model/own.h"

/* --- annotations --- */

/* What ends in a slash stands for all that begin so. Of pods Slipway keeps few in the first place
 * (model/object.c), and rules may ask for any of those. */
static const char *const kept[] = {
    AUTOSCALER_MARK,
    SEED_MARK,
    "pv.kubernetes.io/",
    "sim.slipway.dev/",
    "slipway.dev/",
    "storageclass.beta.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
};

static bool is_kept(const char *key) {
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (kept[i][strlen(kept[i]) - 1] == '/' ? str_starts(key, kept[i]) : streq(key, kept[i]))
            return true;
    for (size_t i = 0; i < n_rival_rows; i++)
        if (rival_rows[i].sign == RIVAL_ANNOTATION && streq(key, rival_rows[i].key))
            return true;
    return false;
}

/* A new reference. */
static const struct pair *filter(struct pool *pool, const struct pair *all) {
    VEC(struct pair) some = VEC_INIT;
    for (size_t i = 0; i < list_len(all); i++)
        if (is_kept(strna(all[i].key)))
            *vec_push(&some) = (struct pair){all[i].key ? pool_ref(all[i].key) : NULL,
                                             all[i].value ? pool_ref(all[i].value) : NULL};
    const struct pair *map =
        some.len ? pool_blob(pool, &type_pair, some.p, some.len * sizeof *some.p) : NULL;
    vec_done(&some);
    return map;
}

/* --- objects --- */

/* Which of them it is, and nothing of what it does. */
static const struct own_executor *blank_executor(const struct own_executor *e,
                                                 struct own_executor *out) {
    static const struct own_exec no_command;
    static const struct own_http no_url;
    if (!e)
        return NULL;
    *out = *e;
    out->exec = e->exec ? &no_command : NULL;
    out->http = e->http ? &no_url : NULL;
    return out;
}

void tape_object_print(const struct kind *kind, struct pool *pool, struct jsonw *w,
                       const struct object *obj) {
    struct own_executor executor;
    _cleanup_free_ struct object *copy = xcalloc(1, kind->type->size);
    memcpy(copy, obj, kind->type->size); /* to look at: it holds no references of its own */
    if (kind != &kind_pod)
        copy->meta.annotations = filter(pool, obj->meta.annotations);
    if (kind == &kind_node) {
        struct node *node = (struct node *)copy;
        node->provider_id = node->info.machine_id = node->info.system_uuid = NULL;
        node->addresses = NULL;
    } else if (kind == &kind_maintenance) {
        struct maintenance *m = (struct maintenance *)copy;
        m->executor = blank_executor(m->executor, &executor);
    } else if (kind == &kind_rollout) {
        struct rollout *r = (struct rollout *)copy;
        r->executor = blank_executor(r->executor, &executor);
    }
    object_print(kind, w, copy);
    if (kind != &kind_pod)
        pool_unref(pool, copy->meta.annotations);
}

/* A rollout makes Maintenances that do what it says. */
char *tape_body(const struct action *a) {
    if (!a->body || a->kind != &kind_maintenance || a->verb != ACTION_CREATE)
        return a->body ? xstrdup(a->body) : NULL;
    _cleanup_json_ json_t *body = json_loads(a->body, 0, NULL);
    json_object_del(json_object_get(body, "spec"), "executor");
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    return text ? text : xstrdup("");
}

int tape_object_read(struct codec *codec, const struct kind *kind, struct view text,
                     struct object **out, struct err *err) {
    struct object *obj = object_new(kind);
    int rc = codec_json(codec, kind->type, text, obj, err);
    if (!rc && !obj->meta.name)
        rc = err_set(err, EINVAL, "an object without a name");
    if (rc) {
        object_free(kind, codec->pool, obj);
        return rc;
    }
    *out = obj;
    return 0;
}

const struct kind *tape_kind(const char *resource) {
    static const struct kind *const own[] = {&kind_policy, &kind_maintenance, &kind_rollout};
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (streq(own[i]->resource, resource))
            return own[i];
    return kind_find(resource);
}
