/* JSON patches: RFC 6902 as evanphx/json-patch v4 has it. Where it is more generous than the RFC,
 * so is this: "replace" and "copy" take a member that is not there (for null), an "add" without
 * value adds null, indexes may be negative or have leading zeros, a pointer's part before the first
 * slash is ignored, and "test" finds a missing member equal to null. */
#include <limits.h>

#include "sim/api/gotext.h"
#include "sim/api/patch_internal.h"
#include "sim/schema/goquote.h"

enum { MAX_NOTES = 100 }; /* as many strict errors as the real decoder keeps */

/* A patch that is being applied. */
struct run {
    json_t *root;     /* the document so far: an object or an array */
    size_t depth;     /* it is nested no deeper than this */
    size_t copied;    /* bytes of text by "copy" */
    uint64_t shifted; /* items of lists that were moved to make room or close a gap */
    bool written;     /* something of the patch's own text is in it */
    struct err *err;
};

struct operation {
    const json_t *members;
    const json_t *value; /* NULL: none */
    struct view text;    /* that it was written as; .p NULL: not known */
    const char *path, *from;
};

/* Where an operation works: a member or an item of a container that is there. */
struct spot {
    json_t *in;
    char *key; /* owned */
    size_t len;
    size_t depth; /* of what is put there */
};

static void spot_done(struct spot *s) {
    free(s->key);
}
#define _cleanup_spot_ __attribute__((cleanup(spot_done)))

/* ---- pointers ---- */

/* A reference token without its escapes; `len` becomes its length. */
static char *token(const char *s, size_t *len) {
    char *out = xmalloc(*len + 1);
    size_t n = 0;
    for (size_t i = 0; i < *len; i++) {
        char next = s[i] == '~' && i + 1 < *len ? s[i + 1] : '\0';
        if (next == '0' || next == '1')
            i++;
        out[n++] = next == '0' ? '~' : next == '1' ? '/' : s[i];
    }
    out[n] = '\0';
    *len = n;
    return out;
}

/* strconv.Atoi and its error. */
static int parse_index(const char *key, size_t len, long *index, struct err *err) {
    size_t i = len > 0 && (key[0] == '-' || key[0] == '+');
    bool negative = i && key[0] == '-', fits = true;
    unsigned long n = 0, most = (unsigned long)LONG_MAX + negative;
    bool digits = i < len;
    for (; i < len && digits && fits; i++) {
        digits = key[i] >= '0' && key[i] <= '9';
        unsigned long digit = (unsigned long)(key[i] - '0');
        fits = fits && digits && n <= (most - digit) / 10;
        n = fits ? n * 10 + digit : n;
    }
    if (digits && fits) {
        *index = negative ? (long)(0 - n) : (long)n;
        return 0;
    }
    _cleanup_str_ struct str quoted = STR_INIT;
    goquote(&quoted, key, len);
    return err_set(err, PATCH_UNFIT, "strconv.Atoi: parsing %s: %s", str_get(&quoted),
                   digits ? "value out of range" : "invalid syntax");
}

/* The index that a key means in a list of `len` items. */
static int index_in(const char *key, size_t key_len, size_t len, size_t *index, struct err *err) {
    long i = 0;
    int rc = parse_index(key, key_len, &i, err);
    if (rc)
        return rc;
    if (i >= (long)len || i < -(long)len)
        return err_set(err, PATCH_UNFIT,
                       "Unable to access invalid index: %ld: invalid index referenced", i);
    *index = (size_t)(i < 0 ? i + (long)len : i);
    return 0;
}

/* What is there: NULL for a member that is missing. An error for an index that is none. */
static int get(const struct spot *s, json_t **value, struct err *err) {
    size_t i = 0;
    if (json_is_object(s->in)) {
        *value = json_object_getn(s->in, s->key, s->len);
        return 0;
    }
    int rc = index_in(s->key, s->len, json_array_size(s->in), &i, err);
    if (!rc)
        *value = json_array_get(s->in, i);
    return rc;
}

/* Goes to the container that the last part of a pointer is about. False when it is not there. */
static bool locate(const struct run *r, const char *path, struct spot *s) {
    const char *part = strchr(path, '/');
    *s = (struct spot){.in = r->root};
    while (part) {
        const char *next = strchr(++part, '/');
        json_t *below = NULL;
        free(s->key);
        s->len = next ? (size_t)(next - part) : strlen(part);
        s->key = token(part, &s->len);
        s->depth++;
        if (!next)
            return true;
        if (get(s, &below, NULL) || (!json_is_object(below) && !json_is_array(below)))
            return false;
        s->in = below;
        part = next;
    }
    return false;
}

