/* Paths into a schema, as selectableFields and the fieldPath of CEL rules have them (ValidFieldPath
 * of apiextensions-apiserver pkg/apiserver/schema/cel). */
#include <errno.h>

#include "sim/api/structural_internal.h"

/* The next token: a delimiter, what is between two, or what is between single quotes. False at the
 * end. */
static bool next_token(const char **at, struct view *out) {
    const char *s = *at;
    if (!*s)
        return false;
    size_t len = 1;
    if (*s == '\'') {
        while (s[len] && !(s[len] == '\'' && s[len - 1] != '\\'))
            len++;
        len += s[len] != '\0';
    } else if (!strchr(".[]", *s)) {
        len = strcspn(s, ".[]");
    }
    *out = (struct view){s, len};
    *at = s + len;
    return true;
}

static bool is_delimiter(struct view token, char c) {
    return token.len == 1 && *token.p == c;
}

static int unescape(struct view quoted, struct str *out, struct err *err) {
    static const char letters[] = "abfnrtv'\\", meaning[] = "\a\b\f\n\r\t\v'\\";
    for (size_t i = 1; i + 1 < quoted.len; i++) {
        if (quoted.p[i] != '\\' || i + 2 >= quoted.len) {
            str_addc(out, quoted.p[i]);
            continue;
        }
        const char *letter = strchr(letters, quoted.p[++i]);
        if (!letter)
            return err_set(err, EINVAL, "invalid string literal: invalid escape char \\%c",
                           quoted.p[i]);
        str_addc(out, meaning[letter - letters]);
    }
    return 0;
}

struct walk {
    const struct snode *node;
    struct str name;
};

static int step(struct walk *w, const char *key, struct err *err) {
    const struct snode *n = w->node, *next;
    if (n && n->n_properties) {
        next = snode_property(n, key);
        str_addf(&w->name, "%s%s", w->name.len ? "." : "", key);
    } else {
        /* additionalProperties: true leads to nothing that is known */
        next = n ? n->additional : NULL;
        str_addf(&w->name, "[%s]", key);
    }
    if (!next)
        return err_set(err, EINVAL, "does not refer to a valid field");
    w->node = next;
    return 0;
}

/* Behind a bracket: 'name' and its end. */
static int step_bracket(struct walk *w, const char **at, struct err *err) {
    _cleanup_str_ struct str key = STR_INIT;
    struct view token;
    if (!next_token(at, &token))
        return err_set(err, EINVAL, "unexpected end of JSON path");
    if (token.len < 2 || token.p[0] != '\'' || token.p[token.len - 1] != '\'')
        return err_set(err, EINVAL, "expected single quoted string but got %.*s", (int)token.len,
                       token.p);
    int rc = unescape(token, &key, err);
    if (!rc)
        rc = step(w, str_get(&key), err);
    if (rc)
        return rc;
    if (!next_token(at, &token))
        return err_set(err, EINVAL, "unexpected end of JSON path");
    if (!is_delimiter(token, ']'))
        return err_set(err, EINVAL, "expected ] but got %.*s", (int)token.len, token.p);
    return 0;
}

static int walk(struct walk *w, const char *path, bool brackets, struct err *err) {
    struct view token;
    while (next_token(&path, &token)) {
        int rc;
        if (is_delimiter(token, '[')) {
            if (!brackets)
                return err_set(err, EINVAL, "array notation is not allowed");
            rc = step_bracket(w, &path, err);
        } else if (is_delimiter(token, '.')) {
            if (!next_token(&path, &token))
                return err_set(err, EINVAL, "unexpected end of JSON path");
            _cleanup_free_ char *key = xstrndup(token.p, token.len);
            rc = step(w, key, err);
        } else {
            return err_set(err, EINVAL, "expected [ or . but got: %.*s", (int)token.len, token.p);
        }
        if (rc)
            return rc;
    }
    return 0;
}

int structural_find(const struct structural *s, const char *path, bool brackets, const char **type,
                    char **name, struct err *err) {
    struct walk w = {s->root, STR_INIT};
    int rc = walk(&w, path, brackets, err);
    if (!rc) {
        *type = w.node->type;
        *name = str_take(&w.name);
    }
    str_done(&w.name);
    return rc;
}
