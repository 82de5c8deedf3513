/* What can be done with an object through its table. */
#include "model/type.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "base/timefmt.h"
#include "model/quantity.h"

const struct type type_pair = {.name = "pair", .size = sizeof(struct pair)};
const struct type type_pair_qty = {.name = "quantity pair", .size = sizeof(struct pair_qty)};
const struct type type_pair_time = {.name = "time pair", .size = sizeof(struct pair_time)};
const struct type type_strs = {.name = "string", .size = sizeof(const char *)};
const struct type type_ints = {.name = "int", .size = sizeof(int32_t)};

const struct type *field_element(const struct field *f) {
    switch ((enum field_kind)f->kind) {
    case FIELD_STRS:
        return &type_strs;
    case FIELD_INTS:
        return &type_ints;
    case FIELD_MAP:
        return &type_pair;
    case FIELD_MAP_QTY:
        return &type_pair_qty;
    case FIELD_MAP_TIME:
        return &type_pair_time;
    default:
        return f->type;
    }
}

static const struct pair *map_find(const struct pair *map, const char *key) {
    size_t low = 0, high = list_len(map);
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = strcmp(strna(map[mid].key), key);
        if (!c)
            return &map[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const char *map_get(const struct pair *map, const char *key) {
    const struct pair *p = map_find(map, key);
    return p ? strna(p->value) : NULL;
}

bool map_has(const struct pair *map, const char *key) {
    return map_find(map, key) != NULL;
}

int64_t map_qty(const struct pair_qty *map, const char *key) {
    for (size_t i = 0; i < list_len(map); i++)
        if (str_same(map[i].key, key))
            return map[i].milli;
    return 0;
}

static void *member(const struct field *f, const void *obj, const void *root) {
    return (char *)(f->flags & FIELD_OF_ROOT ? root : obj) + f->off;
}

void type_init(const struct type *type, void *obj, void *root) {
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        if (f->flags & FIELD_OF_ROOT)
            continue;
        void *m = member(f, obj, root);
        if (f->kind == FIELD_OPT_BOOL)
            *(int8_t *)m = ABSENT8;
        else if (f->kind == FIELD_OPT_I32)
            *(int32_t *)m = ABSENT32;
        else if (f->kind == FIELD_OPT_I64)
            *(int64_t *)m = ABSENT64;
        else if (f->kind == FIELD_MSG)
            type_init(f->type, m, root);
    }
}

void type_release(const struct type *type, struct pool *pool, void *obj, void *root) {
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        if (f->flags & FIELD_OF_ROOT)
            continue;
        void *m = member(f, obj, root);
        switch ((enum field_kind)f->kind) {
        case FIELD_STR:
        case FIELD_JSON:
        case FIELD_PTR:
        case FIELD_LIST:
        case FIELD_STRS:
        case FIELD_INTS:
        case FIELD_MAP:
        case FIELD_MAP_QTY:
        case FIELD_MAP_TIME:
            pool_unref(pool, *(const void **)m);
            *(const void **)m = NULL;
            break;
        case FIELD_INTSTR:
            pool_unref(pool, ((struct intstr *)m)->str);
            *(struct intstr *)m = (struct intstr){0};
            break;
        case FIELD_MSG:
            type_release(f->type, pool, m, root);
            break;
        case FIELD_BOOL:
        case FIELD_OPT_BOOL:
        case FIELD_I32:
        case FIELD_I64:
        case FIELD_OPT_I32:
        case FIELD_OPT_I64:
        case FIELD_TIME:
        case FIELD_MICROTIME:
        case FIELD_PRESENT:
            break;
        }
    }
}