/* ---- changing the document ---- */

/* Counts the cost of changing a list's length at an index. */
static int shift(struct run *r, const json_t *list, size_t index) {
    r->shifted += json_array_size(list) - index;
    if (r->shifted > PATCH_MAX_SHIFTED)
        return err_set(r->err, PATCH_UNFIT, "too many items of lists to move, more than %d",
                       PATCH_MAX_SHIFTED);
    return 0;
}

/* May this be put there? `at_most`: how deep it is, unless it has to be known exactly. */
static int deepen(struct run *r, const struct spot *s, const json_t *v, size_t at_most) {
    if (s->depth + at_most > JSON_PARSER_MAX_DEPTH)
        at_most = value_depth(v);
    if (s->depth + at_most > JSON_PARSER_MAX_DEPTH)
        return err_set(r->err, PATCH_UNFIT, "exceeded max depth");
    r->depth = MAX_OF(r->depth, s->depth + at_most);
    return 0;
}

/* Steals `value`. */
static int add(struct run *r, const struct spot *s, json_t *value, size_t at_most) {
    _cleanup_json_ json_t *v = value;
    size_t i = 0;
    int rc = deepen(r, s, v, at_most);
    if (rc)
        return rc;
    if (json_is_object(s->in)) {
        json_object_setn_new_nocheck(s->in, s->key, s->len, TAKE_PTR(v));
        return 0;
    }
    if (streq(s->key, "-")) {
        json_array_append_new(s->in, TAKE_PTR(v));
        return 0;
    }
    _cleanup_err_ struct err why = ERR_INIT;
    long parsed = 0;
    if (parse_index(s->key, s->len, &parsed, &why))
        return err_set(r->err, PATCH_UNFIT, "value was not a proper array index: '%s': %s", s->key,
                       err_msg(&why));
    /* one more place than there are items; -1 is the last of these */
    rc = index_in(s->key, s->len, json_array_size(s->in) + 1, &i, r->err);
    if (!rc)
        rc = shift(r, s->in, i);
    if (!rc)
        json_array_insert_new(s->in, i, TAKE_PTR(v));
    return rc;
}

static int drop(struct run *r, const struct spot *s) {
    size_t i = 0;
    if (json_is_object(s->in)) {
        if (!json_object_getn(s->in, s->key, s->len))
            return err_set(r->err, PATCH_UNFIT,
                           "Unable to remove nonexistent key: %s: "
                           "missing value",
                           s->key);
        json_object_deln(s->in, s->key, s->len);
        return 0;
    }
    int rc = index_in(s->key, s->len, json_array_size(s->in), &i, r->err);
    if (!rc)
        rc = shift(r, s->in, i);
    if (!rc)
        json_array_remove(s->in, i);
    return rc;
}

/* The value of an operation as it goes into the document. */
static json_t *fresh(struct run *r, const struct operation *op) {
    r->written = true;
    return op->value ? value_copy(op->value) : json_null();
}

/* ---- operations ---- */

/* Something that a pointer leads through is not there. */
static int fail_path(struct run *r, const char *what, const char *path) {
    return err_set(r->err, PATCH_UNFIT, "%s: %s: missing value", what, path);
}

/* A pointer of the operation that is missing, or no string. */
static int fail_member(struct run *r, const struct operation *op, const char *what,
                       const char *name, const char *missing) {
    const json_t *v = json_object_get(op->members, name);
    if (v && !json_is_null(v) && !json_is_string(v))
        return err_set(r->err, PATCH_UNFIT,
                       "%s: json: cannot unmarshal %s into Go value of type string", what,
                       words_json(v));
    return err_set(r->err, PATCH_UNFIT, "%s: %s: missing value", what, missing);
}

#define NO_PATH "operation missing path field"
#define NO_FROM "operation, missing from field"

static int do_add(struct run *r, const struct operation *op) {
    _cleanup_spot_ struct spot s = {0};
    if (!op->path)
        return err_set(r->err, PATCH_UNFIT, "add operation failed to decode path: missing value");
    if (!locate(r, op->path, &s))
        return err_set(r->err, PATCH_UNFIT,
                       "add operation does not apply: doc is missing path: \"%s\": missing value",
                       op->path);
    if (add(r, &s, fresh(r, op), value_depth(op->value)))
        return err_wrap(r->err, "error in add for path: '%s'", op->path);
    return 0;
}

