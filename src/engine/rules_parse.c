/* Reading drain rules. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/timefmt.h"
#include "base/utf8.h"
#include "base/yamlread.h"
#include "engine/rules_internal.h"
#include "model/selector.h"

#define API_VERSION "slipway.dev/v1alpha1"
#define KIND        "DrainRules"

enum {
    RULES_MAX = 1000,    /* each pod is compared with all of them */
    PATTERNS_MAX = 1000, /* namespaces or owners of a rule */
    NAME_LEN = 100,      /* of a rule: it is shown in messages */
    GLOB_LEN = 253,
};
#define TIME_MAX SEC(86400 * 365)

/* A file while it is read. */
struct reader {
    const struct yaml_doc *doc;
    struct rules *rules;
    struct err *err;
};

/* --- the keys of the file --- */

struct top_keys {
    char *api_version, *kind, *marks;
    const json_t *rules;
};
static const struct yaml_field top_fields[] = {
    YAML_FIELD("apiVersion", YAML_T_STR, struct top_keys, api_version, .required = true),
    YAML_FIELD("kind", YAML_T_STR, struct top_keys, kind, .required = true),
    YAML_FIELD("marks", YAML_T_STR, struct top_keys, marks),
    YAML_FIELD("rules", YAML_T_LIST, struct top_keys, rules),
};

struct rule_keys {
    char *name, *action, *marks;
    const json_t *match, *grace, *deadline, *escalate;
    int64_t order;
};
static const struct yaml_field rule_fields[] = {
    YAML_FIELD("name", YAML_T_STR, struct rule_keys, name, .required = true),
    YAML_FIELD("match", YAML_T_OBJECT, struct rule_keys, match),
    YAML_FIELD("order", YAML_T_INT, struct rule_keys, order, .min = INT32_MIN, .max = INT32_MAX),
    YAML_FIELD("action", YAML_T_STR, struct rule_keys, action),
    YAML_FIELD("grace", YAML_T_ANY, struct rule_keys, grace),
    YAML_FIELD("deadline", YAML_T_ANY, struct rule_keys, deadline),
    YAML_FIELD("escalate", YAML_T_LIST, struct rule_keys, escalate),
    YAML_FIELD("marks", YAML_T_STR, struct rule_keys, marks),
};

struct match_keys {
    char **namespaces, **owners;
    const json_t *labels, *priority;
};
static const struct yaml_field match_fields[] = {
    YAML_FIELD("namespaces", YAML_T_STRS, struct match_keys, namespaces),
    YAML_FIELD("labels", YAML_T_OBJECT, struct match_keys, labels),
    YAML_FIELD("owners", YAML_T_STRS, struct match_keys, owners),
    YAML_FIELD("priority", YAML_T_OBJECT, struct match_keys, priority),
};

struct label_keys {
    const json_t *labels, *exprs;
};
static const struct yaml_field label_fields[] = {
    YAML_FIELD("matchLabels", YAML_T_OBJECT, struct label_keys, labels),
    YAML_FIELD("matchExpressions", YAML_T_LIST, struct label_keys, exprs),
};

struct expr_keys {
    char *key, *op, **values;
};
static const struct yaml_field expr_fields[] = {
    YAML_FIELD("key", YAML_T_STR, struct expr_keys, key, .required = true),
    YAML_FIELD("operator", YAML_T_STR, struct expr_keys, op, .required = true),
    YAML_FIELD("values", YAML_T_STRS, struct expr_keys, values),
};

static const struct yaml_field priority_fields[] = {
    YAML_FIELD("min", YAML_T_INT, struct rule, min_priority, .min = INT32_MIN, .max = INT32_MAX),
    YAML_FIELD("max", YAML_T_INT, struct rule, max_priority, .min = INT32_MIN, .max = INT32_MAX),
};

