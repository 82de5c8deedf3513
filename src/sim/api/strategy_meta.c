/* Metadata: what all kinds have in common. */
#include "sim/api/strategy_kinds.h"

static const char *const system_finalizers[] = {"kubernetes", "orphan", "foregroundDeletion", NULL};

static void check_owner(struct field_errors *e, const struct at *owners, const struct at *owner) {
    const char *version = at_str(owner, "apiVersion"), *kind = at_str(owner, "kind");
    const char *slash = strchr(version, '/');
    if (!*(slash ? slash + 1 : version))
        bad_string(e, owners, "apiVersion", version, "version must not be empty");
    if (!*kind)
        bad_string(e, owners, "kind", kind, "must not be empty");
    if (!*at_str(owner, "name"))
        bad_string(e, owners, "name", "", "must not be empty");
    if (!*at_str(owner, "uid"))
        bad_string(e, owners, "uid", "", "must not be empty");
    if (streq(version, "v1") && streq(kind, "Event"))
        bad_value(e, owners, NULL, owner->v, "/v1, Kind=Event is disallowed from being an owner");
}

static void check_owners(struct field_errors *e, const struct at *owners) {
    _cleanup_free_ char *first = NULL;
    at_each(owner, owners) {
        check_owner(e, owners, &owner);
        if (!at_bool(&owner, "controller"))
            continue;
        _cleanup_free_ char *this =
            xasprintf("%s/%s", at_str(&owner, "kind"), at_str(&owner, "name"));
        if (first)
            bad_value(e, owners, NULL, owners->v,
                      "Only one reference can have Controller set to true. Found \"true\" in "
                      "references for %s and %s",
                      first, this);
        else
            first = TAKE_PTR(this);
    }
}

static void check_finalizers(struct field_errors *e, const struct at *finalizers) {
    bool orphan = false, foreground = false;
    at_each(f, finalizers) {
        const char *name = strna(json_string_value(f.v));
        check_name(e, finalizers, NULL, name, name_label_key);
        orphan |= streq(name, "orphan");
        foreground |= streq(name, "foregroundDeletion");
    }
    if (orphan && foreground)
        bad_value(e, finalizers, NULL, finalizers->v,
                  "finalizer orphan and foregroundDeletion cannot be both set");
}

void check_finalizer(struct field_errors *e, const struct at *at, const char *name) {
    if (!strchr(name, '/') && !is_one_of(name, system_finalizers))
        bad_string(e, at, NULL, name,
                   "name is neither a standard finalizer name nor is it fully qualified");
}

static void check_kube_finalizers(struct field_errors *e, const struct at *meta) {
    struct at finalizers = at_child(meta, "finalizers");
    at_each(f, &finalizers) check_finalizer(e, &f, strna(json_string_value(f.v)));
}

void check_meta_generic(struct field_errors *e, const struct at *meta, bool namespaced,
                        name_rule *rule, name_rule *prefix_rule) {
    const char *base = at_str(meta, "generateName"), *name = at_str(meta, "name");
    const char *ns = at_str(meta, "namespace");
    if (*base) {
        _cleanup_problems_ struct problems p = PROBLEMS_INIT;
        if (prefix_rule)
            prefix_rule(base, &p);
        else
            name_prefix(rule, base, &p);
        for (size_t i = 0; i < p.v.len; i++)
            bad_string(e, meta, "generateName", base, "%s", p.v.p[i]);
    }
    if (*name)
        check_name(e, meta, "name", name, rule);
    else
        bad_required(e, meta, "name", "name or generateName is required");
    if (namespaced && *ns)
        check_name(e, meta, "namespace", ns, name_dns1123_label);
    else if (namespaced)
        bad_required(e, meta, "namespace", "");
    else if (*ns)
        bad_forbidden(e, meta, "namespace", "not allowed on this type");
    check_not_negative(e, meta, "generation");
    struct at labels = at_child(meta, "labels"), annotations = at_child(meta, "annotations");
    struct at owners = at_child(meta, "ownerReferences"), fins = at_child(meta, "finalizers");
    check_labels(e, &labels);
    check_annotations(e, &annotations);
    check_owners(e, &owners);
    check_finalizers(e, &fins);
}

