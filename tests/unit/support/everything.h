/* For tests: a type that has every kind of field, with a table of its own, so that what is tested
 * does not depend on the tables of real kinds. */
#ifndef SUPPORT_EVERYTHING_H
#define SUPPORT_EVERYTHING_H

#include "base/mem.h"
#include "base/str.h"
#include "model/type.h"

struct part {
    const char *name;
    int32_t n;
};

struct inner {
    const char *text;
    int32_t opt; /* ABSENT32 */
};

/* Can be shared: its owner's name is kept in struct everything. */
struct shared {
    const char *what;
};

struct everything {
    const char *str;
    bool yes, present;
    int32_t i32, opt32;
    int64_t i64, opt64, time, micro;
    struct intstr intstr;
    struct inner msg;
    const char *flat_text; /* of the message "flat" */
    int64_t flat_opt;      /* ABSENT64 */
    const char *among;     /* of a message that has no key in JSON */
    const struct part *ptr, *list;
    const struct part *odd; /* elements with an even n are dropped */
    const char *const *strs;
    const int32_t *ints;
    const struct pair *map, *some; /* some: without keys that begin with "drop" */
    const struct pair_qty *qty;
    const struct pair_time *times;
    const struct shared *shared;
    const char *owner; /* a FIELD_OF_ROOT of `shared` */
    int8_t maybe;      /* ABSENT8 */
    const char *raw;   /* JSON */
};

static inline bool keep_odd(const void *entry) {
    return ((const struct part *)entry)->n % 2 != 0;
}

static inline bool keep_some(const char *key) {
    return !str_starts(key, "drop");
}

#define EVERYTHING(json_, pb_, kind_, member_)                                                     \
    .json = (json_), .pb = (pb_), .kind = (kind_), .off = offsetof(struct everything, member_)

static const struct field part_fields[] = {
    {.json = "name", .pb = 1, .kind = FIELD_STR, .off = offsetof(struct part, name)},
    {.json = "n", .pb = 2, .kind = FIELD_I32, .off = offsetof(struct part, n)},
};
static const struct type type_part = {"Part", sizeof(struct part), 2, part_fields, NULL};
static const struct type type_odd = {"OddPart", sizeof(struct part), 2, part_fields, keep_odd};

static const struct field inner_fields[] = {
    {.json = "text", .pb = 1, .kind = FIELD_STR, .off = offsetof(struct inner, text)},
    {.json = "opt", .pb = 3, .kind = FIELD_OPT_I32, .off = offsetof(struct inner, opt)},
};
static const struct type type_inner = {"Inner", sizeof(struct inner), 2, inner_fields, NULL};

static const struct field flat_fields[] = {
    {EVERYTHING("text", 1, FIELD_STR, flat_text)},
    {EVERYTHING("opt", 2, FIELD_OPT_I64, flat_opt)},
};
static const struct type type_flat = {"Flat", sizeof(struct everything), 2, flat_fields, NULL};

static const struct field among_fields[] = {{EVERYTHING("among", 1, FIELD_STR, among)}};
static const struct type type_among = {"Among", sizeof(struct everything), 1, among_fields, NULL};

static const struct field shared_fields[] = {
    {EVERYTHING("owner", 1, FIELD_STR, owner), .flags = FIELD_OF_ROOT},
    {.json = "what", .pb = 2, .kind = FIELD_STR, .off = offsetof(struct shared, what)},
};
static const struct type type_shared = {"Shared", sizeof(struct shared), 2, shared_fields, NULL};

static const struct field everything_fields[] = {
    {EVERYTHING(NULL, 0, FIELD_STR, owner), .flags = FIELD_OWNED},
    {EVERYTHING("str", 1, FIELD_STR, str)},
    {EVERYTHING("yes", 2, FIELD_BOOL, yes)},
    {EVERYTHING("i32", 3, FIELD_I32, i32)},
    {EVERYTHING("i64", 4, FIELD_I64, i64)},
    {EVERYTHING("opt32", 5, FIELD_OPT_I32, opt32)},
    {EVERYTHING("opt64", 6, FIELD_OPT_I64, opt64)},
    {EVERYTHING("time", 7, FIELD_TIME, time)},
    {EVERYTHING("micro", 8, FIELD_MICROTIME, micro)},
    {EVERYTHING("intstr", 9, FIELD_INTSTR, intstr)},
    {EVERYTHING("present", 10, FIELD_PRESENT, present)},
    {EVERYTHING("msg", 11, FIELD_MSG, msg), .type = &type_inner},
    {.json = "flat", .pb = 12, .kind = FIELD_MSG, .type = &type_flat},
    {.pb = 13, .kind = FIELD_MSG, .type = &type_among},
    {EVERYTHING("ptr", 14, FIELD_PTR, ptr), .type = &type_part},
    {EVERYTHING("list", 15, FIELD_LIST, list), .type = &type_part},
    {EVERYTHING("strs", 16, FIELD_STRS, strs)},
    {EVERYTHING("map", 17, FIELD_MAP, map)},
    {EVERYTHING("qty", 18, FIELD_MAP_QTY, qty)},
    {EVERYTHING("times", 19, FIELD_MAP_TIME, times)},
    {EVERYTHING("odd", 20, FIELD_LIST, odd), .type = &type_odd},
    {EVERYTHING("some", 21, FIELD_MAP, some), .keep_key = keep_some},
    {EVERYTHING("maybe", 22, FIELD_OPT_BOOL, maybe)},
    {EVERYTHING("raw", 23, FIELD_JSON, raw)},
    {EVERYTHING("ints", 24, FIELD_INTS, ints)},
    {EVERYTHING("shared", 300, FIELD_PTR, shared), .type = &type_shared},
};
static const struct type type_everything = {"Everything", sizeof(struct everything),
                                            ARRAY_LEN(everything_fields), everything_fields, NULL};

/* As type_print() shows it; free() it. */
static inline char *everything_text(const struct everything *e) {
    struct str out = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &out, false);
    jsonw_begin(&w, '{');
    type_print(&type_everything, &w, e, e);
    jsonw_end(&w);
    return str_take(&out);
}

/* What everything_text() says about one that holds nothing. */
#define NOTHING "{\"msg\":{},\"flat\":{}}"

#endif