struct step_keys {
    const json_t *after;
    char *to;
};
static const struct yaml_field step_fields[] = {
    YAML_FIELD("after", YAML_T_ANY, struct step_keys, after, .required = true),
    YAML_FIELD("to", YAML_T_STR, struct step_keys, to, .required = true),
};

/* --- words and times --- */

/* The number of the word among `words`. */
static int read_word(struct reader *r, const json_t *obj, const char *key, const char *what,
                     const char *word, const char *const *words, size_t n, size_t *out) {
    for (size_t i = 0; i < n; i++) {
        if (streq(words[i], word)) {
            *out = i;
            return 0;
        }
    }
    return yaml_bad_word(r->doc, yaml_value_pos(r->doc, obj, key), what, word, words, n, r->err);
}

static int read_marks(struct reader *r, const json_t *obj, const char *word, bool *honour) {
    static const char *const words[] = {"honour", "ignore"};
    size_t i = 0;
    int rc = read_word(r, obj, "marks", "value of marks", word, words, ARRAY_LEN(words), &i);
    if (!rc)
        *honour = i == 0;
    return rc;
}

/* "5m", or a number of seconds. */
static int read_time(struct reader *r, const json_t *obj, const char *key, const json_t *value,
                     int64_t min, int64_t *out) {
    _cleanup_err_ struct err why = ERR_INIT;
    struct yaml_pos pos = yaml_value_pos(r->doc, obj, key);
    int64_t time = 0;
    char least[TIMEFMT_LEN];
    if (json_is_string(value)) {
        _cleanup_str_ struct str shown = STR_INIT;
        utf8_printable(&shown, json_string_value(value));
        if (duration_parse(str_get(&shown), &time, &why))
            return yaml_err(r->doc, pos, r->err, "%s: %s", key, err_msg(&why));
    } else if (json_is_integer(value)) {
        int64_t n = json_integer_value(value);
        time = n < 0 ? -1 : n > TIME_MAX / USEC_PER_SEC ? INT64_MAX : SEC(n);
    } else {
        return yaml_err(r->doc, pos, r->err,
                        "%s must be a duration such as 30s, 5m or 1h30m, not %s", key,
                        json_type_words(value));
    }
    if (time < min || time > TIME_MAX)
        return yaml_err(r->doc, pos, r->err, "%s must be between %s and a year", key,
                        duration_format(min, least));
    *out = time;
    return 0;
}

/* --- match: namespaces and owners --- */

static int count(struct reader *r, const json_t *match, const char *key, char *const *list) {
    size_t n = 0;
    while (list[n])
        n++;
    if (n && n <= PATTERNS_MAX)
        return 0;
    return yaml_err(r->doc, yaml_value_pos(r->doc, match, key), r->err,
                    n ? "%s are more than %d"
                      : "%s is an empty list, which matches nothing: leave "
                        "it out to match all",
                    key, PATTERNS_MAX);
}

