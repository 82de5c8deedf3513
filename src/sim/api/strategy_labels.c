/* Labels, annotations and label selectors. */
#include "sim/api/strategy_kinds.h"

enum { ANNOTATIONS_MOST = 256 << 10 }; /* bytes of all keys and values: apimachinery's limit */

void check_labels(struct field_errors *e, const struct at *labels) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)labels->v, key, value) {
        check_name(e, labels, NULL, key, name_label_key);
        check_name(e, labels, NULL, strna(json_string_value(value)), name_label_value);
    }
}

void check_annotations(struct field_errors *e, const struct at *annotations) {
    const char *key;
    json_t *value;
    size_t size = 0;
    json_object_foreach((json_t *)annotations->v, key, value) {
        _cleanup_free_ char *lower = xstrdup(key);
        _cleanup_problems_ struct problems p = PROBLEMS_INIT;
        for (char *c = lower; *c; c++)
            if (*c >= 'A' && *c <= 'Z')
                *c = (char)(*c - 'A' + 'a');
        name_label_key(lower, &p);
        for (size_t i = 0; i < p.v.len; i++)
            bad_string(e, annotations, NULL, key, "%s", p.v.p[i]);
        size += strlen(key) + json_string_length(value);
    }
    if (size > ANNOTATIONS_MOST)
        bad_too_long(e, annotations, NULL, ANNOTATIONS_MOST);
}

static void check_requirement(struct field_errors *e, const struct at *r, bool any_value) {
    const char *op = at_str(r, "operator");
    size_t n = at_len(r, "values");
    if (streq(op, "In") || streq(op, "NotIn")) {
        if (n == 0)
            bad_required(e, r, "values", "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (streq(op, "Exists") || streq(op, "DoesNotExist")) {
        if (n > 0)
            bad_forbidden(e, r, "values",
                          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        _cleanup_json_ json_t *shown = json_string(op);
        bad_value(e, r, "operator", shown, "not a valid selector operator");
    }
    check_name(e, r, "key", at_str(r, "key"), name_label_key);
    struct at values = at_child(r, "values");
    if (!any_value)
        at_each(value, &values)
            check_name(e, &value, NULL, strna(json_string_value(value.v)), name_label_value);
}

void check_label_selector(struct field_errors *e, const struct at *selector, bool any_value) {
    struct at labels = at_child(selector, "matchLabels");
    struct at expressions = at_child(selector, "matchExpressions");
    check_labels(e, &labels);
    at_each(r, &expressions) check_requirement(e, &r, any_value);
}

bool label_selector_valid(const json_t *selector) {
    struct field_errors e = {0};
    struct at at = at_root(selector);
    check_label_selector(&e, &at, false);
    bool valid = e.v.len == 0;
    field_errors_done(&e);
    return valid;
}

static bool requirement_holds(const struct at *r, const json_t *labels) {
    const json_t *label = json_object_get(labels, at_str(r, "key"));
    const char *op = at_str(r, "operator");
    if (streq(op, "Exists"))
        return label;
    if (streq(op, "DoesNotExist"))
        return !label;
    bool found = false;
    struct at values = at_child(r, "values");
    at_each(value, &values) found |= label && json_equal(label, value.v);
    return streq(op, "In") ? found : !found;
}

bool label_selector_matches(const json_t *selector, const json_t *labels) {
    if (!selector)
        return false;
    struct at at = at_root(selector), expressions = at_child(&at, "matchExpressions");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)at_get(&at, "matchLabels"), key, value) {
        const json_t *label = json_object_get(labels, key);
        if (!label || !json_equal(label, value))
            return false;
    }
    at_each(r, &expressions) if (!requirement_holds(&r, labels)) return false;
    return true;
}

bool label_selector_has_bad_value(const json_t *selector) {
    struct at at = at_root(selector), expressions = at_child(&at, "matchExpressions");
    at_each(r, &expressions) {
        struct at values = at_child(&r, "values");
        at_each(value, &values) if (!name_ok(name_label_value,
                                             strna(json_string_value(value.v)))) return true;
    }
    return false;
}
