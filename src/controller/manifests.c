/* What is installed into a cluster so that the controller runs there. */
#include "controller/manifests.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "base/yaml.h"
#include "controller/certs.h"
#include "engine/checks.h"
#include "engine/rules.h"
#include "model/own_crd.h"

enum {
    NAMESPACE_LEN = 63, /* of a DNS label */
    IMAGE_LEN = 512,    /* a name has at most 255, a digest 71; the rest is a tag */
};

const struct manifest_names manifest_names[FORM_COUNT] = {
    [FORM_SLIPWAY] = {"slipway", "slipway-system", "slipway-controller", "slipway-fleetlock", true,
                      true},
    [FORM_REBOOT_MANAGER] = {"reboot-manager", "reboot-manager", "reboot-manager", "reboot-manager",
                             false, false},
};

/* --- what the controller may do --- */

/* Where a rule holds. Each is a role of its own: what is needed in one namespace is not permitted
 * in all. */
enum place { EVERYWHERE, OWN_NAMESPACE, EVENTS, NODE_LEASES, PLACES };

#define SERVICE "$service"

static const struct rule {
    enum place place;
    const char *group, *resource, *verbs;
    const char *name; /* only the object of that name; NULL: any; SERVICE: that of the form */
    bool deletes;     /* only in the form that may: nothing but a Policy's `escalate` needs it */
} rules[] = {
    {EVERYWHERE, "", "nodes", "get list watch patch", NULL, false},
    {EVERYWHERE, "", "nodes/status", "patch", NULL, false},
    {EVERYWHERE, "", "pods", "list watch", NULL, false},
    {EVERYWHERE, "", "pods", "delete", NULL, true}, /* a rule that escalates */
    {EVERYWHERE, "", "pods/eviction", "create", NULL, false},
    {EVERYWHERE, "", "persistentvolumeclaims", "get", NULL, false},
    {EVERYWHERE, "", "persistentvolumes", "get", NULL, false},         /* waitRescheduled */
    {EVERYWHERE, "apps", "daemonsets", "get list watch", NULL, false}, /* list: kured's lock */
    {EVERYWHERE, "apps", "statefulsets", "get", NULL, false},
    {EVERYWHERE, "apps", "replicasets", "get", NULL, false}, /* waitRescheduled */
    {EVERYWHERE, "policy", "poddisruptionbudgets", "list watch", NULL, false},
    {EVERYWHERE, "storage.k8s.io", "volumeattachments", "list watch", NULL, false},
    /* Also in the form without the definitions: somebody may install them, and a server that
     * refuses does not say whether it has them. A Policy without a finalizer gives no slots. */
    {EVERYWHERE, OWN_GROUP, "policies", "list watch", NULL, false},
    {EVERYWHERE, OWN_GROUP, "policies", "patch", NULL, false}, /* the finalizer */
    {EVERYWHERE, OWN_GROUP, "policies/status", "patch", NULL, false},
    {EVERYWHERE, OWN_GROUP, "maintenances", "list watch", NULL, false},
    {EVERYWHERE, OWN_GROUP, "rollouts", "list watch", NULL, false},
    {EVERYWHERE, OWN_GROUP, "maintenances", "get", NULL, false},    /* is it gone? */
    {EVERYWHERE, OWN_GROUP, "maintenances", "create", NULL, false}, /* for rollouts */
    {EVERYWHERE, OWN_GROUP, "maintenances", "patch", NULL, false},  /* the finalizer */
    {EVERYWHERE, OWN_GROUP, "maintenances/status", "patch", NULL, false},
    {EVERYWHERE, OWN_GROUP, "rollouts/status", "patch", NULL, false},
    {EVERYWHERE, "", "configmaps", "list watch", ROOK_STATE_NAME, false}, /* the checks */
    {OWN_NAMESPACE, "", "configmaps", "get list watch create patch", NULL, false},
    {OWN_NAMESPACE, "coordination.k8s.io", "leases", "create", NULL, false},
    {OWN_NAMESPACE, "coordination.k8s.io", "leases", "get patch", "slipway-controller", false},
    /* For the certificate of HTTPS. */
    {OWN_NAMESPACE, "", "services", "get", SERVICE, false},
    {OWN_NAMESPACE, "", "secrets", "create", NULL, false},
    {OWN_NAMESPACE, "", "secrets", "get update", CERTS_CA, false},
    {OWN_NAMESPACE, "", "secrets", "get update", CERTS_TLS, false},
    {EVENTS, "", "events", "create patch", NULL, false},
    /* Whether another Slipway is at work, in another namespace. */
    {EVERYWHERE, "coordination.k8s.io", "leases", "list watch", "slipway-controller", false},
    {NODE_LEASES, "coordination.k8s.io", "leases", "get", NULL, false},
};