/* A pattern that no namespace can have is a slip that would go unnoticed. */
static int check_namespaces(struct reader *r, const json_t *match, char *const *list) {
    const json_t *items = json_object_get(match, "namespaces");
    int rc = count(r, match, "namespaces", list);
    for (size_t i = 0; !rc && list[i]; i++) {
        const char *s = list[i];
        size_t len = strlen(s);
        if (len && len <= GLOB_LEN && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-*?") == len)
            continue;
        _cleanup_str_ struct str shown = STR_INIT;
        utf8_printable(&shown, s);
        rc = yaml_err(r->doc, yaml_item_pos(r->doc, items, i), r->err,
                      "no namespace can match \"%.80s\": write its name, which has a-z, 0-9 and "
                      "\"-\", or a pattern with \"*\" (anything) and \"?\" (one character)",
                      str_get(&shown));
    }
    return rc;
}

/* What people write for the owner of a pod, and what it is. */
static const struct {
    const char *written, *is;
} indirect[] = {{"Deployment", "ReplicaSet"}, {"CronJob", "Job"}};

static int check_owner(struct reader *r, struct yaml_pos pos, const char *kind) {
    /* The kinds that Kubernetes itself has for it; any other is somebody's own. */
    static const char *const usual[] = {"ReplicaSet", "StatefulSet",           "DaemonSet",
                                        "Job",        "ReplicationController", RULES_BARE};
    static const char *const letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t len = strlen(kind);
    for (size_t i = 0; i < ARRAY_LEN(indirect); i++)
        if (streq(kind, indirect[i].written))
            return yaml_err(r->doc, pos, r->err,
                            "no pod is owned by a %s itself: its pods belong to a %s, write \"%s\"",
                            kind, indirect[i].is, indirect[i].is);
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (streq(kind, usual[i]))
            return 0;
    const char *near = suggest_nearest(kind, usual, ARRAY_LEN(usual));
    /* Short kinds have neighbours that may well exist. */
    bool typo = near && suggest_distance(kind, near) <= (strlen(near) > 5 ? SUGGEST_MAX : 0);
    if (!typo && len && len <= 63 && *kind >= 'A' && *kind <= 'Z' && strspn(kind, letters) == len)
        return 0;
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, kind);
    if (typo)
        return yaml_err(r->doc, pos, r->err, "\"%s\" is no kind of owner; did you mean \"%s\"?",
                        str_get(&shown), near);
    return yaml_err(
        r->doc, pos, r->err,
        "\"%.80s\" is no kind of owner: write a kind such as StatefulSet, or " RULES_BARE
        " for pods without an owner",
        str_get(&shown));
}

static int check_owners(struct reader *r, const json_t *match, char *const *list) {
    const json_t *items = json_object_get(match, "owners");
    int rc = count(r, match, "owners", list);
    for (size_t i = 0; !rc && list[i]; i++)
        rc = check_owner(r, yaml_item_pos(r->doc, items, i), list[i]);
    return rc;
}

/* --- match: labels --- */

static const char *intern(struct reader *r, const char *s) {
    return pool_str(r->rules->pool, s, strlen(s));
}

static int compare_pairs(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return strcmp(strna(x->key), strna(y->key));
}

static int read_label_map(struct reader *r, const json_t *map, const struct pair **out) {
    VEC(struct pair) pairs = VEC_INIT;
    const char *key;
    json_t *value;
    int rc = 0;
    json_object_foreach((json_t *)(uintptr_t)map, key, value) {
        struct yaml_pos pos = yaml_value_pos(r->doc, map, key);
        const char *text = json_string_value(value);
        const char *problem = label_key_problem(view_of(key));
        _cleanup_str_ struct str shown = STR_INIT;
        utf8_printable(&shown, problem ? key : strna(text));
        if (problem) {
            rc = yaml_err(r->doc, yaml_key_pos(r->doc, map, key), r->err,
                          "matchLabels: \"%.80s\" is no label key: %s", str_get(&shown), problem);
        } else if (!text) {
            bool scalar = json_is_number(value) || json_is_boolean(value);
            rc = yaml_err(r->doc, pos, r->err, "matchLabels: %s must be a string, not %s%s", key,
                          json_type_words(value), scalar ? ": put it in quotes" : "");
        } else if ((problem = label_value_problem(view_of(text)))) {
            rc = yaml_err(r->doc, pos, r->err, "matchLabels: \"%.80s\" is no label value: %s",
                          str_get(&shown), problem);
        }
        if (rc)
            break;
        *vec_push(&pairs) = (struct pair){intern(r, key), intern(r, text)};
    }
    if (!rc && pairs.len) {
        qsort(pairs.p, pairs.len, sizeof *pairs.p, compare_pairs);
        *out = pool_blob(r->rules->pool, &type_pair, pairs.p, pairs.len * sizeof *pairs.p);
    }
    vec_done(&pairs);
    return rc;
}

