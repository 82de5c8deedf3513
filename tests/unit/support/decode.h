/* For tests of the decoders: a pool and a codec, and a teardown that fails when a reference was
 * lost. */
#ifndef SUPPORT_DECODE_H
#define SUPPORT_DECODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "everything.h"
#include "kube/codec.h"
#include "model/object.h"

struct bench {
    struct pool *pool;
    struct codec codec;
};

static inline int bench_setup(void **state) {
    struct bench *b = xnew(struct bench);
    b->pool = pool_new(type_drop);
    codec_init(&b->codec, b->pool);
    *state = b;
    return 0;
}

static inline int bench_teardown(void **state) {
    struct bench *b = *state;
    size_t left = pool_stats(b->pool).entries;
    if (left)
        fprintf(stderr, "%zu pool entries were not given back\n", left);
    codec_done(&b->codec);
    pool_free(b->pool);
    free(b);
    return left ? -1 : 0;
}

#define BENCH_TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)

/* Decodes an object of a kind that must be good. */
static inline void *bench_object(struct bench *b, const struct kind *kind, enum kube_format format,
                                 struct view bytes) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct object *obj = xcalloc(1, kind->type->size);
    int rc = format == KUBE_JSON ? codec_json(&b->codec, kind->type, bytes, obj, &err)
                                 : codec_pb(&b->codec, kind->type, bytes, obj, &err);
    if (rc)
        fail_msg("%s", err_msg(&err));
    return obj;
}

static inline bool is_zero(const void *p, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (((const char *)p)[i])
            return false;
    return true;
}

#endif
