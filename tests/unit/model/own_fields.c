/* Tests of src/model/own_fields.c: the description beside the structs, the engine and the drain
 * rules. */
#include "model/own_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/checks.h"
#include "engine/maintenance.h"
#include "engine/rules.h"
#include "fleetlock/machine_id.h"
#include "model/own_read.h"

/* --- every field --- */

/* Called for each row of a description with the member that holds it: NULL within what is kept as
 * JSON. */
typedef void visit_fn(const char *path, const struct own_field *f, const struct field *m);

static void walk(const char *above, const struct own_field *fields, const struct type *type,
                 visit_fn *visit) {
    for (const struct own_field *f = fields; f && f->name; f++) {
        _cleanup_free_ char *path = xasprintf("%s.%s", above, f->name);
        const struct field *m = type ? own_member(type, f->name) : NULL;
        if (type && !m)
            fail_msg("%s is in no struct", path);
        visit(path, f, m);
        const struct type *inner = m ? m->type : NULL;
        if (f->type == OWN_LIST) {
            _cleanup_free_ char *in = xasprintf("%s[]", path);
            visit(in, f->item, NULL);
            walk(in, f->item->fields, inner, visit);
        } else {
            walk(path, f->fields, inner, visit);
        }
    }
}

static void walk_all(visit_fn *visit) {
    for (const struct own_resource *r = own_resources; r->kind; r++)
        walk(r->kind->name, r->fields, r->kind->type, visit);
}

static bool holds(const struct own_field *f, enum field_kind kind) {
    switch (f->type) {
    case OWN_OBJECT:
        return f->fields ? kind == FIELD_MSG || kind == FIELD_PTR || kind == FIELD_JSON
                         : kind == FIELD_PRESENT;
    case OWN_LIST:
        return kind == (f->item->type == OWN_OBJECT ? FIELD_LIST : FIELD_STRS);
    case OWN_STR:
        return kind == FIELD_STR;
    case OWN_INT:
        return kind == FIELD_OPT_I32 || kind == FIELD_I32;
    case OWN_LONG:
        return kind == FIELD_I64;
    case OWN_BOOL:
        return kind == FIELD_OPT_BOOL;
    case OWN_TIME:
        return kind == FIELD_TIME;
    case OWN_COUNT:
        return kind == FIELD_INTSTR;
    case OWN_LABELS:
        return kind == FIELD_MAP;
    case OWN_SECONDS:
        break; /* in drain rules alone */
    }
    return false;
}

static void check_member(const char *path, const struct own_field *f, const struct field *m) {
    if (m && !holds(f, m->kind))
        fail_msg("%s is kept in a member of another kind", path);
    /* own_check() has to see whether a field of a spec is there. */
    if (m && strstr(path, ".spec.") && (m->kind == FIELD_I32 || m->kind == FIELD_BOOL))
        fail_msg("%s: 0 and absent are the same", path);
}

static void fields_have_members(void **state) {
    (void)state;
    walk_all(check_member);
}

/* The other way round: nothing is read that is described nowhere. */
static void check_described(const char *above, const struct type *type,
                            const struct own_field *fields) {
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const struct field *m = &type->fields[i];
        const struct own_field *f = fields;
        while (f && f->name && !streq(f->name, m->json))
            f++;
        _cleanup_free_ char *path = xasprintf("%s.%s", above, m->json);
        if (streq(path, "Policy.metadata") || streq(path, "Maintenance.metadata") ||
            streq(path, "Rollout.metadata") || streq(path, "Policy.unread")) /* of our own making */
            continue;
        if (!f || !f->name)
            fail_msg("%s is read and described nowhere", path);
        if (m->type)
            check_described(path, m->type, f->type == OWN_LIST ? f->item->fields : f->fields);
    }
}

static void members_are_described(void **state) {
    (void)state;
    size_t n = 0;
    for (const struct own_resource *r = own_resources; r->kind; r++, n++) {
        assert_ptr_equal(r->kind, own_kinds[n]);
        assert_ptr_equal(own_resource(r->kind), r);
        check_described(r->kind->name, r->kind->type, r->fields);
    }
    assert_int_equal(n, 3);
    assert_null(own_kinds[n]);
    assert_null(own_resource(&kind_node));
}

/* --- words --- */

