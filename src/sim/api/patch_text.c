/* The text of a JSON patch beside its values: how its operations wrote what they test for.
 *
 * The text has been read as JSON before, so that nothing is checked here; but nothing is believed
 * either: what does not look as expected ends the search. */
#include "sim/api/gotext.h"
#include "sim/api/patch_internal.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct view *v) {
    while (v->len && is_blank(v->p[0])) {
        v->p++;
        v->len--;
    }
}

/* Takes one character if it is this one. */
static bool take(struct view *v, char c) {
    skip_blanks(v);
    if (!v->len || v->p[0] != c)
        return false;
    v->p++;
    v->len--;
    return true;
}

/* How long the string is that begins here, with its quotes. */
static size_t string_len(struct view v) {
    for (size_t i = 1; i < v.len; i++) {
        if (v.p[i] == '"')
            return i + 1;
        i += v.p[i] == '\\';
    }
    return v.len;
}

/* Takes a value of any kind. */
static struct view take_value(struct view *v) {
    size_t i = 0, depth = 0;
    skip_blanks(v);
    while (i < v->len) {
        char c = v->p[i];
        if (!depth && (c == ',' || c == ']' || c == '}' || c == ':' || is_blank(c)))
            break;
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        i += c == '"' ? string_len((struct view){v->p + i, v->len - i}) : 1;
    }
    struct view value = {v->p, i};
    v->p += i;
    v->len -= i;
    return value;
}

bool text_begin(struct view *rest, struct view body) {
    *rest = body;
    return take(rest, '[');
}

struct view text_next(struct view *rest) {
    struct view value = {0}, op = take_value(rest);
    take(rest, ',');
    if (!take(&op, '{'))
        return value;
    do {
        struct view name = take_value(&op);
        if (!take(&op, ':'))
            break;
        struct view member = take_value(&op);
        if (view_eq(name, VIEW("\"value\"")))
            value = member;
    } while (take(&op, ','));
    return value;
}

bool text_is_gos(struct view text, const json_t *value) {
    _cleanup_str_ struct str gos = STR_INIT;
    size_t at = 0;
    go_json(&gos, value);
    for (size_t i = 0; i < text.len;) {
        size_t n = text.p[i] == '"' ? string_len((struct view){text.p + i, text.len - i})
                                    : !is_blank(text.p[i]);
        if (n > gos.len - at || memcmp(gos.p + at, text.p + i, n) != 0)
            return false;
        at += n;
        i += MAX_OF(n, (size_t)1);
    }
    return at == gos.len;
}
