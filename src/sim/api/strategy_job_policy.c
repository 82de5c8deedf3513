/* When a Job has failed or succeeded: its policies, and lists of indexes. */
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

static void add_quoted_list(struct str *out, const char *const *values) {
    for (size_t i = 0; values[i]; i++)
        str_addf(out, "%s\"%s\"", i ? " " : "[", values[i]);
    str_addc(out, ']');
}

/* Required where nothing is said, with the list as Go prints it. */
static void check_listed(struct field_errors *e, const struct at *at, const char *key,
                         const char *const *values) {
    if (*at_str(at, key)) {
        check_one_of(e, at, key, values);
        return;
    }
    _cleanup_str_ struct str detail = STR_INIT;
    str_add(&detail, "valid values: ");
    add_quoted_list(&detail, values);
    bad_required(e, at, key, str_get(&detail));
}

static bool has_container(const struct at *pod, const char *name) {
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct at list = at_child(pod, lists[i]);
        at_each(c, &list) if (streq(at_str(&c, "name"), name)) return true;
    }
    return false;
}

static void check_exit_codes(struct field_errors *e, const struct at *codes, const struct at *pod) {
    static const char *const operators[] = {"In", "NotIn", NULL};
    struct at values = at_child(codes, "values");
    size_t n = json_array_size(values.v);
    bool in = streq(at_str(codes, "operator"), "In"), ordered = true;
    check_listed(e, codes, "operator", operators);
    if (at_has(codes, "containerName") && !has_container(pod, at_str(codes, "containerName")))
        bad_string(e, codes, "containerName", at_str(codes, "containerName"),
                   "must be one of the container or initContainer names in the pod template");
    if (n == 0)
        bad_value(e, &values, NULL, values.v, "at least one value is required");
    else if (n > 255)
        bad_too_many(e, &values, NULL, n, 255);
    _cleanup_json_ json_t *seen = json_object();
    at_each(value, &values) {
        int64_t code = json_integer_value(value.v);
        if (in && code == 0)
            bad_int(e, &value, NULL, code, "must not be 0 for the In operator");
        if (seen_before(seen, value.v)) {
            _cleanup_str_ struct str path = STR_INIT;
            at_path(&value, NULL, &path);
            field_error(e, FIELD_DUPLICATE, str_get(&path), value.v, "%s", "");
        }
        ordered &= value.index == 0 ||
                   json_integer_value(json_array_get(values.v, value.index - 1)) <= code;
    }
    if (!ordered)
        bad_value(e, &values, NULL, values.v, "must be ordered");
}

static void check_pod_conditions(struct field_errors *e, const struct at *conditions) {
    static const char *const statuses[] = {"False", "True", "Unknown", NULL};
    size_t n = json_array_size(conditions->v);
    if (n > 20)
        bad_too_many(e, conditions, NULL, n, 20);
    at_each(pattern, conditions) {
        check_name(e, &pattern, "type", at_str(&pattern, "type"), name_label_key);
        check_listed(e, &pattern, "status", statuses);
    }
}

void check_failure_policy(struct field_errors *e, const struct at *spec) {
    static const char *const actions[] = {"Count", "FailIndex", "FailJob", "Ignore", NULL};
    struct at policy = at_child(spec, "podFailurePolicy"), rules = at_child(&policy, "rules");
    struct at tmpl = at_child(spec, "template"), pod = at_child(&tmpl, "spec");
    size_t n = json_array_size(rules.v);
    if (!policy.v)
        return;
    if (n > 20)
        bad_too_many(e, &rules, NULL, n, 20);
    at_each(rule, &rules) {
        struct at codes = at_child(&rule, "onExitCodes");
        struct at conditions = at_child(&rule, "onPodConditions");
        if (streq(at_str(&rule, "action"), "FailIndex")) {
            if (!at_has(spec, "backoffLimitPerIndex"))
                bad_string(e, &rule, "action", "FailIndex",
                           "requires the backoffLimitPerIndex to be set");
        } else {
            check_listed(e, &rule, "action", actions);
        }
        if (codes.v)
            check_exit_codes(e, &codes, &pod);
        if (json_array_size(conditions.v))
            check_pod_conditions(e, &conditions);
        if (codes.v && json_array_size(conditions.v))
            bad_omitted(e, &rule, NULL,
                        "specifying both OnExitCodes and OnPodConditions is not supported");
        if (!codes.v && !json_array_size(conditions.v))
            bad_omitted(e, &rule, NULL,
                        "specifying one of OnExitCodes and OnPodConditions is required");
    }
}

