/* Server-side printing: the document around the cells. */
#include "sim/api/table.h"

#include <errno.h>

#include "base/mem.h"
#include "sim/api/table_internal.h"

int api_table_include_parse(const char *text, enum api_table_include *out, struct err *err) {
    static const struct {
        const char *name;
        enum api_table_include include;
    } words[] = {
        {"", API_TABLE_METADATA},
        {"Metadata", API_TABLE_METADATA},
        {"None", API_TABLE_NONE},
        {"Object", API_TABLE_OBJECT},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_same(text, words[i].name)) {
            *out = words[i].include;
            return 0;
        }
    _cleanup_str_ struct str quoted = STR_INIT;
    json_quote(&quoted, text, strlen(text));
    return err_set(
        err, EINVAL,
        "Unable to convert to Table as requested: includeObject: Invalid value: %s: must "
        "be 'Metadata', 'Object', 'None', or empty",
        str_get(&quoted));
}

static const struct api_table_kind *find_in(const struct api_table_kind *list, size_t n,
                                            const char *group, const char *kind) {
    for (size_t i = 0; i < n; i++)
        if (streq(list[i].kind, kind) && streq(list[i].group, group))
            return &list[i];
    return NULL;
}

const struct api_table_kind *api_table_find(const char *group, const char *kind) {
    const struct api_table_kind *found = find_in(&api_table_pod, 1, group, kind);
    if (!found)
        found = find_in(api_tables_core, api_tables_core_len, group, kind);
    if (!found)
        found = find_in(api_tables_apps, api_tables_apps_len, group, kind);
    if (!found)
        found = find_in(api_tables_storage, api_tables_storage_len, group, kind);
    return found;
}

static void write_headers(struct api_table *t) {
    jsonw_key(&t->w, "columnDefinitions");
    if (t->options.no_headers) {
        jsonw_null(&t->w);
        return;
    }
    jsonw_begin(&t->w, '[');
    for (size_t i = 0; i < t->kind->n_columns; i++) {
        const struct api_column *c = &t->kind->columns[i];
        jsonw_begin(&t->w, '{');
        jsonw_kstr(&t->w, "name", c->name);
        jsonw_kstr(&t->w, "type", c->type);
        jsonw_kstr(&t->w, "format", c->format);
        jsonw_kstr(&t->w, "description", strna(c->description));
        jsonw_kint(&t->w, "priority", c->priority);
        jsonw_end(&t->w);
    }
    jsonw_end(&t->w);
}

void api_table_begin(struct api_table *t, const struct api_table_kind *kind,
                     const struct api_table_options *options, const struct list_meta *meta,
                     struct str *out) {
    *t = (struct api_table){.kind = kind, .options = *options, .row = xnew(struct api_row)};
    jsonw_init(&t->w, out, false);
    t->row->w = &t->w;
    t->row->now = options->now;
    jsonw_begin(&t->w, '{');
    meta_type_write(&t->w, "Table", options->version);
    jsonw_key(&t->w, "metadata");
    list_meta_write(&t->w, meta);
    write_headers(t);
    jsonw_key(&t->w, "rows");
}

/* The bookmark that ends the initial events of a watch is shown even when no objects are wanted: it
 * is how the client knows. */
static void write_object(struct api_table *t, const json_t *object, struct view text) {
    enum api_table_include include = t->options.include;
    if (include == API_TABLE_NONE &&
        streq(json_text_of(json_object_get(t->row->meta, "annotations"), INITIAL_EVENTS_END),
              "true"))
        include = API_TABLE_METADATA;
    jsonw_key(&t->w, "object");
    if (include == API_TABLE_METADATA) {
        partial_write(&t->w, t->options.version, object, text);
    } else if (include == API_TABLE_NONE) {
        jsonw_null(&t->w);
    } else if (text.p) {
        jsonw_raw(&t->w, "");
        str_addn(t->w.out, text.p, text.len);
    } else {
        json_write(&t->w, object);
    }
}

static void write_row(struct api_table *t, const json_t *object, struct view text) {
    struct api_row *row = t->row;
    row->object = object;
    row->meta = json_object_get(object, "metadata");
    row->spec = json_object_get(object, "spec");
    row->status = json_object_get(object, "status");
    if (t->kind->prepare)
        t->kind->prepare(row);
    jsonw_begin(&t->w, '{');
    jsonw_kbegin(&t->w, "cells", '[');
    for (size_t i = 0; i < t->kind->n_columns; i++)
        t->kind->columns[i].cell(row, t->kind->columns[i].arg);
    jsonw_end(&t->w);
    if (t->kind->conditions)
        t->kind->conditions(row);
    write_object(t, object, text);
    jsonw_end(&t->w);
}

/* What the columns need of the text. */
static json_t *parse(struct api_table *t, struct view text) {
    struct str *picked = &t->row->picked;
    str_reset(picked);
    if (t->kind->keys && table_pick(text, t->kind->keys, picked))
        text = (struct view){str_get(picked), picked->len};
    return json_loadb(text.p, text.len, 0, NULL);
}

void api_table_row(struct api_table *t, const json_t *object, struct view text, struct str *out) {
    _cleanup_json_ json_t *parsed = NULL;
    if (!object && text.p) {
        parsed = parse(t, text);
        object = parsed;
    }
    t->w.out = out;
    if (!t->any)
        jsonw_begin(&t->w, '[');
    t->any = true;
    write_row(t, object, text);
}

void api_table_end(struct api_table *t, struct str *out) {
    t->w.out = out;
    if (t->any) {
        jsonw_end(&t->w);
    } else if (t->kind->empty_is_null) {
        jsonw_null(&t->w);
    } else {
        jsonw_begin(&t->w, '[');
        jsonw_end(&t->w);
    }
    jsonw_end(&t->w);
    api_table_drop(t);
}

void api_table_drop(struct api_table *t) {
    if (!t->row)
        return;
    str_done(&t->row->text);
    str_done(&t->row->picked);
    str_done(&t->row->pod.reason);
    mem_clear(&t->row);
}

void api_table_object(const struct api_table_kind *kind, const struct api_table_options *options,
                      const json_t *object, struct view text, struct str *out) {
    _cleanup_json_ json_t *parsed = NULL;
    if (!object && text.p) {
        parsed = json_loadb(text.p, text.len, 0, NULL);
        object = parsed;
    }
    struct list_meta meta = {
        .version = json_text_of(json_object_get(object, "metadata"), "resourceVersion"),
        .remaining = ABSENT64,
    };
    struct api_table t;
    api_table_begin(&t, kind, options, &meta, out);
    api_table_row(&t, object, text, out);
    api_table_end(&t, out);
}
