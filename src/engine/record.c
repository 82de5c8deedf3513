/* Members of records that this release does not know. */
#include "engine/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

static bool is_known(const char *key, const char *const *known) {
    while (*known && !streq(key, *known))
        known++;
    return *known;
}

const char *record_rest(const json_t *obj, const char *const *known, struct arena *arena) {
    _cleanup_json_ json_t *rest = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)obj, key, value) if (!is_known(key, known))
        json_object_set(rest, key, value);
    if (!json_object_size(rest))
        return NULL;
    _cleanup_free_ char *text = json_dumps(rest, JSON_COMPACT);
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

void record_write_rest(struct jsonw *w, const char *rest) {
    _cleanup_json_ json_t *obj = rest ? json_loads(rest, 0, NULL) : NULL;
    const char *key;
    json_t *value;
    json_object_foreach(obj, key, value) {
        _cleanup_free_ char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        jsonw_key(w, key);
        jsonw_raw(w, text);
    }
}