void check_meta(struct field_errors *e, const struct at *meta, bool namespaced, name_rule *rule) {
    check_meta_generic(e, meta, namespaced, rule, NULL);
    check_kube_finalizers(e, meta);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No finalizer is added to what is being deleted. */
static void check_no_new_finalizers(struct field_errors *e, const struct at *meta,
                                    const json_t *old) {
    const json_t *have = json_object_get(old, "finalizers");
    _cleanup_json_ json_t *known = json_object();
    VEC(const char *) extra = VEC_INIT;
    struct at finalizers = at_child(meta, "finalizers");
    for (size_t i = 0; i < json_array_size(have); i++)
        set_bool(known, strna(json_string_value(json_array_get(have, i))), true);
    at_each(item, &finalizers) {
        const char *name = strna(json_string_value(item.v));
        if (!json_object_get(known, name))
            *vec_push(&extra) = name;
        set_bool(known, name, true);
    }
    if (extra.len) {
        _cleanup_str_ struct str list = STR_INIT;
        qsort(extra.p, extra.len, sizeof *extra.p, by_text);
        for (size_t i = 0; i < extra.len; i++)
            str_addf(&list, "%s\"%s\"", i ? ", " : "", extra.p[i]);
        bad_forbidden(e, &finalizers, NULL,
                      "no new finalizers can be added if the object is being deleted, found new "
                      "finalizers []string{%s}",
                      str_get(&list));
    }
    vec_done(&extra);
}

static void check_same_string(struct field_errors *e, const struct at *meta, const json_t *old,
                              const char *key) {
    const char *now = at_str(meta, key);
    if (!str_same(now, json_str(old, key)))
        bad_string(e, meta, key, now, "field is immutable");
}

void check_meta_update_generic(struct field_errors *e, const struct at *meta, const json_t *old) {
    if (json_object_get(old, "deletionTimestamp"))
        check_no_new_finalizers(e, meta, old);
    if (!*at_str(meta, "resourceVersion"))
        bad_string(e, meta, "resourceVersion", "", "must be specified for an update");
    if (at_int(meta, "generation") < json_integer_value(json_object_get(old, "generation")))
        bad_int(e, meta, "generation", at_int(meta, "generation"), "must not be decremented");
    check_same_string(e, meta, old, "name");
    check_same_string(e, meta, old, "namespace");
    check_same_string(e, meta, old, "uid");
    static const char *const others[] = {"creationTimestamp", "deletionTimestamp",
                                         "deletionGracePeriodSeconds"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct at at = at_child(meta, others[i]);
        check_immutable(e, &at, json_object_get(old, others[i]), NULL);
    }
    struct at labels = at_child(meta, "labels"), annotations = at_child(meta, "annotations");
    struct at owners = at_child(meta, "ownerReferences");
    check_labels(e, &labels);
    check_annotations(e, &annotations);
    check_owners(e, &owners);
}

void check_meta_update(struct field_errors *e, const struct at *meta, const json_t *old) {
    check_meta_update_generic(e, meta, old);
    check_kube_finalizers(e, meta);
}

void meta_first_generation(json_t *obj) {
    set_int(object_at(obj, "metadata"), "generation", 1);
}

void meta_next_generation(json_t *obj, const json_t *old, bool changed) {
    int64_t was =
        json_integer_value(json_object_get(json_object_get(old, "metadata"), "generation"));
    if (changed && was < INT64_MAX)
        set_int(object_at(obj, "metadata"), "generation", was + 1);
}

void meta_reset_for_status(json_t *obj, const json_t *old) {
    static const char *const keys[] = {
        "deletionTimestamp", "generation", "selfLink",       "labels",
        "annotations",       "finalizers", "ownerReferences"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        copy_member(object_at(obj, "metadata"), json_object_get(old, "metadata"), keys[i]);
}

const char *meta_annotation(const json_t *obj, const char *key) {
    return strna(json_str(json_object_get(json_object_get(obj, "metadata"), "annotations"), key));
}