static json_t *words(const char *text) {
    json_t *list = json_array();
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " ");
        json_array_append_new(list, json_stringn(p, n));
        p += n + (p[n] == ' ');
    }
    return list;
}

/* Kinds of the systems that the checks know, whether they are installed or not. */
static void add_checks(json_t *list) {
    for (size_t i = 0; i < CHECK_SOURCES; i++) {
        const struct kind *kind = check_sources[i].kind;
        if (strchr(kind->group, '.'))
            json_array_append_new(list, json_pack("{s:[s],s:[s],s:o}", "apiGroups", kind->group,
                                                  "resources", kind->resource, "verbs",
                                                  words("list watch")));
    }
}

static json_t *rules_of(enum place place, const struct manifest_names *names) {
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        const struct rule *r = &rules[i];
        if (r->place != place || (r->deletes && !names->deletes))
            continue;
        json_t *rule = json_object();
        json_object_set_new(rule, "apiGroups", json_pack("[s]", r->group));
        json_object_set_new(rule, "resources", json_pack("[s]", r->resource));
        if (r->name)
            json_object_set_new(
                rule, "resourceNames",
                json_pack("[s]", streq(r->name, SERVICE) ? names->service : r->name));
        json_object_set_new(rule, "verbs", words(r->verbs));
        json_array_append_new(list, rule);
    }
    if (place == EVERYWHERE)
        add_checks(list);
    return list;
}

/* --- the objects; $name and the like are put in by value_of() --- */

#define META         "metadata: {name: $name, namespace: $namespace, labels: {app: $name}}\n"
#define META_CLUSTER "metadata: {name: $name, labels: {app: $name}}\n"
#define RBAC         "rbac.authorization.k8s.io"

#define ROLE_IN(namespace, rules)                                                                  \
    "---\n"                                                                                        \
    "apiVersion: " RBAC "/v1\n"                                                                    \
    "kind: Role\n"                                                                                 \
    "metadata: {name: $name, namespace: " namespace ", labels: {app: $name}}\n"                    \
                                                    "rules: " rules "\n"                           \
                                                    "---\n"                                        \
                                                    "apiVersion: " RBAC "/v1\n"                    \
                                                    "kind: RoleBinding\n"                          \
                                                    "metadata: {name: $name, "                     \
                                                    "namespace: " namespace ", labels: {app: "     \
                                                                            "$name}}\n"            \
                                                                            "roleRef: "            \
                                                                            "{apiGroup: " RBAC     \
                                                                            ", kind: Role, name: " \
                                                                            "$name}\n"             \
                                                                            "subjects: [{kind: "   \
                                                                            "ServiceAccount, "     \
                                                                            "name: $name, "        \
                                                                            "namespace: "          \
                                                                            "$namespace}]\n"

static const char rbac_text[] =
    "apiVersion: v1\n"
    "kind: Namespace\n"
    "metadata:\n"
    "  name: $namespace\n"
    "  labels:\n"
    "    app: $name\n"
    "    pod-security.kubernetes.io/enforce: restricted\n"
    "    pod-security.kubernetes.io/warn: restricted\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: ServiceAccount\n" META "---\n"
    "apiVersion: " RBAC "/v1\n"
    "kind: ClusterRole\n" META_CLUSTER "rules: $rules\n"
    "---\n"
    "apiVersion: " RBAC "/v1\n"
    "kind: ClusterRoleBinding\n" META_CLUSTER "roleRef: {apiGroup: " RBAC
    ", kind: ClusterRole, name: $name}\n"
    "subjects: [{kind: ServiceAccount, name: $name, namespace: $namespace}]\n" /**/
    ROLE_IN("$namespace", "$rules-own")
    /* Events of nodes are kept there, as those of the kubelet are. */
    ROLE_IN("default", "$rules-events") /**/
    ROLE_IN("kube-node-lease", "$rules-node-leases");

/* Where critical pods need a quota that permits them outside of kube-system (GKE for one), it is
 * there; elsewhere it is far away: a rollout has one pod more than there are replicas. */
