/* Events, which have two faces: core/v1, as they are stored, and events.k8s.io/v1. */
#include "sim/api/strategy_kinds.h"

enum { NAMES_MOST = 128, NOTE_MOST = 1024 };

/* Names of the members that differ: core's, the other's. */
static const char *const renamed[][2] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

static json_t *convert(const json_t *event, int from, int to) {
    json_t *out = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)event, key, value) {
        const char *name = key;
        for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
            if (streq(renamed[i][from], key))
                name = renamed[i][to];
        if (!streq(key, "apiVersion") && !streq(key, "kind"))
            json_object_set_new(out, name, json_deep_copy(value));
    }
    return out;
}

json_t *strategy_event_to_core(const json_t *event) {
    return convert(event, 1, 0);
}

json_t *strategy_event_from_core(const json_t *event) {
    return convert(event, 0, 1);
}

static void check_length(struct field_errors *e, const struct at *event, const char *key,
                         size_t most) {
    if (strlen(at_str(event, key)) > most)
        bad_string(e, event, key, "", "can have at most %zu characters", most);
}

static void check_required_name(struct field_errors *e, const struct at *event, const char *key) {
    if (!*at_str(event, key))
        bad_required(e, event, key, "");
    check_length(e, event, key, NAMES_MOST);
}

/* Rules of both faces, on core's; `controller` is how the face calls reportingComponent. */
static void check_both(struct field_errors *e, const struct at *event, const char *controller) {
    struct at meta = at_child(event, "metadata"), object = at_child(event, "involvedObject");
    const char *ns = at_str(&meta, "namespace"), *of = at_str(&object, "namespace");
    const char *reporter = at_str(event, "reportingComponent");
    bool is_default = streq(ns, "default");
    if (!*at_str(event, "eventTime")) {
        if (*of ? !streq(ns, of) : *ns && !is_default)
            bad_string(e, &object, "namespace", of, "does not match event.namespace");
    } else {
        if (!*of && !is_default && !streq(ns, "kube-system"))
            bad_string(e, &object, "namespace", of, "does not match event.namespace");
        if (!*reporter)
            bad_required(e, event, controller, "");
        check_name(e, event, controller, reporter, name_label_key);
        check_required_name(e, event, "reportingInstance");
        check_required_name(e, event, "action");
        check_required_name(e, event, "reason");
        check_length(e, event, "message", NOTE_MOST);
    }
    check_name(e, event, "namespace", ns, name_dns1123_subdomain);
}

static void check_core_event(struct strategy_call *c) {
    struct at event = at_root(c->obj);
    check_both(&c->errors, &event, "reportingComponent");
}

const struct strategy_ops strategy_core_events = {.check = check_core_event};

/* --- events.k8s.io --- */

static void check_series(struct field_errors *e, const struct at *event) {
    struct at series = at_child(event, "series");
    if (!series.v)
        return;
    if (at_int(&series, "count") < 2)
        bad_string(e, &series, "count", "", "should be at least 2");
    if (!*at_str(&series, "lastObservedTime"))
        bad_required(e, &series, "lastObservedTime", "");
}

static void check_new_event(struct field_errors *e, const struct at *event) {
    struct at meta = at_child(event, "metadata"), source = at_child(event, "source");
    const char *type = at_str(event, "type");
    check_meta(e, &meta, true, name_dns1123_subdomain);
    check_series(e, event);
    if (!*at_str(event, "eventTime"))
        bad_required(e, event, "eventTime", "");
    if (!streq(type, "Normal") && !streq(type, "Warning"))
        bad_string(e, event, "type", "", "has invalid value: %s", type);
    if (*at_str(event, "firstTimestamp"))
        bad_string(e, event, "firstTimestamp", "", "needs to be unset");
    if (*at_str(event, "lastTimestamp"))
        bad_string(e, event, "lastTimestamp", "", "needs to be unset");
    if (at_int(event, "count"))
        bad_string(e, event, "count", "", "needs to be unset");
    if (*at_str(&source, "component") || *at_str(&source, "host"))
        bad_string(e, event, "source", "", "needs to be unset");
}

/* Zero values of numbers and structs are not left out of core's canonical form, but may be of ours.
 */
static bool same_member(const struct at *at, const json_t *old) {
    bool none = !at->v || (json_is_object(at->v) && !json_object_size(at->v));
    bool had_none = !old || json_is_null(old) || (json_is_object(old) && !json_object_size(old));
    return (none && had_none) || same_value(at->v, old);
}

static void check_changed_event(struct field_errors *e, const struct at *event, const json_t *old) {
    static const struct {
        const char *key, *path;
        const struct gotype *type;
        bool time;
    } fixed[] = {{"involvedObject", NULL, &go_object_reference, false},
                 {"reason", NULL, NULL, false},
                 {"message", NULL, NULL, false},
                 {"source", NULL, &go_event_source, false},
                 {"firstTimestamp", NULL, NULL, true},
                 {"lastTimestamp", NULL, NULL, true},
                 {"count", NULL, NULL, false},
                 {"reason", NULL, NULL, false},
                 {"type", NULL, NULL, false},
                 {"eventTime", NULL, NULL, true},
                 {"action", NULL, NULL, false},
                 {"related", NULL, &go_object_reference, false},
                 {"reportingComponent", "reportingController", NULL, false},
                 {"reportingInstance", NULL, NULL, false}};
    struct at meta = at_child(event, "metadata"), series = at_child(event, "series");
    check_meta_update(e, &meta, json_object_get(old, "metadata"));
    if (!same_member(&series, json_object_get(old, "series")))
        check_series(e, event);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        const char *path = fixed[i].path ? fixed[i].path : fixed[i].key;
        const json_t *was = json_object_get(old, fixed[i].key);
        _cleanup_json_ json_t *none = json_string("");
        struct at at = at_named(event, path, at_get(event, fixed[i].key));
        if (same_member(&at, was))
            continue;
        if (!at.v && json_is_string(was) && !fixed[i].time)
            at.v = none;
        check_immutable(e, &at, was, fixed[i].type);
    }
}

static void check_event(struct strategy_call *c) {
    _cleanup_json_ json_t *core = strategy_event_to_core(c->obj);
    struct at event = at_root(core);
    check_both(&c->errors, &event, "reportingController");
    if (!c->old) {
        check_new_event(&c->errors, &event);
        return;
    }
    _cleanup_json_ json_t *old = strategy_event_to_core(c->old);
    check_changed_event(&c->errors, &event, old);
}

const struct strategy_ops strategy_events = {.check = check_event};
