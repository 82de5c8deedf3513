/* The stop of everything. */
#include "engine/stop.h"

#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "engine/keeper.h"

enum { TEXT_MAX = 300 }; /* of what people have written */

void stop_write(const struct stop *stop, const char *ns, struct str *out) {
    _cleanup_str_ struct str record = STR_INIT;
    char since[TIMEFMT_LEN];
    struct jsonw w;
    jsonw_init(&w, &record, false);
    jsonw_begin(&w, '{');
    jsonw_kint(&w, "v", STOP_VERSION);
    jsonw_kstr(&w, "by", stop->by);
    jsonw_kopt(&w, "reason", stop->reason);
    jsonw_kstr(&w, "since", time_format(stop->since, false, since));
    jsonw_end(&w);
    jsonw_init(&w, out, false);
    jsonw_begin(&w, '{');
    jsonw_kstr(&w, "apiVersion", "v1");
    jsonw_kstr(&w, "kind", "ConfigMap");
    jsonw_kbegin(&w, "metadata", '{');
    jsonw_kstr(&w, "name", STOP_MAP);
    jsonw_kstr(&w, "namespace", ns);
    jsonw_kbegin(&w, "labels", '{');
    jsonw_kstr(&w, SLOTS_LABEL, "");
    jsonw_end(&w);
    jsonw_end(&w);
    jsonw_kbegin(&w, "data", '{');
    jsonw_kstr(&w, STOP_KEY, str_get(&record));
    jsonw_end(&w);
    jsonw_end(&w);
}

bool stop_is(const struct config_map *map) {
    return streq(map->meta.name, STOP_MAP);
}

/* A character is not cut through: what is left must be text. */
static const char *cut(const char *text, struct arena *arena) {
    _cleanup_str_ struct str clean = STR_INIT;
    utf8_printable(&clean, strna(text));
    size_t len = MIN_OF(clean.len, (size_t)TEXT_MAX);
    while (len < clean.len && len && (clean.p[len] & 0xc0) == 0x80)
        len--;
    return arena_strndup(arena, str_get(&clean), len);
}

bool stop_read(const struct config_map *map, struct arena *arena, struct stop *out) {
    const char *record = map_get(map->data, STOP_KEY);
    _cleanup_json_ json_t *doc = json_loads(strna(record), JSON_REJECT_DUPLICATES, NULL);
    const char *by = json_string_value(json_object_get(doc, "by")),
               *since = json_string_value(json_object_get(doc, "since"));
    *out = (struct stop){.by = "", .reason = ""};
    if (str_empty(by))
        return false;
    out->by = cut(by, arena);
    out->reason = cut(json_string_value(json_object_get(doc, "reason")), arena);
    if (since)
        time_parse(since, strlen(since), &out->since);
    return true;
}

char *stop_text(const struct config_map *map) {
    _cleanup_arena_ struct arena arena = ARENA_INIT;
    struct str out = STR_INIT;
    struct stop stop;
    char since[TIMEFMT_LEN];
    if (!map)
        return NULL;
    str_add(&out, "everything is paused");
    if (!stop_read(map, &arena, &stop)) {
        str_add(&out, ": the ConfigMap " STOP_MAP " is there, and cannot be read");
        return str_take(&out);
    }
    str_addf(&out, " by %s", stop.by);
    if (stop.since)
        str_addf(&out, " since %s", time_format(stop.since, false, since));
    if (*stop.reason)
        str_addf(&out, ": %s", stop.reason);
    return str_take(&out);
}
