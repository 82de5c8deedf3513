/* Finding kinds and fields in the table. */
#include "sim/schema/schema.h"

#include "sim/schema/schema_table.h"

const struct schema *schema_find(const char *group, const char *version, const char *kind) {
    size_t low = 0, high = schema_n_roots;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct schema_root *r = &schema_roots[mid];
        int order = strcmp(kind, r->kind);
        if (!order)
            order = strcmp(group, r->group);
        if (!order)
            return streq(version, r->version) ? r->schema : NULL;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

static const struct schema_field *own_field(const struct schema *s, const char *key, size_t len) {
    size_t low = 0, high = s->n_names;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct schema_field *f = &s->fields[s->by_name[mid]];
        int order = len != f->len ? (len < f->len ? -1 : 1) : memcmp(key, f->json, len);
        if (!order)
            return f;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const struct schema_field *schema_locate(const struct schema *s, const char *key, size_t len,
                                         struct schema_place *place) {
    const struct schema_field *f = own_field(s, key, len);
    if (f) {
        *place = (struct schema_place){.at = f->at};
        return f;
    }
    if (s->n_names == s->n_fields)
        return NULL;
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *in = &s->fields[i];
        if (!(in->flags & SCHEMA_INLINE) || !(f = schema_locate(in->of, key, len, place)))
            continue;
        place->at += in->at;
        place->via = in->of;
        return f;
    }
    return NULL;
}

const struct schema_field *schema_field(const struct schema *s, const char *key, size_t len) {
    struct schema_place place;
    return schema_locate(s, key, len, &place);
}

void schema_notes_done(struct schema_notes *n) {
    for (size_t i = 0; i < n->texts.len; i++)
        free(n->texts.p[i]);
    vec_done(&n->texts);
}