static void check_words(const char *path, const struct own_field *f, const struct field *m) {
    (void)m;
    size_t len = strlen(strna(f->meaning));
    if (!len || f->meaning[len - 1] != '.')
        fail_msg("%s: its meaning is no sentence", path);
    if (f->fields && f->type != OWN_OBJECT)
        fail_msg("%s: only an object has fields", path);
    if ((f->item != NULL) != (f->type == OWN_LIST))
        fail_msg("%s: a list, and only a list, has elements", path);
    /* The server reckons with the longest text when it says what an expression may cost. */
    if (f->type == OWN_LIST && !f->max)
        fail_msg("%s: a list without an end", path);
    if (f->type == OWN_STR && !f->max && !f->words && !f->pattern)
        fail_msg("%s: a text without an end", path);
    if (f->required && f->initial)
        fail_msg("%s: what has a default is not needed", path);
    for (const struct own_rule *r = f->rules; r && r->message; r++) {
        len = strlen(r->message);
        if (!len || r->message[len - 1] == '.')
            fail_msg("%s: the message of a rule has no full stop: \"%s\"", path, r->message);
        if (!r->cel && !r->holds)
            fail_msg("%s: nobody decides \"%s\"", path, r->message);
        if (m && f->type != OWN_LIST && !r->holds)
            fail_msg("%s: the server alone decides \"%s\"", path, r->message);
    }
}

static void sentences(void **state) {
    (void)state;
    walk_all(check_words);
}

/* A default must be what the field may be, and own_defaults() must know how to put it in. */
static void check_default(const char *path, const struct own_field *f, const struct field *m) {
    if (!f->initial)
        return;
    _cleanup_json_ json_t *v = json_loads(f->initial, JSON_DECODE_ANY, NULL);
    if (!v)
        fail_msg("%s: its default is no JSON", path);
    if (!m)
        fail_msg("%s: a default within a list or the drain rules is put in by nobody", path);
    bool good = m->kind == FIELD_STR        ? json_is_string(v)
                : m->kind == FIELD_OPT_BOOL ? json_is_boolean(v)
                : m->kind == FIELD_OPT_I32  ? json_is_integer(v)
                : m->kind == FIELD_INTSTR   ? json_is_integer(v)
                : m->kind == FIELD_STRS     ? json_is_array(v)
                : m->kind == FIELD_JSON || m->kind == FIELD_PTR || m->kind == FIELD_MSG
                    ? json_is_object(v) && !json_object_size(v)
                    : false;
    if (!good)
        fail_msg("%s: its default cannot be put in", path);
}

static void defaults(void **state) {
    (void)state;
    walk_all(check_default);
}

/* --- what other layers say --- */

static const struct own_field *find(const struct own_field *fields, const char *name) {
    for (const struct own_field *f = fields; f->name; f++)
        if (streq(f->name, name))
            return f;
    fail_msg("there is no %s", name);
    return NULL;
}

/* The checks have their names in the table of the engine. */
static void checks(void **state) {
    (void)state;
    const struct own_field *spec = find(own_resource(&kind_policy)->fields, "spec");
    const char *const *words = find(find(spec->fields, "skipChecks")->item->fields, "name")->words;
    for (size_t i = 0; i < n_checks; i++)
        assert_string_equal(words[i], checks_table[i].name);
    assert_null(words[n_checks]);
}

static void phases(void **state) {
    (void)state;
    const struct own_resource *r = own_resource(&kind_maintenance);
    const struct own_field *status = find(r->fields, "status");
    const char *const *words = find(status->fields, "phase")->words;
    for (int i = 0; i < MAINT_PHASES; i++)
        assert_string_equal(words[i], maint_phases[i].word);
    assert_null(words[MAINT_PHASES]);
    const struct own_field *step = find(status->fields, "journal")->item;
    assert_ptr_equal(find(step->fields, "from")->words, words);
    assert_ptr_equal(find(step->fields, "to")->words, words);
}

static void operations(void **state) {
    (void)state;
    static const struct kind *const both[] = {&kind_maintenance, &kind_rollout};
    static const enum operation can[] = {OPERATION_DRAIN, OPERATION_REBOOT, OPERATION_SHUTDOWN};
    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        const struct own_field *spec = find(own_resource(both[i])->fields, "spec");
        const char *const *words = find(spec->fields, "operation")->words;
        for (size_t k = 0; k < ARRAY_LEN(can); k++)
            assert_string_equal(words[k], operation_word(can[k]));
        assert_null(words[ARRAY_LEN(can)]);
    }
}

static void zincati(void **state) {
    (void)state;
    const struct own_field *spec = find(own_resource(&kind_policy)->fields, "spec");
    const struct own_field *ids = find(find(spec->fields, "fleetlock")->fields, "ids");
    assert_string_equal(find(ids->fields, "appIds")->initial, "[\"" MACHINE_ID_ZINCATI "\"]");
}

/* --- drain rules --- */