static int do_remove(struct run *r, const struct operation *op) {
    _cleanup_spot_ struct spot s = {0};
    if (!op->path)
        return err_set(r->err, PATCH_UNFIT,
                       "remove operation failed to decode path: missing value");
    if (!locate(r, op->path, &s))
        return err_set(r->err, PATCH_UNFIT,
                       "remove operation does not apply: doc is missing path: \"%s\": "
                       "missing value",
                       op->path);
    if (drop(r, &s))
        return err_wrap(r->err, "error in remove for path: '%s'", op->path);
    return 0;
}

static int replace_root(struct run *r, const struct operation *op) {
    if (!op->value)
        return err_set(r->err, PATCH_CRASH,
                       "runtime error: invalid memory address or nil pointer dereference");
    if (!json_is_object(op->value) && !json_is_array(op->value))
        return err_set(r->err, PATCH_UNFIT,
                       "replace operation value must be object or array: %%!w(<nil>)");
    json_decref(r->root);
    r->root = fresh(r, op);
    r->depth = value_depth(r->root);
    return 0;
}

static int do_replace(struct run *r, const struct operation *op) {
    _cleanup_spot_ struct spot s = {0};
    json_t *old = NULL;
    size_t i = 0;
    if (!op->path)
        return fail_member(r, op, "replace operation failed to decode path", "path", NO_PATH);
    if (!*op->path)
        return replace_root(r, op);
    if (!locate(r, op->path, &s))
        return fail_path(r, "replace operation does not apply: doc is missing path", op->path);
    if (get(&s, &old, NULL))
        return fail_path(r, "replace operation does not apply: doc is missing key", op->path);
    int rc = deepen(r, &s, op->value, value_depth(op->value));
    if (rc)
        return rc;
    if (json_is_object(s.in)) {
        json_object_setn_new_nocheck(s.in, s.key, s.len, fresh(r, op));
    } else {
        index_in(s.key, s.len, json_array_size(s.in), &i, NULL); /* as get() has done */
        json_array_set_new(s.in, i, fresh(r, op));
    }
    return 0;
}

static int do_move(struct run *r, const struct operation *op) {
    _cleanup_spot_ struct spot from = {0}, to = {0};
    _cleanup_json_ json_t *moved = NULL;
    json_t *value = NULL;
    if (!op->from)
        return fail_member(r, op, "move operation failed to decode from", "from", NO_FROM);
    if (!locate(r, op->from, &from))
        return fail_path(r, "move operation does not apply: doc is missing from path", op->from);
    if (get(&from, &value, r->err))
        return err_wrap(r->err, "error in move for path: '%s'", from.key);
    moved = json_incref(value);
    if (drop(r, &from))
        return err_wrap(r->err, "error in move for path: '%s'", from.key);
    if (!op->path)
        return fail_member(r, op, "move operation failed to decode path", "path", NO_PATH);
    if (!locate(r, op->path, &to))
        return fail_path(r, "move operation does not apply: doc is missing destination path",
                         op->path);
    size_t at_most = r->depth > from.depth ? r->depth - from.depth : 0;
    if (add(r, &to, TAKE_PTR(moved), at_most))
        return err_wrap(r->err, "error in move for path: '%s'", op->path);
    return 0;
}

static int do_copy(struct run *r, const struct operation *op) {
    _cleanup_spot_ struct spot from = {0}, to = {0};
    json_t *value = NULL;
    if (!op->from)
        return fail_member(r, op, "copy operation failed to decode from", "from", NO_FROM);
    if (!locate(r, op->from, &from))
        return fail_path(r, "copy operation does not apply: doc is missing from path", op->from);
    if (get(&from, &value, r->err))
        return err_wrap(r->err, "error in copy for from: '%s'", op->from);
    if (!op->path)
        return err_set(r->err, PATCH_UNFIT, "copy operation failed to decode path: missing value");
    if (!locate(r, op->path, &to))
        return fail_path(r, "copy operation does not apply: doc is missing destination path",
                         op->path);
    /* a null of the document weighs nothing there */
    if (value && !json_is_null(value)) {
        _cleanup_str_ struct str text = STR_INIT;
        go_json(&text, value);
        r->copied += text.len;
    }
    if (r->copied > PATCH_MAX_COPIED)
        return err_set(r->err, PATCH_UNFIT,
                       "Unable to complete the copy, the accumulated size increase of copy is "
                       "%zu, exceeding the limit %d",
                       r->copied, PATCH_MAX_COPIED);
    if (add(r, &to, value ? value_copy(value) : json_null(), value_depth(value)))
        return err_wrap(r->err, "error while adding value during copy");
    return 0;
}

