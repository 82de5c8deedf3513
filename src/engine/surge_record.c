/* The record of a surge on its Deployment. */
#include "engine/surge_record.h"

#include <string.h>

#include "base/json.h"
#include "base/jsonw.h"

enum {
    TEXT_MAX = 256,         /* names have at most 253 characters */
    REPLICAS_MAX = 1000000, /* more is a mistake */
};

int32_t surge_replicas(const struct deployment *d) {
    return d->replicas == ABSENT32 ? 1 : d->replicas;
}

bool surge_may_raise(const struct deployment *d) {
    return surge_replicas(d) == 1 && !d->paused && !d->meta.deleted &&
           !str_same(d->strategy.type, "Recreate");
}

/* --- reading --- */

/* NULL when it is missing or cannot be what it should. */
static const char *text(struct arena *arena, const json_t *root, const char *key) {
    const char *s = json_str(root, key);
    size_t len = s ? strlen(s) : 0;
    return len && len <= TEXT_MAX ? arena_strndup(arena, s, len) : NULL;
}

static const char *read_record(const json_t *root, struct arena *arena, struct surge_record *out) {
    const json_t *v = json_object_get(root, "v"), *replicas = json_object_get(root, "replicas");
    if (!json_is_object(root) || !json_is_integer(v))
        return "it is no surge record";
    if (json_integer_value(v) != SURGE_VERSION)
        return arena_printf(arena, "it is of version %lld, this program knows version %d",
                            (long long)json_integer_value(v), SURGE_VERSION);
    if (!json_is_integer(replicas) || json_integer_value(replicas) < 1 ||
        json_integer_value(replicas) > REPLICAS_MAX)
        return "its number of replicas makes no sense";
    out->replicas = (int32_t)json_integer_value(replicas);
    out->pod = text(arena, root, "pod");
    out->node = text(arena, root, "node");
    out->by = text(arena, root, "by");
    if (!out->by)
        out->by = "";
    return out->pod && out->node ? NULL : "it does not say which pod of which node it is for";
}

enum surge_mark surge_record_of(const struct deployment *d, struct arena *arena,
                                struct surge_record *out) {
    const char *record = map_get(d->meta.annotations, SURGE_MARK);
    *out = (struct surge_record){0};
    if (!map_has(d->meta.labels, SURGE_MARK))
        return SURGE_UNMARKED;
    if (str_empty(record))
        return SURGE_BARE;
    _cleanup_json_ json_t *root = json_loads(record, JSON_REJECT_DUPLICATES, NULL);
    out->problem = root ? read_record(root, arena, out) : "it is no JSON";
    return out->problem ? SURGE_STRANGE : SURGE_MARKED;
}

/* --- writing --- */

/* "metadata":{"resourceVersion":...,"labels":{MARK: label},"annotations":{MARK: record}}; NULL
 * removes. */
static void write_meta(struct jsonw *w, const struct deployment *d, const char *label,
                       const char *record) {
    jsonw_kbegin(w, "metadata", '{');
    jsonw_kstr(w, "resourceVersion", d->meta.version);
    jsonw_kbegin(w, "labels", '{');
    jsonw_kstr(w, SURGE_MARK, label);
    jsonw_end(w);
    jsonw_kbegin(w, "annotations", '{');
    jsonw_kstr(w, SURGE_MARK, record);
    jsonw_end(w);
    jsonw_end(w);
}

static void write_replicas(struct jsonw *w, int32_t replicas) {
    jsonw_kbegin(w, "spec", '{');
    jsonw_kint(w, "replicas", replicas);
    jsonw_end(w);
}

void surge_patch_raise(const struct deployment *d, const struct surge_record *rec,
                       struct str *patch) {
    _cleanup_str_ struct str record = STR_INIT;
    struct jsonw w;
    jsonw_init(&w, &record, false);
    jsonw_begin(&w, '{');
    jsonw_kint(&w, "v", SURGE_VERSION);
    jsonw_kint(&w, "replicas", surge_replicas(d));
    jsonw_kstr(&w, "node", rec->node);
    jsonw_kstr(&w, "pod", rec->pod);
    jsonw_kstr(&w, "by", rec->by);
    jsonw_end(&w);
    jsonw_init(&w, patch, false);
    jsonw_begin(&w, '{');
    write_meta(&w, d, "true", str_get(&record));
    write_replicas(&w, surge_replicas(d) + 1);
    jsonw_end(&w);
}

void surge_patch_lower(const struct deployment *d, int32_t replicas, struct str *patch) {
    struct jsonw w;
    jsonw_init(&w, patch, false);
    jsonw_begin(&w, '{');
    write_meta(&w, d, NULL, NULL);
    if (replicas >= 0)
        write_replicas(&w, replicas);
    jsonw_end(&w);
}
