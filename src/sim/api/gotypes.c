/* Canonical objects turned into the form of the server's own types. */
#include "sim/api/gotypes.h"

#include "sim/api/gotext.h"
#include "sim/api/textdiff.h"

static json_t *field_value(const struct gofield *f, const json_t *v, const json_t *up) {
    switch ((enum gofield_kind)f->kind) {
    case GO_STRING:
        return v ? json_incref((json_t *)v) : json_string("");
    case GO_BOOL:
        return v ? json_incref((json_t *)v) : json_false();
    case GO_INT:
        return v ? json_incref((json_t *)v) : json_integer(0);
    case GO_QUANTITY:
        return v ? json_incref((json_t *)v) : json_string("0");
    case GO_STRUCT:
        return gotype_value(f->of, v, up);
    case GO_JSON:
    case GO_META:
        break;
    }
    return v ? json_incref((json_t *)v) : json_null();
}

static json_t *list_value(const struct gofield *f, const json_t *list, const json_t *up) {
    json_t *out = json_array(), *item;
    size_t i;
    json_array_foreach((json_t *)list, i, item)
        json_array_append_new(out, field_value(f, item, up));
    return out;
}

static json_t *map_value(const struct gofield *f, const json_t *map, const json_t *up) {
    _cleanup_json_ json_t *sorted = go_sorted(map);
    json_t *out = json_object(), *item;
    const char *key;
    json_object_foreach(sorted, key, item) json_object_set_new(out, key, field_value(f, item, up));
    return out;
}

json_t *gotype_value(const struct gotype *type, const json_t *value, const json_t *up) {
    json_t *out = json_object();
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct gofield *f = &type->fields[i];
        const json_t *v = json_object_get(f->flags & GO_UP ? up : value, f->json);
        if (json_is_null(v))
            v = NULL;
        if (f->kind == GO_META)
            json_object_update(out, (json_t *)v);
        else if (!v && f->flags & (GO_POINTER | GO_LIST | GO_MAP))
            json_object_set_new(out, f->name, json_null());
        else if (f->flags & GO_LIST)
            json_object_set_new(out, f->name, list_value(f, v, value));
        else if (f->flags & GO_MAP)
            json_object_set_new(out, f->name, map_value(f, v, value));
        else
            json_object_set_new(out, f->name, field_value(f, v, value));
    }
    return out;
}

json_t *gotype_list(const struct gotype *type, const json_t *list) {
    if (!json_is_array(list))
        return json_null();
    struct gofield f = {.kind = GO_STRUCT, .of = type};
    return list_value(&f, list, NULL);
}

void gotype_diff(const struct gotype *type, const json_t *from, const json_t *to, struct str *out) {
    _cleanup_json_ json_t *a = gotype_value(type, from, NULL), *b = gotype_value(type, to, NULL);
    _cleanup_str_ struct str before = STR_INIT, after = STR_INIT;
    go_json_pretty(&before, a);
    go_json_pretty(&after, b);
    text_diff(str_get(&before), str_get(&after), GOTYPE_DIFF_LINES, out);
}