/* Equal as "test" sees it. -1: the original crashes, at a null in a list. */
static int equal(const json_t *ours, const json_t *theirs) {
    const char *key;
    json_t *a;
    if (json_is_object(ours)) {
        if (!json_is_object(theirs) || json_object_size(ours) != json_object_size(theirs))
            return 0;
        json_object_foreach(iterable(ours), key, a) {
            const json_t *b = json_object_get(theirs, key);
            if (!b || json_is_null(a) != json_is_null(b))
                return 0;
            int same = json_is_null(a) ? 1 : equal(a, b);
            if (same != 1)
                return same;
        }
        return 1;
    }
    if (json_is_array(ours)) {
        if (!json_is_array(theirs) || json_array_size(ours) != json_array_size(theirs))
            return 0;
        for (size_t i = 0; i < json_array_size(ours); i++) {
            const json_t *item = json_array_get(ours, i), *other = json_array_get(theirs, i);
            int same = json_is_null(item) || json_is_null(other) ? -1 : equal(item, other);
            if (same != 1)
                return same;
        }
        return 1;
    }
    return json_equal(ours, theirs);
}

static int do_test(struct run *r, const struct operation *op) {
    _cleanup_spot_ struct spot s = {0};
    json_t *value = NULL;
    int same;
    if (!op->path)
        return fail_member(r, op, "test operation failed to decode path", "path", NO_PATH);
    if (!*op->path) {
        same = op->value ? equal(r->root, op->value) : -1;
    } else {
        if (!locate(r, op->path, &s))
            return fail_path(r, "test operation does not apply: is missing path", op->path);
        if (get(&s, &value, r->err))
            return err_wrap(r->err, "error in test for path: '%s'", op->path);
        if (!value || json_is_null(value))
            same = !op->value || json_is_null(op->value);
        else
            same = op->value ? equal(value, op->value) : 0;
    }
    if (same > 0 && op->text.p && !r->written)
        same = text_is_gos(op->text, op->value);
    if (same < 0)
        return err_set(r->err, PATCH_CRASH,
                       "runtime error: invalid memory address or nil pointer dereference");
    if (!same)
        return err_set(r->err, PATCH_UNFIT, "testing value %s failed: test failed", op->path);
    return 0;
}

/* A string member, NULL when it is missing or something else. */
static const char *member(const json_t *op, const char *name) {
    return json_string_value(json_object_get(op, name));
}

static int operate(struct run *r, const json_t *members, struct view text) {
    static const struct {
        const char *name;
        int (*run)(struct run *, const struct operation *);
    } kinds[] = {
        {"add", do_add},   {"remove", do_remove}, {"replace", do_replace},
        {"move", do_move}, {"test", do_test},     {"copy", do_copy},
    };
    struct operation op = {
        .members = members,
        .value = json_object_get(members, "value"),
        .text = text,
        .path = member(members, "path"),
        .from = member(members, "from"),
    };
    const char *kind = member(members, "op");
    for (size_t i = 0; kind && i < ARRAY_LEN(kinds); i++) {
        if (streq(kind, kinds[i].name))
            return kinds[i].run(r, &op);
    }
    return err_set(r->err, PATCH_UNFIT, "Unexpected kind: %s", kind ? kind : "unknown");
}

/* ---- the body ---- */

/* Strings of C end at a NUL, which nothing in an object of Kubernetes' is called by. */
static int check_strings(const json_t *op, struct err *err) {
    static const char *const names[] = {"op", "path", "from"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const json_t *v = json_object_get(op, names[i]);
        if (json_is_string(v) && strlen(json_string_value(v)) != json_string_length(v))
            return err_set(err, PATCH_UNFIT, "\"%s\" has a NUL in it", names[i]);
    }
    return 0;
}