static int read_expr(struct reader *r, const json_t *item, struct yaml_pos pos,
                     struct requirement *out) {
    static const char *const ops[] = {"In", "NotIn", "Exists", "DoesNotExist"};
    _cleanup_err_ struct err why = ERR_INIT;
    struct expr_keys k = {0};
    VEC(const char *) values = VEC_INIT;
    size_t op = 0;
    int rc =
        yaml_read(r->doc, item, pos, "expression", expr_fields, ARRAY_LEN(expr_fields), &k, r->err);
    if (!rc)
        rc = read_word(r, item, "operator", "operator", k.op, ops, ARRAY_LEN(ops), &op);
    if (!rc) {
        for (char **v = k.values; v && *v; v++)
            *vec_push(&values) = intern(r, *v);
        *out = (struct requirement){.key = intern(r, k.key), .op = ops[op]};
        if (values.len)
            out->values =
                pool_blob(r->rules->pool, &type_strs, values.p, values.len * sizeof *values.p);
        if (requirement_check(out, &why)) {
            _cleanup_str_ struct str shown = STR_INIT;
            utf8_printable(&shown, err_msg(&why));
            rc = yaml_err(r->doc, pos, r->err, "%s", str_get(&shown));
        }
    }
    vec_done(&values);
    free(k.key);
    free(k.op);
    yaml_strs_free(k.values);
    return rc;
}

static int read_labels(struct reader *r, const json_t *obj, struct yaml_pos pos,
                       struct rule *rule) {
    struct label_keys k = {0};
    VEC(struct requirement) exprs = VEC_INIT;
    int rc =
        yaml_read(r->doc, obj, pos, "labels", label_fields, ARRAY_LEN(label_fields), &k, r->err);
    if (!rc && k.labels)
        rc = read_label_map(r, k.labels, &rule->labels.labels);
    for (size_t i = 0; !rc && i < json_array_size(k.exprs); i++)
        rc = read_expr(r, json_array_get(k.exprs, i), yaml_item_pos(r->doc, k.exprs, i),
                       vec_push(&exprs));
    if (!rc && exprs.len)
        rule->labels.exprs =
            pool_blob(r->rules->pool, expr_fields, exprs.p, exprs.len * sizeof *exprs.p);
    rule->has_labels = true;
    vec_done(&exprs);
    return rc;
}

static int read_match(struct reader *r, const json_t *match, struct yaml_pos pos,
                      struct rule *rule) {
    struct match_keys k = {0};
    int rc =
        yaml_read(r->doc, match, pos, "match", match_fields, ARRAY_LEN(match_fields), &k, r->err);
    rule->namespaces = k.namespaces;
    rule->owners = k.owners;
    if (!rc && k.namespaces)
        rc = check_namespaces(r, match, k.namespaces);
    if (!rc && k.owners)
        rc = check_owners(r, match, k.owners);
    if (!rc && k.labels)
        rc = read_labels(r, k.labels, yaml_value_pos(r->doc, match, "labels"), rule);
    if (!rc && k.priority) {
        pos = yaml_value_pos(r->doc, match, "priority");
        rc = yaml_read(r->doc, k.priority, pos, "priority", priority_fields,
                       ARRAY_LEN(priority_fields), rule, r->err);
        if (!rc && rule->min_priority > rule->max_priority)
            rc =
                yaml_err(r->doc, pos, r->err, "priority: min is greater than max: nothing matches");
    }
    return rc;
}

/* --- what is done --- */

