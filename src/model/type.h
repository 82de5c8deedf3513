/* The table of a type: which C struct member holds which field of a Kubernetes object, under which
 * JSON key and which protobuf number. One table serves both decoders, the release of references and
 * the printing of an object; nothing else knows how an object is laid out.
 *
 * What a decoded object may hold (enum field_kind):
 *  - strings, lists, maps and optional messages are entries of the pool (base/pool.h), NULL when
 * empty or absent, so that equal values have equal addresses and an object is compared with
 * memcmp();
 *  - numbers and times are plain; a number that may be absent holds ABSENT8, ABSENT32 or ABSENT64
 * then;
 *  - times are microseconds since 1970, 0 when not set.
 *
 * A list of T is a `const struct T *` whose length is list_len(p); a map is a list of its pairs,
 * sorted by key. What a table does not name is skipped by the decoders. */
#ifndef MODEL_TYPE_H
#define MODEL_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jsonw.h"
#include "base/pool.h"

#define ABSENT8  INT8_MIN
#define ABSENT32 INT32_MIN
#define ABSENT64 INT64_MIN

enum field_kind {
    FIELD_STR,       /* const char * */
    FIELD_BOOL,      /* bool */
    FIELD_I32,       /* int32_t */
    FIELD_I64,       /* int64_t */
    FIELD_OPT_BOOL,  /* int8_t: 0, 1 or ABSENT8 */
    FIELD_OPT_I32,   /* int32_t or ABSENT32 */
    FIELD_OPT_I64,   /* int64_t or ABSENT64 */
    FIELD_TIME,      /* int64_t, whole seconds on the wire */
    FIELD_MICROTIME, /* int64_t, microseconds on the wire */
    FIELD_INTSTR,    /* struct intstr */
    FIELD_JSON,      /* const char *: an object's text as it came; JSON only */
    FIELD_PRESENT,   /* bool: the message is there, whatever is in it */
    FIELD_MSG,       /* struct, embedded */
    FIELD_PTR,       /* const struct *, NULL when absent, not NULL when present and empty */
    FIELD_LIST,      /* const struct * */
    FIELD_STRS,      /* const char *const * */
    FIELD_INTS,      /* const int32_t * */
    FIELD_MAP,       /* const struct pair * */
    FIELD_MAP_QTY,   /* const struct pair_qty * */
    FIELD_MAP_TIME,  /* const struct pair_time * */
};

enum field_flags {
    /* The offset counts from the object itself, not from the message that the field is in: lets a
     * message be shared between objects although one of its fields differs. */
    FIELD_OF_ROOT = 1,
    /* Not on the wire: a member that a FIELD_OF_ROOT further down fills; released with the object.
     */
    FIELD_OWNED = 2,
};

struct type;

struct field {
    const char
        *json; /* NULL: a message whose fields stand among ours in JSON, nested in protobuf */
    uint16_t pb;
    uint8_t kind;
    uint8_t flags;
    uint32_t off;
    const struct type *type;         /* of messages */
    bool (*keep_key)(const char *k); /* of maps: which pairs are kept; NULL: all */
};

struct type {
    const char *name;
    uint32_t size;
    uint16_t n_fields;
    const struct field *fields;      /* by ascending protobuf number */
    bool (*keep)(const void *entry); /* in lists: which elements are kept; NULL: all */
};

/* A map's pairs. */
struct pair {
    const char *key, *value;
};
struct pair_qty {
    const char *key;
    int64_t milli; /* thousandths, rounded up, saturating: see quantity.h */
};
struct pair_time {
    const char *key;
    int64_t time;
};

/* An int or a percentage: `is_str` tells which. */
struct intstr {
    const char *str;
    int32_t val;
    uint8_t set, is_str;
};

/* Tags of the blobs that are no messages. */
extern const struct type type_pair, type_pair_qty, type_pair_time, type_strs, type_ints;

/* What the list or map in this field is made of. */
const struct type *field_element(const struct field *f);

#define list_len(p) (pool_len(p) / sizeof *(p))
/* for (size_t i = 0; i < list_len(p); i++) p[i] */

/* The value for `key`, or NULL. */
const char *map_get(const struct pair *map, const char *key);
bool map_has(const struct pair *map, const char *key);
/* The quantity for `key` in thousandths, or 0. */
int64_t map_qty(const struct pair_qty *map, const char *key);

/* Sets a zeroed struct's optional numbers to absent. */
void type_init(const struct type *type, void *obj, void *root);
/* Gives back every reference that the struct holds; it may be half filled. Leaves NULL in their
 * place; numbers stay. */
void type_release(const struct type *type, struct pool *pool, void *obj, void *root);
/* Adds a reference for every one that the struct holds: what makes a copy of its bytes a copy. */
void type_retain(const struct type *type, const void *obj, const void *root);
/* Releases and sets everything to what type_init() leaves in a zeroed struct; what is filled from
 * elsewhere (FIELD_OF_ROOT) is left alone. */
void type_clear(const struct type *type, struct pool *pool, void *obj, void *root);
/* What pool_new() wants for a pool that holds decoded objects. */
void type_drop(struct pool *pool, const void *tag, const void *data, size_t len);
/* As the API would print what we hold: same keys and nesting, empty fields left out. */
void type_print(const struct type *type, struct jsonw *w, const void *obj, const void *root);

#endif
