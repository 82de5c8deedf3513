/* Objects reduced to their metadata. */
#include "sim/api/partial.h"

void list_meta_write(struct jsonw *w, const struct list_meta *meta) {
    jsonw_begin(w, '{');
    jsonw_kopt(w, "resourceVersion", meta->version);
    jsonw_kopt(w, "continue", meta->token);
    if (meta->remaining != ABSENT64)
        jsonw_kint(w, "remainingItemCount", meta->remaining);
    jsonw_end(w);
}

void meta_type_write(struct jsonw *w, const char *kind, const char *version) {
    jsonw_kstr(w, "kind", kind);
    jsonw_key(w, "apiVersion");
    jsonw_raw(w, "\"meta.k8s.io/");
    str_add(w->out, version);
    str_addc(w->out, '"');
}

static int add(const char *bytes, size_t len, void *out) {
    str_addn(out, bytes, len);
    return 0;
}

void json_write(struct jsonw *w, const json_t *value) {
    jsonw_raw(w, "");
    if (!value || json_dump_callback(value, add, w->out, JSON_COMPACT | JSON_ENCODE_ANY))
        str_add(w->out, "null");
}

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* Past the closing quote of the string that begins at p, or NULL. */
static const char *skip_string(const char *p, const char *end) {
    if (p == end || *p != '"')
        return NULL;
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && p + 1 < end)
            p++;
    return p < end ? p + 1 : NULL;
}

/* Past the value that begins at p, or NULL. Knows brackets and strings; what else is in the value
 * is not looked at. */
static const char *skip_value(const char *p, const char *end) {
    size_t depth = 0;
    while (p && p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        if (*p == '{' || *p == '[') {
            depth++;
        } else if (*p == '}' || *p == ']') {
            if (!depth)
                return p;
            depth--;
        } else if (*p == ',' && !depth) {
            return p;
        }
        p++;
    }
    return NULL;
}

struct view json_member(struct view text, const char *key) {
    const char *end = text.p + text.len;
    const char *p = skip_blanks(text.p, end);
    size_t len = strlen(key);
    if (p == end || *p != '{')
        return (struct view){NULL, 0};
    do {
        const char *name = skip_blanks(p + 1, end);
        if (!(p = skip_string(name, end)))
            break;
        bool this_one = (size_t)(p - name) == len + 2 && !memcmp(name + 1, key, len);
        p = skip_blanks(p, end);
        if (p == end || *p != ':')
            break;
        const char *value = skip_blanks(p + 1, end);
        if (!(p = skip_value(value, end)) || p == value)
            break;
        if (this_one)
            return (struct view){value, (size_t)(p - value)};
    } while (*p == ',');
    return (struct view){NULL, 0};
}

/* Inside a string the quotes would have backslashes: what is found is a member, and its value has
 * digits only. */
void partial_metadata(struct view meta, struct str *out) {
    static const struct view key = VIEW("\"deprecated.daemonset.template.generation\":\"");
    static const struct view only = VIEW("\"annotations\":{");
    struct view all = json_member(meta, "annotations");
    const char *end = meta.p + meta.len;
    const char *from = all.p ? memmem(all.p, all.len, key.p, key.len) : NULL;
    const char *to = from ? skip_string(from + key.len - 1, end) : NULL;
    if (!to) {
        str_addn(out, meta.p, meta.len);
        return;
    }
    if (to < end && *to == '}' && from[-1] == '{') { /* there is no other */
        from -= only.len;
        to++;
    }
    if (to < end && *to == ',')
        to++;
    else if (from[-1] == ',')
        from--;
    str_addn(out, meta.p, (size_t)(from - meta.p));
    str_addn(out, to, (size_t)(end - to));
}

void partial_write(struct jsonw *w, const char *version, const json_t *object, struct view text) {
    struct view meta = {NULL, 0};
    if (text.p)
        meta = json_member(text, "metadata");
    jsonw_begin(w, '{');
    meta_type_write(w, "PartialObjectMetadata", version);
    jsonw_key(w, "metadata");
    jsonw_raw(w, ""); /* the comma before it */
    _cleanup_str_ struct str printed = STR_INIT;
    const json_t *value = json_object_get(object, "metadata");
    if (!meta.p && value && !json_dump_callback(value, add, &printed, JSON_COMPACT))
        meta = (struct view){str_get(&printed), printed.len};
    partial_metadata(meta.p ? meta : VIEW("{}"), w->out);
    jsonw_end(w);
}

void partial_list_begin(struct partial_list *l, const char *version, const struct list_meta *meta,
                        struct str *out) {
    *l = (struct partial_list){.version = version};
    jsonw_init(&l->w, out, false);
    jsonw_begin(&l->w, '{');
    meta_type_write(&l->w, "PartialObjectMetadataList", version);
    jsonw_key(&l->w, "metadata");
    list_meta_write(&l->w, meta);
    jsonw_key(&l->w, "items");
}

void partial_list_item(struct partial_list *l, const json_t *object, struct view text,
                       struct str *out) {
    l->w.out = out;
    if (!l->any)
        jsonw_begin(&l->w, '[');
    l->any = true;
    partial_write(&l->w, l->version, object, text);
}

void partial_list_end(struct partial_list *l, struct str *out) {
    l->w.out = out;
    /* Go's nil slice: an empty list has no list here. */
    if (l->any)
        jsonw_end(&l->w);
    else
        jsonw_null(&l->w);
    jsonw_end(&l->w);
}
