/* Picks the few members of an object that its columns need out of its JSON text, so that the rest
 * is never parsed: most of a pod is volumes, probes and managed fields. */
#include "sim/api/table_internal.h"

/* Of what is kept, nothing lies deeper. What lies below a member that is dropped does not count. */
enum { PICK_DEPTH = 16 };

struct picker {
    const char *p, *end;
    const char *const *keys;
    struct str *out;
};

static void blanks(struct picker *k) {
    while (k->p < k->end && (*k->p == ' ' || *k->p == '\t' || *k->p == '\n' || *k->p == '\r'))
        k->p++;
}

static bool take(struct picker *k, char c) {
    blanks(k);
    if (k->p == k->end || *k->p != c)
        return false;
    k->p++;
    return true;
}

/* The inside of a string, escapes as they are. */
static bool string(struct picker *k, struct view *inside) {
    if (!take(k, '"'))
        return false;
    const char *begin = k->p;
    for (;;) {
        const char *quote = memchr(k->p, '"', (size_t)(k->end - k->p));
        if (!quote)
            return false;
        const char *slash = memchr(k->p, '\\', (size_t)(quote - k->p));
        if (!slash) {
            *inside = (struct view){begin, (size_t)(quote - begin)};
            k->p = quote + 1;
            return true;
        }
        if (slash + 1 >= k->end)
            return false;
        k->p = slash + 2;
    }
}

/* Past a value. Brackets must close, what else is in it is not looked at. */
static bool skip(struct picker *k) {
    size_t depth = 0;
    struct view unused;
    blanks(k);
    const char *begin = k->p;
    while (k->p < k->end) {
        char c = *k->p;
        if (c == '"') {
            if (!string(k, &unused))
                return false;
            continue;
        }
        if ((c == ',' || c == '}' || c == ']') && !depth)
            return k->p > begin;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        k->p++;
    }
    return false;
}

static bool wanted(const struct picker *k, struct view key) {
    for (size_t i = 0; k->keys[i]; i++)
        if (key.len && *k->keys[i] == *key.p && !strncmp(k->keys[i], key.p, key.len) &&
            !k->keys[i][key.len])
            return true;
    return false;
}

static bool pick_value(struct picker *k, int depth);

static bool pick_members(struct picker *k, int depth) {
    bool any = false;
    str_addc(k->out, '{');
    if (take(k, '}')) {
        str_addc(k->out, '}');
        return true;
    }
    do {
        struct view key;
        if (!string(k, &key) || !take(k, ':'))
            return false;
        if (!wanted(k, key)) {
            if (!skip(k))
                return false;
            continue;
        }
        if (any)
            str_addc(k->out, ',');
        any = true;
        str_addc(k->out, '"');
        str_addn(k->out, key.p, key.len);
        str_add(k->out, "\":");
        if (!pick_value(k, depth))
            return false;
    } while (take(k, ','));
    str_addc(k->out, '}');
    return take(k, '}');
}

static bool pick_elements(struct picker *k, int depth) {
    str_addc(k->out, '[');
    if (take(k, ']')) {
        str_addc(k->out, ']');
        return true;
    }
    for (;;) {
        if (!pick_value(k, depth))
            return false;
        if (!take(k, ','))
            break;
        str_addc(k->out, ',');
    }
    str_addc(k->out, ']');
    return take(k, ']');
}

static bool pick_value(struct picker *k, int depth) {
    if (depth == PICK_DEPTH)
        return false;
    if (take(k, '{'))
        return pick_members(k, depth + 1);
    if (take(k, '['))
        return pick_elements(k, depth + 1);
    const char *begin = k->p;
    if (!skip(k))
        return false;
    str_addn(k->out, begin, (size_t)(k->p - begin));
    return true;
}

bool table_pick(struct view text, const char *const *keys, struct str *out) {
    struct picker k = {text.p, text.p + text.len, keys, out};
    if (!take(&k, '{') || !pick_members(&k, 0))
        return false;
    blanks(&k);
    return k.p == k.end;
}