void type_retain(const struct type *type, const void *obj, const void *root) {
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        if (f->flags & FIELD_OF_ROOT)
            continue;
        const void *m = member(f, obj, root);
        switch ((enum field_kind)f->kind) {
        case FIELD_STR:
        case FIELD_JSON:
        case FIELD_PTR:
        case FIELD_LIST:
        case FIELD_STRS:
        case FIELD_INTS:
        case FIELD_MAP:
        case FIELD_MAP_QTY:
        case FIELD_MAP_TIME:
            pool_ref(*(const void *const *)m);
            break;
        case FIELD_INTSTR:
            pool_ref(((const struct intstr *)m)->str);
            break;
        case FIELD_MSG:
            type_retain(f->type, m, root);
            break;
        case FIELD_BOOL:
        case FIELD_OPT_BOOL:
        case FIELD_I32:
        case FIELD_I64:
        case FIELD_OPT_I32:
        case FIELD_OPT_I64:
        case FIELD_TIME:
        case FIELD_MICROTIME:
        case FIELD_PRESENT:
            break;
        }
    }
}

void type_clear(const struct type *type, struct pool *pool, void *obj, void *root) {
    type_release(type, pool, obj, root);
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        if (f->flags & FIELD_OF_ROOT)
            continue;
        void *m = member(f, obj, root);
        switch ((enum field_kind)f->kind) {
        case FIELD_BOOL:
        case FIELD_PRESENT:
            *(bool *)m = false;
            break;
        case FIELD_OPT_BOOL:
            *(int8_t *)m = ABSENT8;
            break;
        case FIELD_I32:
        case FIELD_OPT_I32:
            *(int32_t *)m = f->kind == FIELD_I32 ? 0 : ABSENT32;
            break;
        case FIELD_I64:
        case FIELD_TIME:
        case FIELD_MICROTIME:
        case FIELD_OPT_I64:
            *(int64_t *)m = f->kind == FIELD_OPT_I64 ? ABSENT64 : 0;
            break;
        case FIELD_MSG:
            type_clear(f->type, pool, m, root);
            break;
        case FIELD_STR:
        case FIELD_JSON:
        case FIELD_PTR:
        case FIELD_LIST:
        case FIELD_STRS:
        case FIELD_INTS:
        case FIELD_MAP:
        case FIELD_MAP_QTY:
        case FIELD_MAP_TIME:
        case FIELD_INTSTR:
            break;
        }
    }
}

/* Releases the strings of the blobs that are no messages: they are all made of pointers and
 * numbers, and the pointers come at these places. */
static void drop_strings(struct pool *pool, const char *data, size_t len, size_t stride, size_t n) {
    for (size_t at = 0; at < len; at += stride)
        for (size_t i = 0; i < n; i++)
            pool_unref(pool, ((const char *const *)(data + at))[i]);
}

void type_drop(struct pool *pool, const void *tag, const void *data, size_t len) {
    const struct type *type = tag;
    if (type == &type_pair)
        drop_strings(pool, data, len, type->size, 2);
    else if (type == &type_pair_qty || type == &type_pair_time || type == &type_strs)
        drop_strings(pool, data, len, type->size, 1);
    else
        for (size_t at = 0; at < len; at += type->size)
            type_release(type, pool, (char *)data + at, NULL);
}

/* --- printing --- */

static void print_time(struct jsonw *w, const char *key, int64_t t, bool micro) {
    char buf[TIMEFMT_LEN];
    if (t)
        jsonw_kstr(w, key, time_format(t, micro, buf));
}

static void print_list(const struct field *f, struct jsonw *w, const char *list) {
    jsonw_kbegin(w, f->json, '[');
    for (size_t at = 0; at < pool_len(list); at += f->type->size) {
        jsonw_begin(w, '{');
        type_print(f->type, w, list + at, NULL);
        jsonw_end(w);
    }
    jsonw_end(w);
}

static void print_strs(const struct field *f, struct jsonw *w, const char *const *list) {
    jsonw_kbegin(w, f->json, '[');
    for (size_t i = 0; i < list_len(list); i++)
        jsonw_str(w, strna(list[i]));
    jsonw_end(w);
}

static void print_ints(const struct field *f, struct jsonw *w, const int32_t *list) {
    jsonw_kbegin(w, f->json, '[');
    for (size_t i = 0; i < list_len(list); i++)
        jsonw_int(w, list[i]);
    jsonw_end(w);
}