/* What the reader of drain rules says to a text in which {} stands for a place. */
static int parse(const char *frame, const char *inner, struct err *err) {
    _cleanup_str_ struct str text = STR_INIT;
    struct rules *rules = NULL;
    const char *hole = strchr(frame, '@');
    str_addf(&text, "{\"apiVersion\":\"" OWN_API_VERSION "\",\"kind\":\"DrainRules\"%.*s%s%s}",
             (int)(hole - frame), frame, inner, hole + 1);
    int rc = rules_parse(str_get(&text), text.len, "x", &rules, err);
    rules_free(rules);
    return rc;
}

/* Every key of the description is one of the reader's (null is as good as absent), and there are as
 * many: of a key that is near none it lists those that there are. */
static void same_keys(const struct own_field *fields, const char *frame, size_t besides) {
    _cleanup_err_ struct err err = ERR_INIT;
    size_t n = 0;
    for (const struct own_field *f = fields; f->name; f++, n++) {
        _cleanup_free_ char *key = xasprintf(",\"%s\":null", f->name);
        _cleanup_free_ char *there = xasprintf("{\"%s\":", f->name);
        if (f->required || strstr(frame, there))
            continue;
        if (parse(frame, key, &err))
            fail_msg("%s: %s", f->name, err_msg(&err));
    }
    assert_int_not_equal(parse(frame, ",\"zzzzzzzzzz\":null", &err), 0);
    const char *list = strstr(err_msg(&err), "valid keys: ");
    if (!list)
        fail_msg("no list of keys in: %s", err_msg(&err));
    size_t quotes = 0;
    for (const char *c = list; *c; c++)
        quotes += *c == '"';
    const char *more = strstr(list, " more");
    size_t unnamed = 0;
    if (more) {
        while (more[-1] >= '0' && more[-1] <= '9')
            more--;
        unnamed = strtoul(more, NULL, 10);
    }
    assert_int_equal(quotes / 2 + unnamed, n + besides);
}

static void drain_keys(void **state) {
    (void)state;
    const struct own_field *spec = find(own_resource(&kind_policy)->fields, "spec");
    const struct own_field *drain = find(spec->fields, "drain");
    const struct own_field *rule = find(drain->fields, "rules")->item;
    const struct own_field *match = find(rule->fields, "match");
    const struct own_field *labels = find(match->fields, "labels");
    same_keys(drain->fields, "@", 2);
    same_keys(rule->fields, ",\"rules\":[{\"name\":\"a\"@}]", 0);
    same_keys(match->fields, ",\"rules\":[{\"name\":\"a\",\"match\":{\"namespaces\":[\"a\"]@}}]",
              0);
    same_keys(labels->fields,
              ",\"rules\":[{\"name\":\"a\",\"match\":{\"labels\":{\"matchLabels\":{}@}}}]", 0);
    same_keys(find(labels->fields, "matchExpressions")->item->fields,
              ",\"rules\":[{\"name\":\"a\",\"match\":{\"labels\":{\"matchExpressions\":[{\"key\":"
              "\"k\",\"operator\":\"Exists\"@}]}}}]",
              0);
    same_keys(find(match->fields, "priority")->fields,
              ",\"rules\":[{\"name\":\"a\",\"match\":{\"priority\":{\"min\":1@}}}]", 0);
    same_keys(find(rule->fields, "escalate")->item->fields,
              ",\"rules\":[{\"name\":\"a\",\"escalate\":[{\"after\":1,\"to\":\"delete\"@}]}]", 0);
}

/* And every word means something to the reader. */
static void drain_words(void **state) {
    (void)state;
    const struct own_field *spec = find(own_resource(&kind_policy)->fields, "spec");
    const struct own_field *drain = find(spec->fields, "drain");
    const struct own_field *rule = find(drain->fields, "rules")->item;
    static const char *const keys[] = {"action", "marks"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        for (const char *const *w = find(rule->fields, keys[i])->words; *w; w++) {
            _cleanup_free_ char *pair = xasprintf(",\"%s\":\"%s\"", keys[i], *w);
            assert_int_equal(parse(",\"rules\":[{\"name\":\"a\"@}]", pair, NULL), 0);
        }
    const struct own_field *step = find(rule->fields, "escalate")->item;
    for (const char *const *w = find(step->fields, "to")->words; *w; w++) {
        _cleanup_free_ char *pair = xasprintf(",\"to\":\"%s\"", *w);
        assert_int_equal(
            parse(",\"rules\":[{\"name\":\"a\",\"escalate\":[{\"after\":1@}]}]", pair, NULL), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_have_members),
        cmocka_unit_test(members_are_described),
        cmocka_unit_test(sentences),
        cmocka_unit_test(defaults),
        cmocka_unit_test(checks),
        cmocka_unit_test(phases),
        cmocka_unit_test(operations),
        cmocka_unit_test(zincati),
        cmocka_unit_test(drain_keys),
        cmocka_unit_test(drain_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
