/* For tests of Slipway's own kinds: an object from JSON that is written with ' for ". */
#ifndef SUPPORT_OWN_H
#define SUPPORT_OWN_H

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/codec.h"
#include "model/own_read.h"

struct own_sample {
    struct pool *pool;
    struct codec codec;
    const struct kind *kind;
    void *obj;
};

static inline int own_sample(struct own_sample *s, const struct kind *kind, const char *json) {
    _cleanup_free_ char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    s->pool = pool_new(type_drop);
    s->kind = kind;
    s->obj = object_new(kind);
    codec_init(&s->codec, s->pool);
    return codec_json(&s->codec, kind->type, view_of(text), s->obj, NULL);
}

/* How many entries of the pool were not given back. */
static inline size_t own_sample_done(struct own_sample *s) {
    object_free(s->kind, s->pool, s->obj);
    codec_done(&s->codec);
    size_t left = pool_stats(s->pool).entries;
    pool_free(s->pool);
    return left;
}

#endif
