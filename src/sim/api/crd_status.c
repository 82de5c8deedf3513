/* The status of definitions: what the server's controllers for them bring about (apiextensions-
 * apiserver pkg/controller: status, establish, nonstructuralschema, apiapproval). They follow each
 * other within milliseconds and need nothing but the definitions, so here they are one step. */
#include "base/timefmt.h"
#include "sim/api/crd_internal.h"
#include "sim/api/strategy_kinds.h"
#include "sim/api/structural_address.h"
#include "sim/schema/goquote.h"

/* --- conditions --- */

static json_t *find_condition(const json_t *crd, const char *type) {
    json_t *list = json_object_get(json_object_get(crd, "status"), "conditions");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_same(json_str(json_array_get(list, i), "type"), type))
            return json_array_get(list, i);
    return NULL;
}

bool crd_condition(const json_t *crd, const char *type) {
    return str_same(json_str(find_condition(crd, type), "status"), "True");
}

struct condition {
    const char *type, *status, *reason, *message;
};

/* False when it says so already. The time is that of the last change of its status. */
static bool set_condition(json_t *crd, const struct condition *c, int64_t now) {
    char time[TIMEFMT_LEN];
    json_t *old = find_condition(crd, c->type);
    if (old && str_same(json_str(old, "status"), c->status) &&
        str_same(json_str(old, "reason"), c->reason) &&
        str_same(json_str(old, "message"), c->message))
        return false;
    if (!old) {
        json_t *status = object_at(crd, "status"), *list = json_object_get(status, "conditions");
        if (!json_is_array(list)) {
            list = json_array();
            json_object_set_new(status, "conditions", list);
        }
        old = json_object();
        json_array_append_new(list, old);
    }
    bool turned = !str_same(json_str(old, "status"), c->status);
    set_string(old, "type", c->type); /* in the order of the canonical form */
    set_string(old, "status", c->status);
    if (turned)
        json_object_set_new(old, "lastTransitionTime", json_string(time_format(now, false, time)));
    set_string(old, "reason", c->reason);
    set_string(old, "message", c->message);
    return true;
}

static bool remove_condition(json_t *crd, const char *type) {
    json_t *list = json_object_get(json_object_get(crd, "status"), "conditions");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_same(json_str(json_array_get(list, i), "type"), type))
            return !json_array_remove(list, i);
    return false;
}

/* --- names --- */

/* Which of the wanted names somebody of the group has: two sets. There may be hundreds of
 * definitions in a group, so that only what is wanted is put down. */
struct taken {
    json_t *wanted, *resources, *kinds;
};

static void want(struct taken *t, const char *name) {
    if (!str_empty(name))
        json_object_set_new_nocheck(t->wanted, name, json_true());
}

static void take(const struct taken *t, json_t *set, const char *name) {
    if (!str_empty(name) && json_object_get(t->wanted, name))
        json_object_set_new_nocheck(set, name, json_true());
}

static struct taken taken_names(const json_t *wanted, const json_t *const *accepted, size_t n) {
    struct taken t = {json_object(), json_object(), json_object()};
    const json_t *shorts = json_object_get(wanted, "shortNames");
    want(&t, json_str(wanted, "plural"));
    want(&t, json_str(wanted, "singular"));
    want(&t, json_str(wanted, "kind"));
    want(&t, json_str(wanted, "listKind"));
    for (size_t i = 0; i < json_array_size(shorts); i++)
        want(&t, json_string_value(json_array_get(shorts, i)));
    for (size_t i = 0; i < n; i++) {
        const json_t *names = accepted[i];
        shorts = json_object_get(names, "shortNames");
        take(&t, t.resources, json_str(names, "plural"));
        take(&t, t.resources, json_str(names, "singular"));
        for (size_t k = 0; k < json_array_size(shorts); k++)
            take(&t, t.resources, json_string_value(json_array_get(shorts, k)));
        take(&t, t.kinds, json_str(names, "kind"));
        take(&t, t.kinds, json_str(names, "listKind"));
    }
    return t;
}

