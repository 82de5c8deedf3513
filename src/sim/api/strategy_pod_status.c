/* The status of pods, as kubelets write it. */
#include "sim/api/strategy_kinds.h"

void prepare_pod_status(json_t *pod, const json_t *old) {
    json_t *meta = object_at(pod, "metadata"), *status = object_at(pod, "status"), *condition;
    const json_t *was = json_object_get(old, "status");
    copy_member(pod, old, "spec");
    json_object_del(meta, "deletionTimestamp");
    copy_member(meta, json_object_get(old, "metadata"), "ownerReferences");
    if (str_empty(json_str(status, "qosClass")))
        copy_member(status, was, "qosClass");
    if (!json_integer_value(json_object_get(status, "observedGeneration")))
        copy_member(status, was, "observedGeneration");
    /* conditions of older kubelets keep the generation that a newer one wrote */
    size_t i, j;
    json_t *other;
    json_array_foreach(json_object_get(status, "conditions"), i, condition) {
        if (json_integer_value(json_object_get(condition, "observedGeneration")))
            continue;
        json_array_foreach(
            json_object_get(was, "conditions"), j,
            other) if (str_same(json_str(other, "type"), json_str(condition, "type"))) {
            copy_member(condition, other, "observedGeneration");
            break;
        }
    }
}

static void check_conditions(struct field_errors *e, const struct at *status) {
    static const char *const known[] = {"PodScheduled", "Ready", "Initialized", NULL};
    struct at list = at_child(status, "conditions");
    at_each(c, &list) {
        if (at_int(&c, "observedGeneration") < 0)
            bad_int(e, &c, "observedGeneration", at_int(&c, "observedGeneration"),
                    "must be a non-negative integer");
        if (!is_one_of(at_str(&c, "type"), known))
            check_name(e, &c, "Type", at_str(&c, "type"), name_label_key);
    }
}

/* --- a container that has ended --- */

static bool restarts_all(const json_t *spec) {
    static const char *const lists[] = {"initContainers", "containers"};
    struct at at = at_root(spec);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct at list = at_child(&at, lists[i]);
        at_each(c, &list) {
            struct at rules = at_child(&c, "restartPolicyRules");
            at_each(rule,
                    &rules) if (streq(at_str(&rule, "action"), "RestartAllContainers")) return true;
        }
    }
    return false;
}

static bool rule_matches(const struct at *rule, int64_t code) {
    struct at codes = at_child(rule, "exitCodes"), values = at_child(&codes, "values");
    bool found = false;
    at_each(v, &values) found |= json_integer_value(v.v) == code;
    if (!codes.v)
        return false;
    return streq(at_str(&codes, "operator"), "In") ? found : !found;
}

static bool may_restart(const struct at *container, const char *of_pod, int64_t code) {
    struct at rules = at_child(container, "restartPolicyRules");
    const char *policy = at_str(container, "restartPolicy");
    if (*policy)
        at_each(rule, &rules) if (rule_matches(&rule, code)) return true;
    if (!*policy)
        policy = of_pod;
    return streq(policy, "OnFailure") ? code != 0 : !streq(policy, "Never");
}

static const json_t *by_name(const json_t *list, const char *name) {
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i,
                       item) if (str_same(json_str(item, "name"), name)) return item;
    return NULL;
}

/* `containers` is NULL for those that never start again. */
static void check_transitions(struct field_errors *e, const struct at *statuses,
                              const json_t *old_list, const json_t *containers,
                              const char *of_pod) {
    struct at old = at_root(old_list);
    at_each(was, &old) {
        struct at state = at_child(&was, "state"), ended = at_child(&state, "terminated");
        const char *name = at_str(&was, "name");
        const json_t *now = by_name(statuses->v, name);
        if (!ended.v || !now || json_object_get(json_object_get(now, "state"), "terminated"))
            continue;
        const json_t *container = by_name(containers, name);
        struct at c = at_root(container);
        if (container && may_restart(&c, of_pod, at_int(&ended, "exitCode")))
            continue;
        struct at at = at_index(statuses, was.index);
        bad_forbidden(e, &at, "state", "may not be transitioned to non-terminated state");
    }
}

/* --- addresses and users --- */

static void check_pod_ips(struct field_errors *e, const struct at *status, const json_t *old) {
    struct at ips = at_child(status, "podIPs");
    at_each(ip, &ips) check_ip(e, &ip, at_str(&ip, "ip"), json_object_get(old, "podIPs"), "ip");
    check_dual_stack(e, &ips, "ip", &go_pod_ip);
}

