/* Decoding as Kubernetes does it: what Go's types make of a JSON value (decoder.h). */
#include "sim/schema/build.h"
#include "sim/schema/decoder.h"
#include "sim/schema/schema_table.h"

static json_t *decode_object(struct decoder *d, const struct schema *s, const json_t *v);

/* Types with a decoder that calls the decoder again, without strictness. */
static json_t *decode_inner(struct decoder *d, const struct schema_field *f, const json_t *v,
                            json_t *(*decode)(struct decoder *, const struct schema_field *,
                                              const json_t *)) {
    struct decoder inner = {.depth = d->depth, .elements = d->elements};
    json_t *found = decode(&inner, f, v);
    d->elements = inner.elements;
    if (inner.complained) {
        decoder_adopt(d, &inner);
        json_decref(found);
        found = NULL;
    }
    decoder_done(&inner);
    return found;
}

static json_t *inner_schema(struct decoder *d, const struct schema_field *f, const json_t *v) {
    return decode_object(d, f->of, v);
}

static json_t *inner_schemas(struct decoder *d, const struct schema_field *f, const json_t *v) {
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(v) && !d->ended && decoder_count(d); i++) {
        json_t *one = decode_object(d, f->of, json_array_get(v, i));
        json_array_append_new(list, one ? one : build_object(f->of, NULL));
    }
    return list;
}

static json_t *inner_strings(struct decoder *d, const struct schema_field *f, const json_t *v) {
    (void)f;
    return scalar_strings(d, v, "[]string");
}

static json_t *decode_or(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (json_is_object(v))
        return decode_inner(d, f, v, inner_schema);
    if (f->kind == SCHEMA_OR_BOOL) {
        if (json_is_boolean(v))
            return json_boolean(json_is_true(v));
        decoder_wrong(d, xstrdup("boolean or JSON schema expected"), true);
        return NULL;
    }
    /* Anything else is taken and means nothing. */
    if (!json_is_array(v) || !json_array_size(v))
        return json_null();
    return decode_inner(d, f, v, f->kind == SCHEMA_OR_LIST ? inner_schemas : inner_strings);
}

static json_t *decode_element(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (json_is_null(v))
        return NULL;
    if (f->kind == SCHEMA_OBJECT)
        return decode_object(d, f->of, v);
    if (f->kind == SCHEMA_OR_BOOL || f->kind == SCHEMA_OR_LIST || f->kind == SCHEMA_OR_STRINGS)
        return decode_or(d, f, v);
    return scalar_decode(d, f, v);
}

static json_t *decode_list(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (!json_is_array(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_whole_type(f), false);
        return NULL;
    }
    if (!json_array_size(v))
        return NULL;
    json_t *list = json_array();
    size_t before = d->path.len;
    for (size_t i = 0; i < json_array_size(v) && !d->ended && decoder_count(d); i++) {
        str_addf(&d->path, "[%zu]", i);
        json_t *one = decode_element(d, f, json_array_get(v, i));
        json_array_append_new(list, one ? one : build_zero(f));
        decoder_cut(&d->path, before);
    }
    return list;
}

static json_t *decode_map(struct decoder *d, const struct schema_field *f, const json_t *v) {
    if (!json_is_object(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_whole_type(f), false);
        return NULL;
    }
    if (!json_object_size(v))
        return NULL;
    json_t *map = json_object(), *in = (json_t *)v;
    size_t before = d->path.len;
    for (void *i = json_object_iter(in); i && !d->ended && decoder_count(d);
         i = json_object_iter_next(in, i)) {
        const char *key = json_object_iter_key(i);
        size_t len = json_object_iter_key_len(i);
        decoder_push(&d->path, key, len);
        json_t *one = decode_element(d, f, json_object_iter_value(i));
        json_object_setn_new_nocheck(map, key, len, one ? one : build_zero(f));
        decoder_cut(&d->path, before);
    }
    return build_sorted(map);
}

static json_t *decode_field(struct decoder *d, const struct schema *s, const struct schema_field *f,
                            const struct schema *via, const json_t *v) {
    const struct schema *holder = d->holder;
    size_t stack = d->stack.len, path = d->path.len;
    json_t *found = NULL;
    if (via)
        decoder_push(&d->stack, decoder_short_name(via), strlen(decoder_short_name(via)));
    decoder_push(&d->stack, f->json, f->len);
    decoder_push(&d->path, f->json, f->len);
    d->holder = s;
    if (!json_is_null(v))
        found = f->flags & SCHEMA_LIST  ? decode_list(d, f, v)
                : f->flags & SCHEMA_MAP ? decode_map(d, f, v)
                                        : decode_element(d, f, v);
    d->holder = holder;
    decoder_cut(&d->stack, stack);
    decoder_cut(&d->path, path);
    return found;
}

/* NULL when it is no object, or the decoding ended. */
static json_t *decode_object(struct decoder *d, const struct schema *s, const json_t *v) {
    json_t *values[SCHEMA_MOST_KEYS], *in = (json_t *)v;
    if (json_is_null(v))
        return build_object(s, NULL);
    if (!json_is_object(v)) {
        decoder_wrong_type(d, decoder_value_name(v), decoder_object_type(s), false);
        return NULL;
    }
    if (d->depth >= SCHEMA_DEPTH) {
        decoder_wrong(d, xstrdup("exceeded max depth"), true);
        return NULL;
    }
    memset(values, 0, s->n_flat * sizeof *values);
    d->depth++;
    for (void *i = json_object_iter(in); i && !d->ended; i = json_object_iter_next(in, i)) {
        const char *key = json_object_iter_key(i);
        size_t len = json_object_iter_key_len(i);
        struct schema_place place;
        const struct schema_field *f = schema_locate(s, key, len, &place);
        if (f)
            values[place.at] = decode_field(d, s, f, place.via, json_object_iter_value(i));
        else
            decoder_unknown(d, key, len);
    }
    d->depth--;
    return build_object(s, values);
}

int schema_canonical(const struct schema *s, const json_t *value, json_t **out,
                     struct schema_notes *notes, struct err *err) {
    struct decoder d = {.notes = notes};
    json_t *found = decode_object(&d, s, value);
    int rc = 0;
    if (d.complained) {
        rc = decoder_error(&d, err);
        json_decref(found);
    } else {
        *out = found;
    }
    decoder_done(&d);
    return rc;
}