static void taken_done(struct taken *t) {
    json_decref(t->wanted);
    json_decref(t->resources);
    json_decref(t->kinds);
}

struct naming {
    const json_t *wanted;
    json_t *accepted;
    const char *reason; /* of the last conflict, or NULL */
    struct str message;
};

static void accept_name(struct naming *n, const char *key, const json_t *taken,
                        const char *conflict) {
    const char *wanted = strna(json_str(n->wanted, key));
    if (!str_same(wanted, json_str(n->accepted, key)) && json_object_get(taken, wanted)) {
        n->reason = conflict;
        str_reset(&n->message);
        str_addf(&n->message, "\"%s\" is already in use", wanted);
    } else {
        copy_member(n->accepted, n->wanted, key);
    }
}

static bool contains(const json_t *list, const char *text) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (str_same(json_string_value(json_array_get(list, i)), text))
            return true;
    return false;
}

static void accept_short_names(struct naming *n, const json_t *taken) {
    const json_t *wanted = json_object_get(n->wanted, "shortNames");
    const json_t *have = json_object_get(n->accepted, "shortNames");
    _cleanup_str_ struct str list = STR_INIT;
    size_t conflicts = 0;
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        const char *name = strna(json_string_value(json_array_get(wanted, i)));
        if (!contains(have, name) && json_object_get(taken, name))
            str_addf(&list, "%s\"%s\" is already in use", conflicts++ ? ", " : "", name);
    }
    if (!conflicts) {
        copy_member(n->accepted, n->wanted, "shortNames");
        return;
    }
    n->reason = "ShortNamesConflict";
    str_reset(&n->message);
    str_addf(&n->message, conflicts > 1 ? "[%s]" : "%s", str_get(&list));
}

static bool settle_names(json_t *crd, const json_t *const *others, size_t n_others, int64_t now) {
    json_t *status = object_at(crd, "status"), *accepted = object_at(status, "acceptedNames");
    const json_t *wanted = json_object_get(json_object_get(crd, "spec"), "names");
    if (json_equal(wanted, accepted))
        return false;
    _cleanup_json_ json_t *before = json_deep_copy(accepted);
    struct taken taken = taken_names(wanted, others, n_others);
    struct naming n = {wanted, accepted, NULL, STR_INIT};
    accept_name(&n, "plural", taken.resources, "PluralConflict");
    accept_name(&n, "singular", taken.resources, "SingularConflict");
    accept_short_names(&n, taken.resources);
    accept_name(&n, "kind", taken.kinds, "KindConflict");
    accept_name(&n, "listKind", taken.kinds, "ListKindConflict");
    copy_member(accepted, wanted, "categories");
    taken_done(&taken);
    struct condition c = {"NamesAccepted", "True", "NoConflicts", "no conflicts found"};
    if (n.reason)
        c = (struct condition){"NamesAccepted", "False", n.reason, str_get(&n.message)};
    bool said = set_condition(crd, &c, now), changed = said || !json_equal(before, accepted);
    str_done(&n.message);
    return changed;
}

static bool settle_established(json_t *crd, int64_t now) {
    if (crd_condition(crd, "Established"))
        return false;
    struct condition c = {"Established", "False", "NotAccepted", "not all names are accepted"};
    if (crd_condition(crd, "NamesAccepted"))
        c = (struct condition){"Established", "True", "InitialNamesAccepted",
                               "the initial names have been accepted"};
    return set_condition(crd, &c, now);
}

/* --- approval --- */

static bool is_protected(const char *group) {
    return streq(group, "k8s.io") || str_ends(group, ".k8s.io") || streq(group, "kubernetes.io") ||
           str_ends(group, ".kubernetes.io");
}

