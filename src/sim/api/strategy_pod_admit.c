/* The admission plug-ins for pods: ServiceAccount, Priority, DefaultTolerationSeconds,
 * PodTopologyLabels and RuntimeClass. */
#include <inttypes.h>

#include "sim/api/strategy_kinds.h"

#define TOKEN_VOLUME "kube-api-access-"
#define TOKEN_PATH   "/var/run/secrets/kubernetes.io/serviceaccount"

enum { TOKEN_SECONDS = 3607 }; /* the server's mark for tokens that it may extend */

/* --- ServiceAccount --- */

static json_t *token_volume(const char *name) {
    return json_pack("{s:s, s:{s:i, s:["
                     "{s:{s:s, s:i}},"
                     "{s:{s:s, s:[{s:s, s:s}]}},"
                     "{s:{s:[{s:s, s:{s:s, s:s}}]}}]}}",
                     "name", name, "projected", "defaultMode", 0644, "sources",
                     "serviceAccountToken", "path", "token", "expirationSeconds", TOKEN_SECONDS,
                     "configMap", "name", "kube-root-ca.crt", "items", "key", "ca.crt", "path",
                     "ca.crt", "downwardAPI", "items", "path", "namespace", "fieldRef",
                     "apiVersion", "v1", "fieldPath", "metadata.namespace");
}

/* Whether a mount was added. */
static bool mount_token(json_t *container, const char *volume) {
    size_t i;
    json_t *mount;
    json_array_foreach(json_object_get(container, "volumeMounts"), i,
                       mount) if (str_same(json_str(mount, "mountPath"), TOKEN_PATH)) return false;
    json_array_append_new(
        array_at(container, "volumeMounts"),
        json_pack("{s:s, s:b, s:s}", "name", volume, "readOnly", 1, "mountPath", TOKEN_PATH));
    return true;
}

static void mount_tokens(json_t *spec, struct prng *random) {
    static const char *const lists[] = {"initContainers", "containers"};
    _cleanup_free_ char *name = NULL;
    bool there = false, used = false;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(spec, "volumes"), i, item) {
        const char *n = strna(json_str(item, "name"));
        if (!there && str_starts(n, TOKEN_VOLUME)) {
            name = xstrdup(n);
            there = true;
        }
    }
    if (!there)
        name = name_generate(TOKEN_VOLUME, random);
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach(json_object_get(spec, lists[l]), i, item) used |=
            mount_token(item, name);
    if (used && !there)
        json_array_append_new(array_at(spec, "volumes"), token_volume(name));
}

static bool wants_token(const json_t *account, const json_t *spec) {
    const json_t *own = json_object_get(spec, "automountServiceAccountToken");
    const json_t *of_account = json_object_get(account, "automountServiceAccountToken");
    return own ? json_is_true(own) : !of_account || json_is_true(of_account);
}

static void take_pull_secrets(json_t *spec, const json_t *account) {
    const json_t *secrets = json_object_get(account, "imagePullSecrets");
    size_t i;
    json_t *secret;
    if (json_array_size(json_object_get(spec, "imagePullSecrets")))
        return;
    json_array_foreach((json_t *)secrets, i, secret)
        json_array_append_new(array_at(spec, "imagePullSecrets"),
                              json_pack("{s:s}", "name", strna(json_str(secret, "name"))));
}

static void find_secret(void *arg, const struct at *container) {
    bool *found = arg;
    struct at env = at_child(container, "env"), from = at_child(container, "envFrom");
    at_each(var, &env) {
        struct at source = at_child(&var, "valueFrom");
        *found |= at_has(&source, "secretKeyRef");
    }
    at_each(source, &from) *found |= at_has(&source, "secretRef");
}

static bool uses_secrets(const struct at *spec) {
    struct at volumes = at_child(spec, "volumes");
    bool found = at_len(spec, "imagePullSecrets") > 0;
    at_each(volume, &volumes) {
        struct at projected = at_child(&volume, "projected");
        struct at sources = at_child(&projected, "sources");
        found |= at_has(&volume, "secret");
        at_each(source, &sources) found |= at_has(&source, "secret");
    }
    each_container(spec, find_secret, &found);
    return found;
}

/* A kubelet's own pod, shown in the API: it cannot use anything from there. */
static int admit_mirror(struct strategy_call *c, const struct at *spec) {
    struct at volumes = at_child(spec, "volumes");
    if (*at_str(spec, "serviceAccountName"))
        return strategy_forbid(c, "a mirror pod may not reference service accounts");
    if (uses_secrets(spec))
        return strategy_forbid(c, "a mirror pod may not reference secrets");
    at_each(volume, &volumes) {
        struct at projected = at_child(&volume, "projected");
        struct at sources = at_child(&projected, "sources");
        at_each(source, &sources) if (
            at_has(&source, "serviceAccountToke"
                            "n")) return strategy_forbid(c,
                                                         "a mirror pod may not use "
                                                         "ServiceAccountToken volume projections");
    }
    return 0;
}