static int read_step(struct reader *r, const json_t *item, struct yaml_pos pos,
                     struct rule_verdict *v) {
    static const char *const words[] = {"delete", "force"};
    struct step_keys k = {0};
    int64_t after = 0;
    size_t to = 0;
    int rc = yaml_read(r->doc, item, pos, "step", step_fields, ARRAY_LEN(step_fields), &k, r->err);
    if (!rc)
        rc = read_word(r, item, "to", "step of an escalation", k.to, words, ARRAY_LEN(words), &to);
    if (!rc)
        rc = read_time(r, item, "after", k.after, 0, &after);
    if (!rc) {
        int64_t *mine = to ? &v->force_after : &v->delete_after;
        pos = yaml_value_pos(r->doc, item, "to");
        if (*mine >= 0)
            rc = yaml_err(r->doc, pos, r->err, "escalate: \"%s\" comes twice", words[to]);
        else if (!to && v->force_after >= 0)
            rc = yaml_err(r->doc, pos, r->err,
                          "escalate: \"delete\" comes after \"force\": nothing is left to delete");
        else if (v->delete_after >= after)
            rc = yaml_err(r->doc, yaml_value_pos(r->doc, item, "after"), r->err,
                          "escalate: each step must come later than the one before it");
        else
            *mine = after;
    }
    free(k.to);
    return rc;
}

/* What a rule says besides its action must be able to happen. */
static int check_use(struct reader *r, const json_t *item, const struct rule_verdict *v) {
    static const struct {
        const char *key;
        bool skip, wait; /* means something with it */
    } keys[] = {{"order", false, true},
                {"grace", false, false},
                {"deadline", false, true},
                {"escalate", false, false}};
    for (size_t i = 0; i < ARRAY_LEN(keys) && v->action != RULE_EVICT; i++) {
        const json_t *value = json_object_get(item, keys[i].key);
        bool skip = v->action == RULE_SKIP;
        if (value && !json_is_null(value) && !(skip ? keys[i].skip : keys[i].wait))
            return yaml_err(r->doc, yaml_key_pos(r->doc, item, keys[i].key), r->err,
                            "\"%s\" means nothing with \"action: %s\": the pod is %s", keys[i].key,
                            skip ? "skip" : "wait",
                            skip ? "left alone" : "waited for and not evicted");
    }
    int64_t last = v->force_after >= 0 ? v->force_after : v->delete_after;
    if (v->deadline && last > v->deadline)
        return yaml_err(
            r->doc, yaml_value_pos(r->doc, item, "deadline"), r->err,
            "the deadline comes before the last step of \"escalate\", which would never "
            "be taken");
    return 0;
}

static int read_says(struct reader *r, const json_t *item, const struct rule_keys *k,
                     struct rule_verdict *v) {
    static const char *const words[] = {"evict", "skip", "wait"};
    static const enum rule_action deeds[] = {RULE_EVICT, RULE_SKIP, RULE_WAIT};
    size_t action = 0;
    int64_t grace = -1;
    int rc = 0;
    v->order = (int32_t)k->order;
    if (k->action)
        rc = read_word(r, item, "action", "action", k->action, words, ARRAY_LEN(words), &action);
    v->action = deeds[action];
    if (!rc && k->grace)
        rc = read_time(r, item, "grace", k->grace, 0, &grace);
    /* An eviction without any grace is a forced deletion, and that is written as one. */
    if (!rc && grace == 0)
        rc = yaml_err(r->doc, yaml_value_pos(r->doc, item, "grace"), r->err,
                      "a grace of 0 is a forced deletion: write \"escalate: [{after: 0s, to: "
                      "force}]\" if that is wanted");
    if (!rc && grace > 0 && grace % USEC_PER_SEC)
        rc = yaml_err(r->doc, yaml_value_pos(r->doc, item, "grace"), r->err,
                      "grace must be whole seconds");
    if (!rc && grace >= 0)
        v->grace = grace / USEC_PER_SEC;
    if (!rc && k->deadline)
        rc = read_time(r, item, "deadline", k->deadline, SEC(1), &v->deadline);
    for (size_t i = 0; !rc && i < json_array_size(k->escalate); i++)
        rc = read_step(r, json_array_get(k->escalate, i), yaml_item_pos(r->doc, k->escalate, i), v);
    return rc ? rc : check_use(r, item, v);
}