enum crd_approval crd_approval(const json_t *crd, struct str *reason) {
    static const char see[] = "see https://github.com/kubernetes/enhancements/pull/1111";
    const char *text = meta_annotation(crd, CRD_APPROVED);
    if (!is_protected(strna(json_str(json_object_get(crd, "spec"), "group"))))
        return APPROVAL_NONE_NEEDED;
    if (!*text) {
        str_addf(reason, "protected groups must have approval annotation \"%s\", %s", CRD_APPROVED,
                 see);
        return APPROVAL_MISSING;
    }
    if (str_starts(text, "unapproved")) {
        str_add(reason, "not approved: ");
        goquote(reason, text, strlen(text));
        return APPROVAL_BYPASSED;
    }
    if (address_uri(view_of(text), true)) {
        str_addf(reason, "approved in %s", text);
        return APPROVED;
    }
    str_addf(reason,
             "protected groups must have approval annotation \"%s\" with either a URL or a reason "
             "starting with \"unapproved\", %s",
             CRD_APPROVED, see);
    return APPROVAL_INVALID;
}

static bool settle_approval(json_t *crd, int64_t now) {
    static const struct {
        const char *status, *reason;
    } words[] = {
        [APPROVAL_INVALID] = {"False", "InvalidAnnotation"},
        [APPROVED] = {"True", "ApprovedAnnotation"},
        [APPROVAL_BYPASSED] = {"False", "UnapprovedAnnotation"},
        [APPROVAL_MISSING] = {"False", "MissingAnnotation"},
    };
    _cleanup_str_ struct str reason = STR_INIT;
    enum crd_approval a = crd_approval(crd, &reason);
    if (a == APPROVAL_NONE_NEEDED)
        return false;
    struct condition c = {"KubernetesAPIApprovalPolicyConformant", words[a].status, words[a].reason,
                          str_get(&reason)};
    return set_condition(crd, &c, now);
}

/* --- schemas that are not structural: of definitions that came in another way --- */

bool crd_settle_schemas(json_t *crd, int64_t now) {
    struct crd_view v = crd_view(crd);
    struct field_errors e = {0};
    const struct spath *spec = SPATH_CHILD(NULL, "spec"), *versions = SPATH_CHILD(spec, "versions");
    const json_t *preserve = kw_value(v.spec, "preserveUnknownFields");
    if (json_is_true(preserve))
        spath_error(&e, FIELD_INVALID, SPATH_CHILD(spec, "preserveUnknownFields"), preserve,
                    "must be false");
    bool changed = false;
    for (size_t i = 0; i < json_array_size(v.versions); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        const json_t *schema = crd_schema(crd_piece(&v, i, PIECE_SCHEMA));
        struct structural *s = schema ? structural_build(schema, &err) : NULL;
        if (schema && !s) {
            const char *name = strna(json_str(json_array_get(v.versions, i), "name"));
            _cleanup_free_ char *text = xasprintf(
                "failed to check validation schema for version %s: %s", name, err_msg(&err));
            struct condition c = {"NonStructuralSchema", "Unknown", "StructuralError", text};
            changed = set_condition(crd, &c, now);
            field_errors_done(&e);
            return changed;
        }
        if (s)
            structural_check(
                s, SPATH_CHILD(SPATH_CHILD(SPATH_AT(versions, i), "schema"), "openAPIV3Schema"),
                &e);
        structural_free(s);
    }
    if (e.v.len) {
        _cleanup_str_ struct str text = STR_INIT;
        field_errors_text(&e, &text);
        struct condition c = {"NonStructuralSchema", "True", "Violations", str_get(&text)};
        changed = set_condition(crd, &c, now);
    } else {
        changed = remove_condition(crd, "NonStructuralSchema");
    }
    field_errors_done(&e);
    return changed;
}

/* --- the whole --- */

bool crd_settle(json_t *crd, const json_t *const *taken, size_t n_taken, int64_t now) {
    bool changed = settle_names(crd, taken, n_taken, now);
    changed |= settle_established(crd, now);
    changed |= settle_approval(crd, now);
    return changed;
}

void crd_terminate(json_t *crd, int64_t now) {
    static const struct condition terminating = {
        "Terminating", "True", "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"};
    json_t *finalizers = array_at(object_at(crd, "metadata"), "finalizers");
    if (!contains(finalizers, CRD_FINALIZER))
        json_array_append_new(finalizers, json_string(CRD_FINALIZER));
    set_condition(crd, &terminating, now);
}