static void print_map(const struct field *f, struct jsonw *w, const void *map) {
    jsonw_kbegin(w, f->json, '{');
    for (size_t at = 0; at < pool_len(map);) {
        const void *p = (const char *)map + at;
        if (f->kind == FIELD_MAP) {
            const struct pair *pair = p;
            jsonw_kstr(w, strna(pair->key), strna(pair->value));
            at += sizeof *pair;
        } else if (f->kind == FIELD_MAP_QTY) {
            const struct pair_qty *pair = p;
            char buf[QUANTITY_LEN];
            jsonw_kstr(w, strna(pair->key), quantity_format(pair->milli, buf));
            at += sizeof *pair;
        } else {
            const struct pair_time *pair = p;
            char buf[TIMEFMT_LEN];
            jsonw_kstr(w, strna(pair->key),
                       pair->time ? time_format(pair->time, false, buf) : NULL);
            at += sizeof *pair;
        }
    }
    jsonw_end(w);
}

static void print_field(const struct field *f, struct jsonw *w, const void *m, const void *root) {
    const void *entry;
    switch ((enum field_kind)f->kind) {
    case FIELD_STR:
        jsonw_kopt(w, f->json, *(const char *const *)m);
        break;
    case FIELD_BOOL:
        if (*(const bool *)m)
            jsonw_kbool(w, f->json, true);
        break;
    case FIELD_OPT_BOOL:
        if (*(const int8_t *)m != ABSENT8)
            jsonw_kbool(w, f->json, *(const int8_t *)m);
        break;
    case FIELD_JSON:
        if ((entry = *(const void *const *)m)) {
            jsonw_key(w, f->json);
            jsonw_raw(w, entry);
        }
        break;
    case FIELD_I32:
        if (*(const int32_t *)m)
            jsonw_kint(w, f->json, *(const int32_t *)m);
        break;
    case FIELD_I64:
        if (*(const int64_t *)m)
            jsonw_kint(w, f->json, *(const int64_t *)m);
        break;
    case FIELD_OPT_I32:
        if (*(const int32_t *)m != ABSENT32)
            jsonw_kint(w, f->json, *(const int32_t *)m);
        break;
    case FIELD_OPT_I64:
        if (*(const int64_t *)m != ABSENT64)
            jsonw_kint(w, f->json, *(const int64_t *)m);
        break;
    case FIELD_TIME:
    case FIELD_MICROTIME:
        print_time(w, f->json, *(const int64_t *)m, f->kind == FIELD_MICROTIME);
        break;
    case FIELD_INTSTR: {
        const struct intstr *v = m;
        if (!v->set)
            break;
        jsonw_key(w, f->json);
        if (v->is_str)
            jsonw_str(w, strna(v->str));
        else
            jsonw_int(w, v->val);
        break;
    }
    case FIELD_PRESENT:
        if (*(const bool *)m) {
            jsonw_kbegin(w, f->json, '{');
            jsonw_end(w);
        }
        break;
    case FIELD_MSG:
        if (!f->json) {
            type_print(f->type, w, m, root);
            break;
        }
        jsonw_kbegin(w, f->json, '{');
        type_print(f->type, w, m, root);
        jsonw_end(w);
        break;
    case FIELD_PTR:
        entry = *(const void *const *)m;
        if (!entry)
            break;
        jsonw_kbegin(w, f->json, '{');
        type_print(f->type, w, entry, root);
        jsonw_end(w);
        break;
    case FIELD_LIST:
        if ((entry = *(const void *const *)m))
            print_list(f, w, entry);
        break;
    case FIELD_STRS:
        if ((entry = *(const void *const *)m))
            print_strs(f, w, entry);
        break;
    case FIELD_INTS:
        if ((entry = *(const void *const *)m))
            print_ints(f, w, entry);
        break;
    case FIELD_MAP:
    case FIELD_MAP_QTY:
    case FIELD_MAP_TIME:
        if ((entry = *(const void *const *)m))
            print_map(f, w, entry);
        break;
    }
}

void type_print(const struct type *type, struct jsonw *w, const void *obj, const void *root) {
    for (uint16_t i = 0; i < type->n_fields; i++)
        if (!(type->fields[i].flags & FIELD_OWNED))
            print_field(&type->fields[i], w, member(&type->fields[i], obj, root), root);
}