/* What the real server reads the body as, before it hands it on: a list of structs. */
static int check_members(const json_t *op, size_t index, struct schema_notes *notes,
                         struct err *err) {
    const char *key;
    json_t *value;
    json_object_foreach(iterable(op), key, value) {
        if (streq(key, "op") || streq(key, "path") || streq(key, "from")) {
            if (!json_is_string(value) && !json_is_null(value))
                return err_set(err, PATCH_MALFORMED,
                               "error decoding patch: json: cannot unmarshal %s into Go struct "
                               "field jsonPatchOp.%s of type string",
                               words_json(value), key);
        } else if (!streq(key, "value") && notes && notes->texts.len < MAX_NOTES) {
            _cleanup_str_ struct str quoted = STR_INIT;
            _cleanup_free_ char *where = xasprintf("[%zu].%s", index, key);
            goquote(&quoted, where, strlen(where));
            *vec_push(&notes->texts) = xasprintf("json patch unknown field %s", str_get(&quoted));
        }
    }
    return 0;
}

static int check_body(const struct patch *patch, struct schema_notes *notes, struct err *err) {
    const char *prefix = patch->unchecked ? "" : "error decoding patch: ";
    const json_t *body = patch->body;
    size_t i;
    json_t *op;
    int rc = 0;
    if (!json_is_array(body) && !json_is_null(body))
        return err_set(err, PATCH_MALFORMED, "%sjson: cannot unmarshal %s into Go value of type %s",
                       prefix, words_json(body),
                       patch->unchecked ? "jsonpatch.Patch" : "[]handlers.jsonPatchOp");
    json_array_foreach(body, i, op) {
        if (!json_is_object(op) && !json_is_null(op))
            return err_set(err, PATCH_MALFORMED,
                           "%sjson: cannot unmarshal %s into Go value of type %s", prefix,
                           words_json(op),
                           patch->unchecked ? "jsonpatch.Operation" : "handlers.jsonPatchOp");
        if (!patch->unchecked)
            rc = check_members(op, i, notes, err);
        if (rc)
            return rc;
    }
    if (json_array_size(body) > PATCH_MAX_OPERATIONS)
        return err_set(err, PATCH_TOO_LARGE,
                       "Request entity too large: The allowed maximum operations in a JSON patch "
                       "is %d, got %zu",
                       PATCH_MAX_OPERATIONS, json_array_size(body));
    return 0;
}

static int by_address(const void *a, const void *b) {
    uintptr_t x = (uintptr_t) * (json_t *const *)a, y = (uintptr_t) * (json_t *const *)b;
    return (x > y) - (x < y);
}

/* Every mapping on the way to where an operation worked has its members in the order of their names
 * afterwards: the library has taken it apart. Each is sorted once, however many came by. */
static void put_in_order(struct run *r, const json_t *operations) {
    static const char *const names[] = {"path", "from"};
    VEC(json_t *) passed = VEC_INIT;
    size_t i;
    json_t *op;
    if (json_is_object(r->root))
        *vec_push(&passed) = r->root;
    json_array_foreach(operations, i, op) {
        for (size_t n = 0; n < ARRAY_LEN(names); n++) {
            const char *part = strna(member(op, names[n]));
            json_t *at = r->root;
            while (at && (part = strchr(part, '/'))) {
                size_t len = strcspn(++part, "/");
                _cleanup_free_ char *key = token(part, &len);
                struct spot s = {.in = at, .key = key, .len = len};
                if (!strchr(part, '/') || get(&s, &at, NULL))
                    break;
                if (!json_is_object(at) && !json_is_array(at))
                    break;
                if (json_is_object(at))
                    *vec_push(&passed) = at;
            }
        }
    }
    if (passed.len)
        qsort(passed.p, passed.len, sizeof *passed.p, by_address);
    for (i = 0; i < passed.len; i++) {
        if (!i || passed.p[i] != passed.p[i - 1])
            value_sort(passed.p[i]);
    }
    vec_done(&passed);
}

int patch_json(const struct patch *patch, const json_t *current, json_t **out,
               struct schema_notes *notes, struct err *err) {
    struct view rest;
    json_t *op;
    size_t i;
    int rc = check_body(patch, notes, err);
    if (rc)
        return rc;
    struct run run = {.root = value_copy(current), .depth = value_depth(current), .err = err};
    bool known = patch->text.p && text_begin(&rest, patch->text);
    json_array_foreach(patch->body, i, op) {
        struct view value = known ? text_next(&rest) : (struct view){0};
        rc = check_strings(op, err);
        if (!rc)
            rc = operate(&run, op, value);
        if (rc) {
            json_decref(run.root);
            return rc;
        }
    }
    put_in_order(&run, patch->body);
    *out = run.root;
    return 0;
}