/* --- the whole --- */

static int check_name(struct reader *r, const json_t *item, const char *name) {
    struct yaml_pos pos = yaml_value_pos(r->doc, item, "name");
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, name);
    /* It stands in messages, one line each. */
    if (!*name || strlen(name) > NAME_LEN || !streq(str_get(&shown), name))
        return yaml_err(r->doc, pos, r->err,
                        "the name of a rule must have 1 to %d printable characters", NAME_LEN);
    for (size_t i = 0; i + 1 < r->rules->list.len; i++)
        if (streq(r->rules->list.p[i].name, name))
            return yaml_err(r->doc, pos, r->err, "there are two rules with the name \"%s\"", name);
    return 0;
}

static int read_rule(struct reader *r, const json_t *item, struct yaml_pos pos) {
    struct rule *rule = vec_push(&r->rules->list);
    struct rule_keys k = {0};
    bool honour = true;
    *rule = (struct rule){
        .min_priority = INT32_MIN, .max_priority = INT32_MAX, .says = rules_nothing_said};
    int rc = yaml_read(r->doc, item, pos, "rule", rule_fields, ARRAY_LEN(rule_fields), &k, r->err);
    rule->name = TAKE_PTR(k.name);
    if (!rc)
        rc = check_name(r, item, rule->name);
    if (!rc && k.match)
        rc = read_match(r, k.match, yaml_value_pos(r->doc, item, "match"), rule);
    if (!rc)
        rc = read_says(r, item, &k, &rule->says);
    rule->says.name = rule->name;
    if (!rc && k.marks && !(rc = read_marks(r, item, k.marks, &honour)))
        rule->marks = honour ? MARKS_HONOUR : MARKS_IGNORE;
    free(k.action);
    free(k.marks);
    return rc;
}

static int check_type(struct reader *r, const json_t *root, const char *key, const char *word,
                      const char *want) {
    _cleanup_str_ struct str shown = STR_INIT;
    utf8_printable(&shown, word);
    return streq(word, want)
               ? 0
               : yaml_err(r->doc, yaml_value_pos(r->doc, root, key), r->err,
                          "%s is \"%.80s\"; drain rules have \"%s\"", key, str_get(&shown), want);
}

static int read_all(struct reader *r) {
    const json_t *root = yaml_root(r->doc);
    struct top_keys k = {0};
    size_t n = 0;
    int rc = yaml_read(r->doc, root, yaml_root_pos(r->doc), "drain rules", top_fields,
                       ARRAY_LEN(top_fields), &k, r->err);
    if (!rc)
        rc = check_type(r, root, "apiVersion", k.api_version, API_VERSION);
    if (!rc)
        rc = check_type(r, root, "kind", k.kind, KIND);
    if (!rc && k.marks)
        rc = read_marks(r, root, k.marks, &r->rules->honour);
    if (!rc && (n = json_array_size(k.rules)) > RULES_MAX)
        rc = yaml_err(r->doc, yaml_value_pos(r->doc, root, "rules"), r->err,
                      "there are %zu rules; more than %d are not read", n, RULES_MAX);
    for (size_t i = 0; !rc && i < n; i++)
        rc = read_rule(r, json_array_get(k.rules, i), yaml_item_pos(r->doc, k.rules, i));
    free(k.api_version);
    free(k.kind);
    free(k.marks);
    return rc;
}

int rules_parse(const char *text, size_t len, const char *name, struct rules **out,
                struct err *err) {
    _cleanup_yaml_doc_ struct yaml_doc *doc = NULL;
    int rc = yaml_load(name, text, len, &doc, err);
    if (rc)
        return rc;
    struct reader r = {.doc = doc, .rules = rules_new(), .err = err};
    rc = read_all(&r);
    if (rc)
        rules_free(r.rules);
    else
        *out = r.rules;
    return rc;
}
