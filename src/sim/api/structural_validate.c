/* Validating values against a schema, in the words of kube-openapi as the server tells them
 * (kube-openapi pkg/validation/validate; apiextensions-apiserver pkg/apiserver/validation).
 *
 * The counting of matches is Go's, check by check: it decides which alternative of a failed anyOf
 * or oneOf is told of. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "sim/api/structural_number.h"
#include "sim/api/structural_ratchet.h"
#include "sim/api/structural_result.h"
#include "sim/schema/goquote.h"

/* One value against one schema. */
struct visit {
    const struct snode *n;
    const json_t *value;
    const struct spath *path;
    struct ratchet *ratchet; /* where children look for what they were; NULL: nothing was */
    bool as_default, clause; /* judged as a default; a clause of allOf and the like */
    struct vresult *out;
};

static void validate(const struct visit *v);

/* The same value against a clause, or a child against its schema, with a result of its own. */
static struct vresult validate_apart(const struct visit *v, const struct snode *n,
                                     const json_t *value, const struct spath *path,
                                     struct ratchet *ratchet, bool clause) {
    struct vresult result = VRESULT_INIT;
    struct visit sub = {n, value, path, ratchet, v->as_default, clause, &result};
    validate(&sub);
    return result;
}

static void about(const struct visit *v, enum field_error_type type, const char *shown,
                  const char *detail, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static void about(const struct visit *v, enum field_error_type type, const char *shown,
                  const char *detail, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *words = xvasprintf(fmt, ap);
    va_end(ap);
    verror_about(v->out, type, v->path, shown, detail, "%s", words);
}

static void quote(struct str *out, const char *text) {
    goquote(out, text, strlen(text));
}

/* --- type --- */

/* Defaults are judged by what the schema says alone, int-or-string is not looked at. */
static unsigned types_of(const struct visit *v) {
    unsigned known = stype_of(v->n->type);
    if (!v->as_default)
        return v->n->types;
    return known || !*v->n->type ? known : STYPE_OTHER;
}

static const char *words_of(const struct visit *v, unsigned types) {
    return types == STYPE_OTHER ? v->n->type : stype_names(types);
}

static const char *format_of(const struct visit *v) {
    return v->as_default ? v->n->raw_format : v->n->format;
}

static void wrong_type(const struct visit *v, const char *wanted, const char *found) {
    _cleanup_str_ struct str shown = STR_INIT;
    quote(&shown, found);
    about(v, FIELD_TYPE_INVALID, str_get(&shown), NULL, "must be of type %s: %s", wanted,
          str_get(&shown));
}

static enum stype type_of(const json_t *value, const char **format) {
    *format = "";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return STYPE_OBJECT;
    case JSON_ARRAY:
        return STYPE_ARRAY;
    case JSON_STRING:
        return STYPE_STRING;
    case JSON_INTEGER:
        *format = "int64";
        return STYPE_INTEGER;
    case JSON_REAL:
        *format = "float64";
        return STYPE_NUMBER;
    default:
        return STYPE_BOOLEAN;
    }
}

static void check_type(const struct visit *v) {
    unsigned types = types_of(v);
    const char *format = format_of(v), *has_format;
    enum stype type = type_of(v->value, &has_format);
    bool fits = types & type;
    fits |= type == STYPE_NUMBER && (types & STYPE_INTEGER) &&
            number_is_whole(json_real_value(v->value));
    fits |= type == STYPE_INTEGER && (types & STYPE_NUMBER);
    bool text_or_list = type == STYPE_STRING || type == STYPE_ARRAY;
    if (!text_or_list && format && !fits && !streq(format, has_format))
        wrong_type(v, format, has_format);
    else if (!fits && !(text_or_list && format && !(types & (STYPE_NUMBER | STYPE_INTEGER))))
        wrong_type(v, words_of(v, types), stype_names(type));
    else
        v->out->matches++;
}

/* --- allOf, anyOf, oneOf, not --- */

