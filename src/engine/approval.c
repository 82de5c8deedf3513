/* Approvals. */
#include "engine/approval.h"

#include <string.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "base/timefmt.h"

enum { APPROVAL_VERSION = 1, BY_MAX = 253 };

/* NULL: there is none that can be read. One of a newer version is none. */
static const char *read_annotation(const struct meta *meta, const char *boot, struct arena *arena) {
    const char *text = map_get(meta->annotations, APPROVAL_ANNOTATION);
    if (str_empty(text))
        return NULL;
    _cleanup_json_ json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *v = json_object_get(root, "v");
    const char *by = json_str(root, "by"), *at = json_str(root, "at");
    if (!json_is_integer(v) || json_integer_value(v) != APPROVAL_VERSION || str_empty(by) ||
        strlen(by) > BY_MAX)
        return NULL;
    if (boot && !str_same(json_str(root, "boot"), boot))
        return NULL;
    return str_empty(at) ? arena_printf(arena, "%s", by) : arena_printf(arena, "%s at %s", by, at);
}

const char *approval_of_object(const struct meta *meta, struct arena *arena) {
    return read_annotation(meta, NULL, arena);
}

const char *approval_of_node(const struct node *node, const char *boot, struct arena *arena) {
    return node ? read_annotation(&node->meta, boot, arena) : NULL;
}

const char *approval_write(const char *by, int64_t at, const char *boot, struct arena *arena) {
    _cleanup_str_ struct str text = STR_INIT;
    char time[TIMEFMT_LEN];
    struct jsonw w;
    jsonw_init(&w, &text, false);
    jsonw_begin(&w, '{');
    jsonw_kint(&w, "v", APPROVAL_VERSION);
    jsonw_kstr(&w, "by", by);
    jsonw_kstr(&w, "at", time_format(at, false, time));
    jsonw_kopt(&w, "boot", boot);
    jsonw_end(&w);
    return arena_strndup(arena, str_get(&text), text.len);
}