static int admit_account(struct strategy_call *c, json_t *spec) {
    struct at at = at_root(c->obj), meta = at_child(&at, "metadata"), at_spec = at_root(spec);
    struct at annotations = at_child(&meta, "annotations");
    const char *ns = at_str(&meta, "namespace");
    if (at_has(&annotations, "kubernetes.io/config.mirror"))
        return admit_mirror(c, &at_spec);
    default_string(spec, "serviceAccountName", "default");
    const char *name = json_str(spec, "serviceAccountName");
    set_string(spec, "serviceAccount", name);
    _cleanup_problems_ struct problems p = PROBLEMS_INIT;
    name_path_segment(name, &p);
    if (p.v.len) {
        _cleanup_free_ char *why = problems_join(&p, " ");
        return strategy_forbid(
            c, "error looking up service account %s/%s: invalid resource name \"%s\": [%s]", ns,
            name, name, why);
    }
    _cleanup_json_ json_t *account = c->ctx->get(c->ctx->cookie, "serviceaccounts", ns, name);
    if (!account)
        return strategy_forbid(
            c, "error looking up service account %s/%s: serviceaccount \"%s\" not found", ns, name,
            name);
    if (wants_token(account, spec))
        mount_tokens(spec, c->ctx->random);
    take_pull_secrets(spec, account);
    return 0;
}

/* --- Priority --- */

static json_t *default_class(struct strategy_call *c) {
    _cleanup_json_ json_t *all = c->ctx->list(c->ctx->cookie, "priorityclasses");
    json_t *best = NULL, *class;
    size_t i;
    json_array_foreach(
        all, i, class) if (json_is_true(json_object_get(class, "globalDefault")) &&
                           (!best || json_integer_value(json_object_get(best, "value")) >
                                         json_integer_value(json_object_get(class, "value"))))
        best = class;
    return json_incref(best);
}

static int admit_priority(struct strategy_call *c, json_t *spec) {
    struct at at = at_root(spec);
    const char *name = at_str(&at, "priorityClassName");
    _cleanup_json_ json_t *class =
        *name ? c->ctx->get(c->ctx->cookie, "priorityclasses", "", name) : default_class(c);
    if (*name && !class)
        return strategy_forbid(c, "no PriorityClass with name %s was found", name);
    if (class && !*name)
        set_string(spec, "priorityClassName",
                   strna(json_str(json_object_get(class, "metadata"), "name")));
    int64_t value = json_integer_value(json_object_get(class, "value"));
    if (at_has(&at, "priority") && at_int(&at, "priority") != value)
        return strategy_forbid(c,
                               "the integer value of priority (%" PRId64
                               ") must not be provided in pod spec; priority admission controller "
                               "computed %" PRId64 " from the given PriorityClass name",
                               at_int(&at, "priority"), value);
    set_int(spec, "priority", value);
    const char *policy = class ? json_str(class, "preemptionPolicy") : "PreemptLowerPriority";
    if (!policy)
        return 0;
    if (at_has(&at, "preemptionPolicy") && !streq(at_str(&at, "preemptionPolicy"), policy))
        return strategy_forbid(c,
                               "the string value of PreemptionPolicy (%s) must not be provided in "
                               "pod spec; priority admission controller computed %s from the given "
                               "PriorityClass name",
                               at_str(&at, "preemptionPolicy"), policy);
    set_string(spec, "preemptionPolicy", policy);
    return 0;
}

static void keep_priority(json_t *spec, const json_t *old) {
    static const char *const keys[] = {"priority", "preemptionPolicy"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!json_object_get(spec, keys[i]))
            copy_member(spec, old, keys[i]);
}

/* --- DefaultTolerationSeconds --- */

static bool tolerates(const struct at *spec, const char *taint) {
    struct at list = at_child(spec, "tolerations");
    at_each(t, &list) {
        const char *key = at_str(&t, "key"), *effect = at_str(&t, "effect");
        if ((!*key || streq(key, taint)) && (!*effect || streq(effect, "NoExecute")))
            return true;
    }
    return false;
}

static void admit_tolerations(json_t *spec) {
    static const char *const taints[] = {"node.kubernetes.io/not-ready",
                                         "node.kubernetes.io/unreachable"};
    struct at at = at_root(spec);
    bool has[ARRAY_LEN(taints)];
    for (size_t i = 0; i < ARRAY_LEN(taints); i++)
        has[i] = tolerates(&at, taints[i]);
    for (size_t i = 0; i < ARRAY_LEN(taints); i++)
        if (!has[i])
            json_array_append_new(array_at(spec, "tolerations"),
                                  json_pack("{s:s, s:s, s:s, s:i}", "key", taints[i], "operator",
                                            "Exists", "effect", "NoExecute", "tolerationSeconds",
                                            300));
}

/* --- PodTopologyLabels --- */

static void admit_topology(struct strategy_call *c, const json_t *spec) {
    static const char *const keys[] = {"topology.kubernetes.io/zone",
                                       "topology.kubernetes.io/region"};
    const char *name = json_str(spec, "nodeName");
    if (str_empty(name))
        return;
    _cleanup_json_ json_t *node = c->ctx->get(c->ctx->cookie, "nodes", "", name);
    const json_t *labels = json_object_get(json_object_get(node, "metadata"), "labels");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (json_object_get(labels, keys[i]))
            copy_member(object_at(object_at(c->obj, "metadata"), "labels"), labels, keys[i]);
}

int admit_pod(struct strategy_call *c) {
    json_t *spec = object_at(c->obj, "spec");
    if (c->old)
        keep_priority(spec, json_object_get(c->old, "spec"));
    else if (admit_account(c, spec) < 0 || admit_priority(c, spec) < 0)
        return -1;
    admit_tolerations(spec);
    if (!c->old)
        admit_topology(c, spec);
    return 0;
}

/* RuntimeClass, as far as it goes without any: only a class gives a pod an overhead. */
int admit_pod_after(struct strategy_call *c) {
    const json_t *spec = json_object_get(c->obj, "spec");
    if (!c->old && json_object_get(spec, "overhead") && !json_object_get(spec, "runtimeClassName"))
        return strategy_forbid(c, "pod rejected: Pod Overhead set without corresponding "
                                  "RuntimeClass defined Overhead");
    return 0;
}
