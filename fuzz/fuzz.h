/* Fuzz targets: one file each, one function each, LLVMFuzzerTestOneInput(). Built by clang with
 * -Dfuzz=true they search for inputs that break a promise (tools/fuzz.sh); built without they run
 * the inputs they are given (replay.c), which is how `make test` keeps what was found from coming
 * back.
 *
 * An input for the decoders begins with a line that names the kind, "Pod\n", or for streams kind,
 * mode and a number that decides how the rest is cut into pieces, "Pod watch 7\n". */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "kube/codec.h"
#include "model/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond)                                                                           \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #cond);             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The first line of the input in `line` (cut when it does not fit), the rest in `body`. */
static inline void fuzz_split(const uint8_t *data, size_t size, char line[static 64],
                              struct view *body) {
    size_t n = 0;
    while (n < size && data[n] != '\n')
        n++;
    snprintf(line, 64, "%.*s", (int)MIN_OF(n, (size_t)63), size ? (const char *)data : "");
    n += n < size;
    *body = (struct view){(const char *)data + n, size - n};
}

/* The table for a name: a kind's, or "Status" or "ListMeta". */
static inline const struct type *fuzz_type(const char *name) {
    const struct kind *kind = kind_find(name);
    return kind                      ? kind->type
           : streq(name, "Status")   ? &type_status
           : streq(name, "ListMeta") ? &type_list_meta
                                     : NULL;
}

/* A pool, a codec, and room for objects of one type. */
struct fuzz {
    const struct type *type;
    struct pool *pool;
    struct codec codec;
};

static inline void fuzz_begin(struct fuzz *f, const struct type *type) {
    f->type = type;
    f->pool = pool_new(type_drop);
    codec_init(&f->codec, f->pool);
}

/* Whatever was decoded has been released: nothing may be left. */
static inline void fuzz_end(struct fuzz *f) {
    FUZZ_CHECK(pool_stats(f->pool).entries == 0);
    codec_done(&f->codec);
    pool_free(f->pool);
}

/* A decoded object, or NULL; then there was an error with a message, and nothing is left behind. */
static inline void *fuzz_decode(struct fuzz *f, enum kube_format format, struct view bytes) {
    _cleanup_err_ struct err err = ERR_INIT;
    size_t before = pool_stats(f->pool).entries;
    char *obj = xcalloc(1, f->type->size);
    int rc = format == KUBE_JSON ? codec_json(&f->codec, f->type, bytes, obj, &err)
                                 : codec_pb(&f->codec, f->type, bytes, obj, &err);
    if (!rc)
        return obj;
    FUZZ_CHECK(rc < 0 && err.code == -rc && *err_msg(&err));
    FUZZ_CHECK(pool_stats(f->pool).entries == before);
    for (size_t i = 0; i < f->type->size; i++)
        FUZZ_CHECK(!obj[i]);
    free(obj);
    return NULL;
}

static inline void fuzz_free(struct fuzz *f, void *obj) {
    if (obj)
        type_release(f->type, f->pool, obj, obj);
    free(obj);
}

static inline void fuzz_print(struct fuzz *f, const void *obj, struct str *out) {
    struct jsonw w;
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    type_print(f->type, &w, obj, obj);
    jsonw_end(&w);
}

/* What was decoded prints as JSON, that JSON decodes to the same bytes, and prints the same again.
 */
static inline void fuzz_round_trip(struct fuzz *f, const void *obj) {
    _cleanup_str_ struct str first = STR_INIT, second = STR_INIT;
    fuzz_print(f, obj, &first);
    void *again = fuzz_decode(f, KUBE_JSON, (struct view){str_get(&first), first.len});
    FUZZ_CHECK(again);
    FUZZ_CHECK(!memcmp(obj, again, f->type->size));
    fuzz_print(f, again, &second);
    FUZZ_CHECK(streq(str_get(&first), str_get(&second)));
    fuzz_free(f, again);
}

#endif