int64_t count_indexes(const char *text, int64_t completions, struct str *why) {
    int64_t total = 0, last = -1;
    if (!*text)
        return 0;
    for (const char *p = text;;) {
        _cleanup_free_ char *interval = xstrndup(p, strcspn(p, ","));
        char *dash = strchr(interval, '-');
        if (dash && strchr(dash + 1, '-')) {
            str_addf(why,
                     "the fragment \"%s\" violates the requirement that an index interval can have "
                     "at most two parts separated by '-'",
                     interval);
            return -1;
        }
        int64_t ends[2];
        for (int i = 0; i < 2; i++) {
            const char *part = i && dash ? dash + 1 : interval;
            if (!i && dash)
                *dash = '\0';
            const char *number = part + (*part == '+'); /* Go takes a sign */
            size_t digits = strspn(number, "0123456789");
            if (digits == 0 || number[digits] || digits > 18) {
                str_addf(why, "cannot convert string to integer for index: \"%s\"", part);
                return -1;
            }
            ends[i] = strtoll(number, NULL, 10);
            if (ends[i] >= completions) {
                str_addf(why, "too large index: \"%s\"", part);
                return -1;
            }
        }
        if ((dash && ends[0] >= ends[1]) || last >= ends[0]) {
            bool inner = dash && ends[0] >= ends[1];
            str_addf(why, "non-increasing order, previous: %" PRId64 ", current: %" PRId64,
                     inner ? ends[0] : last, inner ? ends[1] : ends[0]);
            return -1;
        }
        total += ends[1] - ends[0] + 1;
        last = ends[1];
        p += strcspn(p, ",");
        if (!*p)
            return total;
        p++;
    }
}

void check_success_policy(struct field_errors *e, const struct at *spec, bool indexed) {
    enum { INDEXES_MOST = 64 * 1024 };
    struct at policy = at_child(spec, "successPolicy"), rules = at_child(&policy, "rules");
    int64_t completions = at_int(spec, "completions");
    size_t n = json_array_size(rules.v);
    if (!policy.v)
        return;
    if (!indexed) {
        bad_struct(e, &policy, NULL, &go_success_policy, policy.v, NULL,
                   "requires indexed completion mode");
        return;
    }
    if (n == 0)
        bad_required(e, &rules, NULL,
                     "at least one rules must be specified when the successPolicy is specified");
    if (n > 20)
        bad_too_many(e, &rules, NULL, n, 20);
    at_each(rule, &rules) {
        const char *indexes = at_str(&rule, "succeededIndexes");
        bool has_indexes = at_has(&rule, "succeededIndexes");
        int64_t count = at_int(&rule, "succeededCount"), total = 0;
        _cleanup_str_ struct str why = STR_INIT;
        if (!has_indexes && !at_has(&rule, "succeededCount"))
            bad_required(e, &rule, NULL,
                         "at least one of succeededCount or succeededIndexes must be specified");
        if (strlen(indexes) > INDEXES_MOST)
            bad_too_long(e, &rule, "succeededIndexes", INDEXES_MOST);
        if (has_indexes && (total = count_indexes(indexes, completions, &why)) < 0) {
            bad_string(e, &rule, "succeededIndexes", indexes, "error parsing succeededIndexes: %s",
                       str_get(&why));
            total = 0;
        }
        check_not_negative(e, &rule, "succeededCount");
        if (count > completions)
            bad_int(e, &rule, "succeededCount", count,
                    "must be less than or equal to %" PRId64
                    " (the number of specified completions)",
                    completions);
        if (has_indexes && at_has(&rule, "succeededCount") && count > total)
            bad_int(e, &rule, "succeededCount", count,
                    "must be less than or equal to %" PRId64
                    " (the number of indexes in the specified succeededIndexes field)",
                    total);
    }
}