static void composite(const struct visit *v, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* `"<path>" must ...`, about no field. */
static void composite(const struct visit *v, const char *fmt, ...) {
    _cleanup_str_ struct str path = STR_INIT, quoted = STR_INIT;
    va_list ap;
    vpath_print(&path, v->path);
    quote(&quoted, str_get(&path));
    va_start(ap, fmt);
    _cleanup_free_ char *words = xvasprintf(fmt, ap);
    va_end(ap);
    verror_plain(v->out, "%s %s", str_get(&quoted), words);
}

static struct vresult validate_clause(const struct visit *v, const struct snode *clause) {
    return validate_apart(v, clause, v->value, v->path, v->ratchet, true);
}

/* Keeps the failure with more matches; the first of equals. */
static void keep_better(struct vresult *best, bool *has_best, struct vresult *next) {
    if (*has_best && next->matches <= best->matches) {
        vresult_done(next);
        return;
    }
    vresult_done(best);
    *best = *next;
    *has_best = true;
}

static void check_any_of(const struct visit *v) {
    struct vresult best = VRESULT_INIT;
    bool has_best = false, valid = false;
    for (size_t i = 0; i < v->n->any_of.len && !valid; i++) {
        struct vresult result = validate_clause(v, v->n->any_of.p[i]);
        valid = vresult_ok(&result);
        if (valid) {
            vresult_done(&best);
            best = result;
        } else {
            keep_better(&best, &has_best, &result);
        }
    }
    if (!valid)
        composite(v, "must validate at least one schema (anyOf)");
    vresult_merge(v->out, &best);
}

static void check_one_of(const struct visit *v) {
    struct vresult best = VRESULT_INIT;
    bool has_best = false;
    size_t valid = 0;
    for (size_t i = 0; i < v->n->one_of.len; i++) {
        struct vresult result = validate_clause(v, v->n->one_of.p[i]);
        if (vresult_ok(&result)) {
            if (!valid++) {
                vresult_done(&best);
                best = result;
            }
        } else if (valid) {
            vresult_done(&result);
        } else {
            keep_better(&best, &has_best, &result);
        }
    }
    if (!valid)
        composite(v, "must validate one and only one schema (oneOf). Found none valid");
    else if (valid > 1)
        composite(v, "must validate one and only one schema (oneOf). Found %zu valid alternatives",
                  valid);
    if (valid <= 1)
        vresult_merge(v->out, &best);
    vresult_done(&best);
}

static void check_all_of(const struct visit *v) {
    size_t valid = 0;
    for (size_t i = 0; i < v->n->all_of.len; i++) {
        struct vresult result = validate_clause(v, v->n->all_of.p[i]);
        valid += vresult_ok(&result);
        vresult_merge(v->out, &result);
    }
    if (valid != v->n->all_of.len)
        composite(v, "must validate all the schemas (allOf)%s", valid ? "" : ". None validated");
}

static void check_clauses(const struct visit *v) {
    const struct snode *n = v->n;
    if (n->any_of.len)
        check_any_of(v);
    if (n->one_of.len)
        check_one_of(v);
    if (n->all_of.len)
        check_all_of(v);
    if (n->not_of) {
        struct vresult result = validate_clause(v, n->not_of);
        if (vresult_ok(&result))
            composite(v, "must not validate the schema (not)");
        vresult_done(&result);
    }
    v->out->matches++;
}

/* --- texts --- */

static int64_t count_characters(const json_t *text) {
    const char *s = json_string_value(text);
    int64_t n = 0;
    for (size_t i = 0; i < json_string_length(text); i++)
        n += (s[i] & 0xc0) != 0x80;
    return n;
}

/* The first thing that is wrong is enough. */
static void check_text(const struct visit *v) {
    const struct snode *n = v->n;
    int64_t len = count_characters(v->value);
    _cleanup_str_ struct str shown = STR_INIT;
    goquote(&shown, json_string_value(v->value), json_string_length(v->value));
    if (n->max_length.set && len > n->max_length.value) {
        int64_t max = n->max_length.value;
        _cleanup_free_ char *detail = max < 0 ? xstrdup("value is too long")
                                              : xasprintf("may not be more than %" PRId64 " byte%s",
                                                          max, max == 1 ? "" : "s");
        about(v, FIELD_TOO_LONG, NULL, detail, "should be at most %" PRId64 " chars long", max);
        return;
    }
    if (n->min_length.set && len < n->min_length.value) {
        about(v, FIELD_INVALID, str_get(&shown), NULL, "should be at least %" PRId64 " chars long",
              n->min_length.value);
        return;
    }
    if (!n->matcher)
        return;
    int rc = pattern_match(
        n->matcher, (struct view){json_string_value(v->value), json_string_length(v->value)});
    if (rc < 0)
        about(v, FIELD_INVALID, str_get(&shown), NULL,
              "should match '%s', but finding out takes too long", n->pattern);
    else if (!rc)
        about(v, FIELD_INVALID, str_get(&shown), NULL, "should match '%s'", n->pattern);
}

static void check_format(const struct visit *v, const char *format) {
    const char *text = json_string_value(v->value);
    if (!format_matches(format, text, json_string_length(v->value)))
        wrong_type(v, format, text);
}

/* --- numbers --- */

static void check_number(const struct visit *v) {
    unsigned types = types_of(v), single = 0;
    const char *format = format_of(v);
    if (types == STYPE_INTEGER) {
        single = types;
        if (format && !streq(format, "int32") && !streq(format, "int64"))
            format = NULL;
    } else if (types == STYPE_NUMBER) {
        single = types;
        if (format && !streq(format, "float") && !streq(format, "double"))
            format = NULL;
    }
    number_validate(v->n, single, single ? format : NULL, v->value, v->path, v->out);
}

/* --- children --- */

static bool is_type_meta(const char *key) {
    return streq(key, "kind") || streq(key, "apiVersion");
}

/* With a counterpart in the old object the child may be wrong in the way it was. What is judged is
 * then the counterpart's value, as in the server, whose matching can be off where something new
 * contains names of the level above. */
static void validate_matched(const struct visit *v, const struct snode *n, struct ratchet *child,
                             const struct spath *path) {
    struct vresult result = validate_apart(v, n, child->value, path, child, v->clause);
    if (!vresult_ok(&result) && ratchet_unchanged(child))
        vresult_forgive(&result);
    vresult_merge(v->out, &result);
    ratchet_done(child);
}

static void validate_child(const struct visit *v, const struct snode *n, const json_t *value,
                           const struct spath *path) {
    struct vresult result = validate_apart(v, n, value, path, v->ratchet, v->clause);
    vresult_merge(v->out, &result);
}

static void validate_member(const struct visit *v, const struct snode *n, const char *key,
                            const json_t *value, const struct spath *path) {
    struct ratchet child;
    if (v->ratchet && !(v->ratchet->root && is_type_meta(key)) &&
        ratchet_key(v->ratchet, key, &child))
        validate_matched(v, n, &child, path);
    else
        validate_child(v, n, value, path);
}

static void validate_item(const struct visit *v, size_t i) {
    struct ratchet child;
    const struct spath *path = SPATH_AT(v->path, i);
    if (v->ratchet && ratchet_index(v->ratchet, i, &child))
        validate_matched(v, v->n->items, &child, path);
    else
        validate_child(v, v->n->items, json_array_get(v->value, i), path);
}

/* --- lists and objects --- */

static void too_many(const struct visit *v, int64_t count, int64_t max, const char *what) {
    char shown[24];
    snprintf(shown, sizeof shown, "%" PRId64, count);
    _cleanup_free_ char *detail =
        max < 0 ? xstrdup("has too many items")
                : xasprintf("must have at most %" PRId64 " item%s", max, max == 1 ? "" : "s");
    about(v, FIELD_TOO_MANY, shown, detail, "should have at most %" PRId64 " %s", max, what);
}

static void too_few(const struct visit *v, int64_t count, int64_t min, const char *what) {
    char shown[24];
    snprintf(shown, sizeof shown, "%" PRId64, count);
    about(v, FIELD_INVALID, shown, NULL, "should have at least %" PRId64 " %s", min, what);
}

static void check_list(const struct visit *v) {
    const struct snode *n = v->n;
    int64_t count = (int64_t)json_array_size(v->value);
    for (size_t i = 0; i < (size_t)count && n->items; i++)
        validate_item(v, i);
    if (n->min_items.set && count < n->min_items.value)
        too_few(v, count, n->min_items.value, "items");
    if (n->max_items.set && count > n->max_items.value)
        too_many(v, count, n->max_items.value, "items");
    v->out->matches++;
}

static void check_additional(const struct visit *v) {
    const struct snode *n = v->n;
    const char *key;
    json_t *member;
    /* The server loses the keyword in the clauses of a schema that it judges defaults by. */
    if (!n->has_additional || (v->as_default && v->clause))
        return;
    json_object_foreach((json_t *)v->value, key, member) {
        if (snode_property(n, key))
            continue;
        if (n->additional) {
            validate_member(v, n->additional, key, member, SPATH_KEYED(v->path, key));
        } else if (!n->allows_additional) {
            struct str path = STR_INIT, shown = STR_INIT;
            vpath_print(&path, v->path);
            quote(&shown, key);
            char *words = xasprintf("%s.%s in body is a forbidden property", str_get(&path), key);
            vresult_add(v->out, (struct verror){FIELD_INVALID, str_take(&path), str_take(&shown),
                                                xstrdup(words), words});
        }
    }
}

static void check_object(const struct visit *v) {
    const struct snode *n = v->n;
    int64_t count = (int64_t)json_object_size(v->value);
    if (n->min_properties.set && count < n->min_properties.value)
        too_few(v, count, n->min_properties.value, "properties");
    if (n->max_properties.set && count > n->max_properties.value)
        too_many(v, count, n->max_properties.value, "properties");
    check_additional(v);
    for (size_t i = 0; i < n->n_properties; i++) {
        const struct sproperty *p = &n->properties[i];
        const json_t *member = json_object_get(v->value, p->name);
        if (member)
            validate_member(v, p->node, p->name, member, SPATH_CHILD(v->path, p->name));
    }
    for (size_t i = 0; i < json_array_size(n->required); i++) {
        const char *name = strna(json_string_value(json_array_get(n->required, i)));
        if (!json_object_get(v->value, name))
            verror_about(v->out, FIELD_REQUIRED, SPATH_KEYED(v->path, name), NULL, "",
                         "is required");
    }
}

/* --- enum --- */

/* An integer counts as the character of that number where a text is wanted: Go converts it so. */
static bool is_character(int64_t number, const char *text) {
    struct view v = view_of(text);
    size_t len = utf8_len(v.p, v.len);
    if (!len || len != v.len)
        return false;
    bool possible = number >= 0 && number <= 0x10ffff && !(number >= 0xd800 && number <= 0xdfff);
    return utf8_decode(v.p, len) == (possible ? (uint32_t)number : 0xfffd);
}

static bool is_choice(const json_t *value, const json_t *choice) {
    if (json_is_integer(value) && json_is_real(choice))
        return (double)json_integer_value(value) == json_real_value(choice);
    if (json_is_real(value) && json_is_integer(choice))
        return number_to_int(json_real_value(value)) == json_integer_value(choice);
    if (json_is_integer(value) && json_is_string(choice))
        return is_character(json_integer_value(value), json_string_value(choice));
    return !json_is_null(value) && json_equal(value, choice);
}

static void check_choices(const struct visit *v) {
    const json_t *choices = v->n->choices;
    if (!choices)
        return;
    for (size_t i = 0; i < json_array_size(choices); i++)
        if (is_choice(v->value, json_array_get(choices, i)))
            return;
    _cleanup_str_ struct str shown = STR_INIT, detail = STR_INIT;
    structural_show(&shown, v->value);
    str_add(&detail, "supported values: ");
    for (size_t i = 0; i < json_array_size(choices); i++) {
        const json_t *choice = json_array_get(choices, i);
        _cleanup_str_ struct str text = STR_INIT;
        if (json_is_string(choice))
            str_add(&text, json_string_value(choice));
        else
            structural_show_json(&text, choice);
        str_add(&detail, i ? ", " : "");
        quote(&detail, str_get(&text));
    }
    about(v, FIELD_NOT_SUPPORTED, str_get(&shown), str_get(&detail), "should be one of %s",
          str_get(&detail));
}

/* --- the whole --- */

static void validate_null(const struct visit *v) {
    unsigned types = types_of(v);
    if (types && !v->n->nullable)
        wrong_type(v, words_of(v, types), "null");
    else
        v->out->matches++;
    check_choices(v);
}

static void validate(const struct visit *v) {
    const char *format = format_of(v);
    if (json_is_null(v->value)) {
        validate_null(v);
        return;
    }
    if (types_of(v) || format) {
        check_type(v);
        v->out->matches++;
    }
    check_clauses(v);
    v->out->matches++;
    if (json_is_string(v->value)) {
        check_text(v);
        v->out->matches++;
        if (format && format_known(format)) {
            check_format(v, format);
            v->out->matches++;
        }
    } else if (json_is_number(v->value)) {
        check_number(v);
        v->out->matches++;
    } else if (json_is_array(v->value)) {
        check_list(v);
        v->out->matches++;
    }
    check_choices(v);
    v->out->matches++;
    if (json_is_object(v->value)) {
        check_object(v);
        v->out->matches++;
    }
    v->out->matches++;
}

static void validate_whole(const struct snode *n, const json_t *value, struct ratchet *ratchet,
                           bool as_default, const struct spath *path, struct field_errors *e) {
    struct vresult result = VRESULT_INIT;
    struct visit v = {n, value, NULL, ratchet, as_default, false, &result};
    validate(&v);
    if (vresult_ok(&result) || !ratchet || !ratchet_unchanged(ratchet))
        vresult_report(&result, path, e);
    vresult_done(&result);
}

void snode_validate_default(const struct snode *n, const json_t *value, const struct spath *path,
                            struct field_errors *e) {
    validate_whole(n, value, NULL, true, path, e);
}

void structural_validate(const struct structural *s, const json_t *obj, const json_t *old,
                         struct field_errors *e) {
    struct ratchet ratchet = RATCHET(s->root, obj, old);
    ratchet.root = true;
    validate_whole(s->root, obj, old ? &ratchet : NULL, false, NULL, e);
    ratchet_done(&ratchet);
}

void structural_validate_status(const struct structural *s, const json_t *obj, const json_t *old,
                                struct field_errors *e) {
    const struct snode *n = snode_property(s->root, "status");
    const json_t *status = json_object_get(obj, "status");
    if (!n || !status)
        return;
    struct ratchet ratchet = RATCHET(n, status, json_object_get(old, "status"));
    ratchet.root = true;
    validate_whole(n, status, &ratchet, false, SPATH_CHILD(NULL, "status"), e);
    ratchet_done(&ratchet);
}

void structural_note_rules(const struct structural *s, size_t from, struct field_errors *e) {
    bool blocked = false;
    for (size_t i = from; i < e->v.len; i++) {
        enum field_error_type t = e->v.p[i].type;
        blocked |= t == FIELD_NOT_SUPPORTED || t == FIELD_REQUIRED || t == FIELD_TOO_LONG ||
                   t == FIELD_TOO_MANY || t == FIELD_TYPE_INVALID;
    }
    if (s->has_rules && blocked)
        field_error_shown(e, FIELD_INVALID, "<nil>", "null",
                          "some validation rules were not checked because the object was invalid; "
                          "correct the existing errors to complete validation");
}
