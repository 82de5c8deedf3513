/* The parts of patch.h, and what they share. Not for others.
 *
 * All of them return 0 or one of the codes below, negative, and a message in the words of the
 * library that the real server calls; `err` is not NULL. patch.c makes the answer of it. */
#ifndef SIM_API_PATCH_INTERNAL_H
#define SIM_API_PATCH_INTERNAL_H

#include <errno.h>

#include "sim/api/patch.h"

enum {
    PATCH_MALFORMED = EBADMSG, /* 400, with the message */
    PATCH_TOO_LARGE = E2BIG,   /* 413, with the message */
    PATCH_UNFIT = EINVAL,      /* 422, without it */
    PATCH_BROKEN = EPROTO,     /* 500, with the message: an error that the server did not expect */
    PATCH_CRASH = EFAULT,      /* 500: a panic in Go */
};

int patch_json(const struct patch *patch, const json_t *current, json_t **out,
               struct schema_notes *notes, struct err *err);
int patch_merge(const struct patch *patch, const json_t *current, json_t **out, struct err *err);
int patch_strategic(const struct patch *patch, const json_t *current, json_t **out,
                    struct err *err);

/* jansson iterates over and copies what it could change; here it does not. */
static inline json_t *iterable(const json_t *v) {
    return (json_t *)(uintptr_t)v;
}

/* ---- patch_value.c: copies of values, and their order ---- */

/* A copy that shares nothing. */
json_t *value_copy(const json_t *v);
/* The same without members that are null; null items of lists stay. */
json_t *value_copy_pruned(const json_t *v);
/* Brings the members of a mapping into the order of their names, in which Go writes maps: it is
 * seen where the decoder tells what it does not know, one after the other. */
void value_sort(json_t *object);
/* The same with all mappings in any value. */
void value_sort_all(json_t *v);
/* Levels of values, as jansson counts them when it reads: 1 for scalars, and for NULL. */
size_t value_depth(const json_t *v);

/* ---- patch_words.c: values in Go's words ---- */

/* As fmt prints them with %v: "map[a:1 b:[x <nil>]]". */
void words_value(struct str *out, const json_t *v);
/* With %s, which numbers and booleans are not made for: "%!s(int64=5)". */
void words_string(struct str *out, const json_t *v);
#define TYPE_MAPPING "map[string]interface {}"
#define TYPE_LIST    "[]interface {}"
/* The type that it has once it is decoded: "int64", or one of these. */
const char *words_type(const json_t *v);
/* What the decoder calls it: "object", "array", "string", "number", "bool". */
const char *words_json(const json_t *v);

/* ---- patch_text.c: the text of a JSON patch ---- */

/* Goes through the operations of a patch: `rest` is what is left of its text. False: it is none. */
bool text_begin(struct view *rest, struct view body);
/* The next one's value, empty when it has none. */
struct view text_next(struct view *rest);
/* Whether this is how Go's encoder would write the value, but for blanks and the names of members.
 */
bool text_is_gos(struct view text, const json_t *value);

/* ---- patch_place.c: where in the types we are ---- */

/* A type of Go's, as far as strategic patches ask for it. */
struct place {
    const char *kind;        /* "struct", "ptr", "map", "slice", "string", ... */
    const char *under;       /* the kind behind a pointer; the same as `kind` for others */
    const char *name;        /* of the struct: "PodSpec" */
    const struct schema *of; /* its fields; NULL: none that could be named */
};

/* How a field is merged. */
struct strategy {
    bool merge, replace;
    const char *merge_key; /* "" when there is none */
};

struct place place_root(const struct schema *s);
/* The field of a struct, or of a struct's list: then the place of its items. PATCH_BROKEN when
 * there is no such field, or the place is none that has fields. */
int place_field(struct place at, const char *key, struct place *field, struct strategy *strategy,
                struct err *err);
int place_items(struct place at, const char *key, struct place *items, struct strategy *strategy,
                struct err *err);

/* ---- patch_list.c: lists of strategic patches ---- */

/* All items of both lists are of one type, which is not a list: `item` is one of them. */
int list_type(const json_t *a, const json_t *b, const json_t **item, struct err *err);
/* Are these the same item, by their merge key or ("") as scalars? PATCH_CRASH when that compares
 * two mappings or two lists, because Go's == does not take them. */
int list_same_item(const json_t *a, const json_t *b, const char *merge_key, bool *same,
                   struct err *err);

/* Finds the items of a list by the value of their merge key, or ("") scalars by themselves. */
struct list_index {
    const char *merge_key;
    json_t *first; /* what items are known by -> index of the first one */
    size_t len;
    long stranger;      /* index of the first item that is no mapping, -1: none */
    long mapping, list; /* index of the first item known by a mapping, by a list, -1: none */
};
void list_index_init(struct list_index *x, const json_t *list, const char *merge_key);
void list_index_add(struct list_index *x, const json_t *item);
void list_index_done(struct list_index *x);
/* The index of the first item that is known by `value`, or -1. */
int list_index_find(const struct list_index *x, const json_t *value, long *index, struct err *err);

/* Splits a list into the items that are in `by` and the others. */
int list_split(const json_t *merged, const json_t *by, const char *merge_key, json_t **inside,
               json_t **others, struct err *err);
/* Puts them together again: `inside` in the order of `wanted`, `others` in that of `live`, both
 * interleaved as `live` has them. `mappings`: the items are, else scalars. */
int list_arrange(const json_t *inside, const json_t *others, const json_t *wanted,
                 const json_t *live, const char *merge_key, bool mappings, json_t **out,
                 struct err *err);

/* "map: ... does not contain declared merge key: name". */
int fail_no_merge_key(const json_t *item, const char *merge_key, struct err *err);
/* "expected a map[string]interface {}, but received a string". */
int fail_type(const char *expected, const json_t *received, struct err *err);

#endif
