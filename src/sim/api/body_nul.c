/* The stand-in for NUL. */
#include "sim/api/body_nul.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { STAND_IN = 1 };

static bool has_nul(const char *p, size_t len) {
    return memchr(p, 0, len) != NULL;
}

static bool text_has_nul(const json_t *v) {
    return json_is_string(v) && has_nul(json_string_value(v), json_string_length(v));
}

static json_t *without(const char *p, size_t len) {
    _cleanup_free_ char *copy = xmemdup(p, len + 1);
    for (size_t i = 0; i < len; i++)
        copy[i] = copy[i] ? copy[i] : STAND_IN;
    return json_stringn(copy, len);
}

static json_t *tamed_text(const json_t *v) {
    return without(json_string_value(v), json_string_length(v));
}

/* The same object with other keys, in the same order. */
static bool tame_keys(json_t *v) {
    bool found = false;
    for (void *at = json_object_iter(v); at && !found; at = json_object_iter_next(v, at))
        found = has_nul(json_object_iter_key(at), json_object_iter_key_len(at));
    if (!found)
        return false;
    _cleanup_json_ json_t *fresh = json_object();
    for (void *at = json_object_iter(v); at; at = json_object_iter_next(v, at)) {
        size_t len = json_object_iter_key_len(at);
        _cleanup_json_ json_t *key = without(json_object_iter_key(at), len);
        json_object_setn(fresh, json_string_value(key), len, json_object_iter_value(at));
    }
    json_object_clear(v);
    json_object_update(v, fresh);
    return true;
}

/* Keys, and with `values` texts too. */
static bool tame(json_t *v, bool values) {
    bool found = false;
    size_t i;
    json_t *each;
    json_array_foreach(v, i, each) {
        if (values && text_has_nul(each)) {
            json_array_set_new(v, i, tamed_text(each));
            found = true;
        } else {
            found |= tame(each, values);
        }
    }
    if (!json_is_object(v))
        return found;
    found |= tame_keys(v);
    for (void *at = json_object_iter(v); at; at = json_object_iter_next(v, at)) {
        each = json_object_iter_value(at);
        if (values && text_has_nul(each)) {
            json_object_iter_set_new(v, at, tamed_text(each));
            found = true;
        } else {
            found |= tame(each, values && !streq(json_object_iter_key(at), "annotations"));
        }
    }
    return found;
}

bool body_nul_tame(json_t *obj) {
    static const char *const names[] = {"kind", "apiVersion"};
    bool found = tame(obj, false);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const json_t *v = json_object_get(obj, names[i]);
        if (text_has_nul(v)) {
            json_object_set_new(obj, names[i], tamed_text(v));
            found = true;
        }
    }
    return tame(json_object_get(obj, "metadata"), true) || found;
}

void body_nul_mend(char *message) {
    for (char *p = message; p && (p = strpbrk(p, "\\\001"));) {
        if (*p == STAND_IN) { /* not quoted: a NUL would end the text */
            p++;
        } else if (strncmp(p, "\\x01", 4) == 0) {
            p[3] = '0';
            p += 4;
        } else {
            p += p[1] ? 2 : 1;
        }
    }
}
