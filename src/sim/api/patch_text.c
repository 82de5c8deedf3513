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

/* Whether the string that ends here is the name of a member. */
static bool is_name(struct view rest) {
    skip_blanks(&rest);
    return rest.len && rest.p[0] == ':';
}

bool text_is_gos(struct view text, const json_t *value) {
    _cleanup_str_ struct str out = STR_INIT;
    go_json(&out, value);
    struct view gos = {str_get(&out), out.len};
    while (text.len) {
        size_t n = 1, m = 1;
        if (is_blank(text.p[0])) {
            m = 0;
        } else if (!gos.len || gos.p[0] != text.p[0]) {
            return false;
        } else if (text.p[0] == '"') {
            n = string_len(text);
            m = string_len(gos);
            if ((n != m || memcmp(text.p, gos.p, n) != 0) &&
                !is_name((struct view){text.p + n, text.len - n}))
                return false;
        }
        text = (struct view){text.p + n, text.len - n};
        gos = (struct view){gos.p + m, gos.len - m};
    }
    return !gos.len;
}