static const char controller_text[] =
    "apiVersion: v1\n"
    "kind: ResourceQuota\n" META "spec:\n"
    "  hard: {pods: '20'}\n"
    "  scopeSelector:\n"
    "    matchExpressions:\n"
    "    - {scopeName: PriorityClass, operator: In, values: [system-cluster-critical]}\n"
    "---\n"
    "apiVersion: apps/v1\n"
    "kind: Deployment\n" META "spec:\n"
    "  replicas: $replicas\n"
    "  selector: {matchLabels: {app: $name}}\n"
    "  strategy:\n"
    "    type: RollingUpdate\n"
    "    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}\n"
    "  template:\n"
    "    metadata: {labels: {app: $name, " RULES_OWN_LABEL ": ''}}\n"
    "    spec:\n"
    "      serviceAccountName: $name\n"
    /* Commands that run may end (OPERATE_WITHIN_S), and the Lease is given up. */
    "      terminationGracePeriodSeconds: 630\n"
    "      priorityClassName: system-cluster-critical\n"
    /* A Service called slipway would be SLIPWAY_SERVICE_HOST and so on: our own settings. */
    "      enableServiceLinks: false\n"
    "      securityContext:\n"
    "        runAsNonRoot: true\n"
    "        runAsUser: 65532\n"
    "        runAsGroup: 65532\n"
    "        seccompProfile: {type: RuntimeDefault}\n"
    "      affinity:\n"
    "        podAntiAffinity:\n"
    "          preferredDuringSchedulingIgnoredDuringExecution:\n"
    "          - weight: 100\n"
    "            podAffinityTerm:\n"
    "              topologyKey: kubernetes.io/hostname\n"
    "              labelSelector: {matchLabels: {app: $name}}\n"
    "          - weight: 50\n"
    "            podAffinityTerm:\n"
    "              topologyKey: topology.kubernetes.io/zone\n"
    "              labelSelector: {matchLabels: {app: $name}}\n"
    /* In a small cluster it is the control plane that is left when a worker goes. */
    "      tolerations:\n"
    "      - {key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}\n"
    "      containers:\n"
    "      - name: $name\n"
    "        image: $image\n"
    "        imagePullPolicy: IfNotPresent\n"
    "        command: [slipway, controller]\n"
    "        args: ['--fleetlock-listen=:8080', '--fleetlock-tls-listen=:8443', "
    "'--fleetlock-service', $service, '--http-listen=:8081', '-v=2']\n"
    "        env:\n"
    "        - name: POD_NAMESPACE\n"
    "          valueFrom: {fieldRef: {fieldPath: metadata.namespace}}\n"
    "        ports:\n"
    "        - {name: fleetlock, containerPort: 8080}\n"
    "        - {name: fleetlock-tls, containerPort: 8443}\n"
    "        - {name: health, containerPort: 8081}\n"
    "        livenessProbe:\n"
    "          httpGet: {path: /healthz, port: health}\n"
    "          periodSeconds: 10\n"
    "          timeoutSeconds: 5\n"
    "          failureThreshold: 6\n"
    "        readinessProbe:\n"
    "          httpGet: {path: /readyz, port: health}\n"
    "          periodSeconds: 5\n"
    "          timeoutSeconds: 5\n"
    /* No limit of CPU: one that is throttled loses the Lease. */
    "        resources:\n"
    "          requests: {cpu: 50m, memory: 64Mi}\n"
    "          limits: {memory: 512Mi}\n"
    "        securityContext:\n"
    "          allowPrivilegeEscalation: false\n"
    "          readOnlyRootFilesystem: true\n"
    "          capabilities: {drop: [ALL]}\n"
    "---\n"
    "apiVersion: policy/v1\n"
    "kind: PodDisruptionBudget\n" META "spec:\n"
    "  maxUnavailable: 1\n"
    /* One that does not come up must not keep its node from being drained. */
    "  unhealthyPodEvictionPolicy: AlwaysAllow\n"
    "  selector: {matchLabels: {app: $name}}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: Service\n"
    "metadata: {name: $service, namespace: $namespace, labels: {app: $name}}\n"
    "spec:\n"
    "  type: ClusterIP\n"
    "  selector: {app: $name}\n"
    "  ports:\n"
    "  - {name: http, protocol: TCP, port: 80, targetPort: fleetlock}\n"
    "  - {name: https, protocol: TCP, port: 443, targetPort: fleetlock-tls}\n"
    /* Each replica by itself, and also one that is not ready: that is what is looked for. */
    "---\n"
    "apiVersion: v1\n"
    "kind: Service\n"
    "metadata:\n"
    "  name: $metrics\n"
    "  namespace: $namespace\n"
    "  labels: {app: $name}\n"
    "  annotations: {prometheus.io/scrape: 'true', prometheus.io/port: '8081'}\n"
    "spec:\n"
    "  clusterIP: None\n"
    "  publishNotReadyAddresses: true\n"
    "  selector: {app: $name}\n"
    "  ports:\n"
    "  - {name: metrics, protocol: TCP, port: 8081, targetPort: health}\n";

/* Before the built-in one for service accounts in general (9000), whose requests are the first to
 * wait; the Lease before everything else, as that of Kubernetes' own controllers. */