static void check_host_ips(struct field_errors *e, const struct at *status, const json_t *old) {
    struct at ips = at_child(status, "hostIPs"), first = at_index(&ips, 0);
    if (!json_array_size(ips.v))
        return;
    if (!streq(at_str(status, "hostIP"), at_str(&first, "ip")))
        bad_string(e, &first, "ip", at_str(&first, "ip"), "must be equal to `hostIP`");
    at_each(ip, &ips) check_ip(e, &ip, at_str(&ip, "ip"), json_object_get(old, "hostIPs"), "ip");
    check_dual_stack(e, &ips, "ip", &go_host_ip);
}

static void check_id(struct field_errors *e, const struct at *at, const char *child, int64_t id) {
    if (id < 0 || id > INT32_MAX)
        bad_int(e, at, child, id, "must be between 0 and %d, inclusive", INT32_MAX);
}

static void check_users(struct field_errors *e, const struct at *statuses, bool windows) {
    static const char *const ids[] = {"uid", "gid"};
    at_each(status, statuses) {
        struct at user = at_child(&status, "user"), linux_user = at_child(&user, "linux");
        if (windows && linux_user.v)
            bad_forbidden(e, &linux_user, NULL, "cannot be set for a windows pod");
        if (windows)
            continue;
        struct at groups = at_child(&linux_user, "supplementalGroups");
        for (size_t i = 0; i < ARRAY_LEN(ids); i++)
            check_id(e, &linux_user, ids[i], at_int(&linux_user, ids[i]));
        at_each(group, &groups) check_id(e, &group, NULL, json_integer_value(group.v));
    }
}

static void check_claim_statuses(struct field_errors *e, const struct at *status,
                                 const json_t *spec) {
    struct at list = at_child(status, "resourceClaimStatuses");
    _cleanup_json_ json_t *seen = json_object();
    at_each(claim, &list) {
        const char *name = at_str(&claim, "name");
        if (!by_name(json_object_get(spec, "resourceClaims"), name))
            bad_string(e, &claim, "name", name,
                       "must match the name of an entry in `spec.resourceClaims`");
        if (json_object_get(seen, name))
            bad_duplicate(e, &claim, "name", name);
        json_object_set_new(seen, name, json_true());
        if (at_has(&claim, "resourceClaimName"))
            check_name(e, &claim, "resourceClaimName", at_str(&claim, "resourceClaimName"),
                       name_dns1123_subdomain);
    }
}

void check_pod_status(struct field_errors *e, const struct at *pod, const json_t *old) {
    const json_t *spec = at_get(pod, "spec"), *was = json_object_get(old, "status");
    struct at status = at_child(pod, "status");
    struct at regular = at_child(&status, "containerStatuses");
    struct at init = at_child(&status, "initContainerStatuses");
    struct at ephemeral = at_child(&status, "ephemeralContainerStatuses");
    const char *nominated = at_str(&status, "nominatedNodeName");
    const char *of_pod = strna(json_str(spec, "restartPolicy"));
    bool windows = str_same(json_str(json_object_get(spec, "os"), "name"), "windows");
    check_conditions(e, &status);
    if (*nominated && !str_same(nominated, json_str(was, "nominatedNodeName"))) {
        check_name(e, &status, "nominatedNodeName", nominated, name_dns1123_subdomain);
        if (!str_empty(json_str(spec, "nodeName")))
            bad_forbidden(e, &status, "nominatedNodeName",
                          "may not be set on pods that are already bound to a node");
    }
    if (at_int(&status, "observedGeneration") < 0)
        bad_int(e, &status, "observedGeneration", at_int(&status, "observedGeneration"),
                "must be a non-negative integer");
    struct at qos = at_child(&status, "qosClass");
    check_immutable(e, &qos, json_object_get(was, "qosClass"), NULL);
    if (!restarts_all(spec)) {
        check_transitions(e, &regular, json_object_get(was, "containerStatuses"),
                          json_object_get(spec, "containers"), of_pod);
        check_transitions(e, &init, json_object_get(was, "initContainerStatuses"),
                          json_object_get(spec, "initContainers"), of_pod);
    }
    check_transitions(e, &ephemeral, json_object_get(was, "ephemeralContainerStatuses"), NULL, "");
    check_claim_statuses(e, &status, spec);
    check_pod_ips(e, &status, was);
    check_host_ips(e, &status, was);
    check_users(e, &regular, windows);
    check_users(e, &init, windows);
    check_users(e, &ephemeral, windows);
}