static const char flow_schema_text[] =
    "apiVersion: flowcontrol.apiserver.k8s.io/v1\n"
    "kind: FlowSchema\n"
    "metadata: {name: $lease-flow, labels: {app: $name}}\n"
    "spec:\n"
    "  matchingPrecedence: 200\n"
    "  priorityLevelConfiguration: {name: leader-election}\n"
    "  distinguisherMethod: {type: ByUser}\n"
    "  rules:\n"
    "  - subjects:\n"
    "    - kind: ServiceAccount\n"
    "      serviceAccount: {name: $name, namespace: $namespace}\n"
    "    resourceRules:\n"
    "    - apiGroups: [coordination.k8s.io]\n"
    "      resources: [leases]\n"
    "      verbs: [get, create, patch]\n"
    "      namespaces: [$namespace]\n"
    "---\n"
    "apiVersion: flowcontrol.apiserver.k8s.io/v1\n"
    "kind: FlowSchema\n" META_CLUSTER "spec:\n"
    "  matchingPrecedence: 1000\n"
    "  priorityLevelConfiguration: {name: workload-high}\n"
    "  distinguisherMethod: {type: ByUser}\n"
    "  rules:\n"
    "  - subjects:\n"
    "    - kind: ServiceAccount\n"
    "      serviceAccount: {name: $name, namespace: $namespace}\n"
    "    resourceRules:\n"
    "    - apiGroups: ['*']\n"
    "      resources: ['*']\n"
    "      verbs: ['*']\n"
    "      clusterScope: true\n"
    "      namespaces: ['*']\n";

/* --- putting them together --- */

static json_t *value_of(const struct manifest_opts *o, const char *word) {
    static const char *const places[PLACES] = {"rules", "rules-own", "rules-events",
                                               "rules-node-leases"};
    const struct manifest_names *n = &manifest_names[o->form];
    for (size_t i = 0; i < PLACES; i++)
        if (streq(word, places[i]))
            return rules_of((enum place)i, n);
    if (streq(word, "replicas"))
        return json_integer(o->replicas);
    if (streq(word, "lease-flow"))
        return json_sprintf("%s-leader-election", n->name);
    if (streq(word, "metrics"))
        return json_sprintf("%s-metrics", n->name);
    return json_string(streq(word, "name")        ? n->name
                       : streq(word, "namespace") ? o->ns
                       : streq(word, "service")   ? n->service
                                                  : o->image);
}

/* A copy with the values in it. */
static json_t *fill(const struct manifest_opts *o, const json_t *from) {
    const char *text = json_string_value(from), *key;
    size_t i;
    json_t *member, *copy;
    if (text && *text == '$')
        return value_of(o, text + 1);
    if (json_is_array(from)) {
        copy = json_array();
        json_array_foreach(from, i, member) json_array_append_new(copy, fill(o, member));
        return copy;
    }
    if (!json_is_object(from))
        return json_copy((json_t *)from);
    copy = json_object();
    json_object_foreach((json_t *)from, key, member)
        json_object_set_new(copy, key, fill(o, member));
    return copy;
}

static int add_text(const struct manifest_opts *o, const char *text, json_t *list,
                    struct err *err) {
    struct yaml_docs docs;
    int rc = yaml_load_all("manifests", text, strlen(text), &docs, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < docs.len; i++)
        json_array_append_new(list, fill(o, yaml_root(docs.p[i])));
    yaml_docs_done(&docs);
    return 0;
}

static void add_crds(json_t *list) {
    for (const struct own_resource *r = own_resources; r->kind; r++) {
        _cleanup_str_ struct str json = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &json, false);
        own_crd(r, &w);
        json_array_append_new(list, json_loads(str_get(&json), 0, NULL));
    }
}

/* The server says no to others; but what is asked for is known here, and now. */
static bool is_label(const char *text) {
    static const char middle[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t len = strlen(text);
    return len && len <= NAMESPACE_LEN && strspn(text, middle) == len && text[0] != '-' &&
           text[len - 1] != '-';
}

static bool is_image(const char *text) {
    static const char any[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "._-/:@";
    size_t len = strlen(text);
    return len && len <= IMAGE_LEN && strspn(text, any) == len && !strchr("._-/:@", text[0]) &&
           !strchr("/:@", text[len - 1]);
}

int manifests_make(const struct manifest_opts *o, json_t **out, struct err *err) {
    _cleanup_json_ json_t *list = json_array();
    int rc = 0;
    if (!is_label(o->ns))
        return err_set(err, EINVAL, "\"%s\" cannot be the name of a namespace", o->ns);
    if (!is_image(o->image))
        return err_set(err, EINVAL, "\"%s\" cannot be the name of an image", o->image);
    if (o->parts & PART_RBAC)
        rc = add_text(o, rbac_text, list, err);
    if (!rc && (o->parts & PART_CRDS) && manifest_names[o->form].definitions)
        add_crds(list);
    if (!rc && (o->parts & PART_CONTROLLER))
        rc = add_text(o, controller_text, list, err);
    if (!rc && (o->parts & PART_FLOW_SCHEMA))
        rc = add_text(o, flow_schema_text, list, err);
    if (!rc)
        *out = TAKE_PTR(list);
    return rc;
}
