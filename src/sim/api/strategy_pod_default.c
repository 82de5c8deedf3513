/* Defaults of pods and of pod templates. */
#include "sim/api/strategy_kinds.h"

/* --- images: whether the tag is "latest" --- */

static bool is_lower_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c) {
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* One part of a repository's path: words of lower case letters and digits between ".", "_", "__" or
 * any number of "-". */
static bool is_path_component(const char *p, size_t len) {
    size_t i = 0;
    while (i < len) {
        size_t word = i;
        while (i < len && is_lower_alnum(p[i]))
            i++;
        if (i == word)
            return false;
        if (i == len)
            return true;
        if (p[i] == '-')
            while (i < len && p[i] == '-')
                i++;
        else if (p[i] == '_')
            i += i + 1 < len && p[i + 1] == '_' ? 2 : 1;
        else if (p[i] == '.')
            i++;
        else
            return false;
    }
    return false;
}

static bool is_repository_path(const char *p, size_t len) {
    while (len) {
        const char *slash = memchr(p, '/', len);
        size_t n = slash ? (size_t)(slash - p) : len;
        if (!is_path_component(p, n))
            return false;
        if (!slash)
            return true;
        p += n + 1;
        len -= n + 1;
    }
    return false;
}

/* "registry.example.com:5000", "[::1]:5000". */
static bool is_registry(const char *p, size_t len) {
    const char *colon = memrchr(p, ':', len), *bracket = memrchr(p, ']', len);
    size_t host = colon && (!bracket || colon > bracket) ? (size_t)(colon - p) : len;
    for (size_t i = host + 1; i < len; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    if (host < len && host + 1 == len)
        return false;
    if (host > 2 && p[0] == '[' && p[host - 1] == ']')
        return true;
    for (size_t i = 0; i < host; i++) {
        bool edge = i == 0 || i + 1 == host || p[i - 1] == '.' || p[i + 1] == '.';
        if (!is_alnum(p[i]) && (edge || (p[i] != '-' && p[i] != '.')))
            return false;
    }
    return host > 0;
}

static bool is_tag(const char *p, size_t len) {
    if (len == 0 || len > 128 || p[0] == '.' || p[0] == '-')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_alnum(p[i]) && p[i] != '_' && p[i] != '.' && p[i] != '-')
            return false;
    return true;
}

/* What docker's reference parser takes for a tag: "latest" when there is neither tag nor digest,
 * and none at all when the name is no image name. */
static bool image_is_latest(const char *image) {
    size_t len = strlen(image), hex = strspn(image, "0123456789abcdef");
    if (len == 64 && hex == 64)
        return false; /* an identifier */
    const char *at = strchr(image, '@');
    if (at) {
        const char *colon = strchr(at, ':');
        size_t digits = colon ? strspn(colon + 1, "0123456789abcdefABCDEF") : 0;
        if (digits < 32 || colon[1 + digits])
            return false;
        len = (size_t)(at - image);
    }
    const char *slash = memchr(image, '/', len), *path = image;
    size_t domain = slash ? (size_t)(slash - image) : 0;
    bool named = false;
    for (size_t i = 0; i < domain; i++)
        named |= image[i] == '.' || image[i] == ':' || (image[i] >= 'A' && image[i] <= 'Z');
    named |= domain == 9 && memcmp(image, "localhost", 9) == 0;
    if (named) {
        if (!is_registry(image, domain))
            return false;
        path = slash + 1;
        len -= domain + 1;
    }
    const char *colon = memchr(path, ':', len);
    size_t name = colon ? (size_t)(colon - path) : len;
    if (!is_repository_path(path, name) || domain + name > 255)
        return false;
    if (!colon)
        return !at;
    return is_tag(colon + 1, len - name - 1) && len - name - 1 == 6 &&
           memcmp(colon + 1, "latest", 6) == 0;
}

static void default_pull_policy(json_t *obj, const char *key, const char *image) {
    default_string(obj, key, image_is_latest(strna(image)) ? "Always" : "IfNotPresent");
}

/* --- containers --- */

static void default_field_ref(json_t *source) {
    json_t *ref = json_object_get(source, "fieldRef");
    if (ref)
        default_string(ref, "apiVersion", "v1");
}

static void default_http_get(json_t *handler) {
    json_t *get = json_object_get(handler, "httpGet");
    if (!get)
        return;
    default_string(get, "path", "/");
    default_string(get, "scheme", "HTTP");
}

/* Zero is no number of seconds or tries. */
static void default_positive(json_t *obj, const char *key, int64_t value) {
    if (json_integer_value(json_object_get(obj, key)) == 0)
        set_int(obj, key, value);
}

static void default_probe(json_t *container, const char *key) {
    json_t *probe = json_object_get(container, key);
    if (!probe)
        return;
    default_positive(probe, "timeoutSeconds", 1);
    default_positive(probe, "periodSeconds", 10);
    default_positive(probe, "successThreshold", 1);
    default_positive(probe, "failureThreshold", 3);
    default_http_get(probe);
    json_t *grpc = json_object_get(probe, "grpc");
    if (grpc && !json_is_string(json_object_get(grpc, "service")))
        set_string(grpc, "service", "");
}

static void default_container(json_t *c) {
    size_t i;
    json_t *item;
    default_pull_policy(c, "imagePullPolicy", json_str(c, "image"));
    default_string(c, "terminationMessagePath", "/dev/termination-log");
    default_string(c, "terminationMessagePolicy", "File");
    json_array_foreach(json_object_get(c, "ports"), i, item)
        default_string(item, "protocol", "TCP");
    json_array_foreach(json_object_get(c, "env"), i, item) {
        json_t *from = json_object_get(item, "valueFrom");
        json_t *file = json_object_get(from, "fileKeyRef");
        default_field_ref(from);
        if (file)
            default_bool(file, "optional", false);
    }
    json_t *resources = object_at(c, "resources");
    default_resource_list(resources, "limits");
    default_resource_list(resources, "requests");
    default_probe(c, "livenessProbe");
    default_probe(c, "readinessProbe");
    default_probe(c, "startupProbe");
    json_t *lifecycle = json_object_get(c, "lifecycle");
    default_http_get(json_object_get(lifecycle, "postStart"));
    default_http_get(json_object_get(lifecycle, "preStop"));
}

/* --- volumes --- */

static void default_mode(json_t *volume, const char *source) {
    json_t *s = json_object_get(volume, source);
    if (s)
        default_int(s, "defaultMode", 0644);
}

static void default_downward_items(json_t *source) {
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(source, "items"), i, item) default_field_ref(item);
}

void default_volume_source(json_t *volume) {
    json_t *host = json_object_get(volume, "hostPath"), *iscsi = json_object_get(volume, "iscsi");
    json_t *rbd = json_object_get(volume, "rbd"), *azure = json_object_get(volume, "azureDisk");
    json_t *scale = json_object_get(volume, "scaleIO");
    if (host && !json_object_get(host, "type"))
        set_string(host, "type", "");
    if (iscsi)
        default_string(iscsi, "iscsiInterface", "default");
    if (rbd) {
        default_string(rbd, "pool", "rbd");
        default_string(rbd, "user", "admin");
        default_string(rbd, "keyring", "/etc/ceph/keyring");
    }
    if (azure) {
        default_string(azure, "cachingMode", "ReadWrite");
        default_string(azure, "fsType", "ext4");
        default_bool(azure, "readOnly", false);
        default_string(azure, "kind", "Shared");
    }
    if (scale) {
        default_string(scale, "storageMode", "ThinProvisioned");
        default_string(scale, "fsType", "xfs");
    }
}

static void default_projected(json_t *projected) {
    size_t i;
    json_t *source;
    default_int(projected, "defaultMode", 0644);
    json_array_foreach(json_object_get(projected, "sources"), i, source) {
        json_t *token = json_object_get(source, "serviceAccountToken");
        default_downward_items(json_object_get(source, "downwardAPI"));
        if (token)
            default_int(token, "expirationSeconds", 3600);
    }
}

static void default_volume(json_t *volume) {
    if (json_object_size(volume) == (json_object_get(volume, "name") ? 1 : 0))
        json_object_set_new(volume, "emptyDir", json_object());
    json_t *image = json_object_get(volume, "image");
    if (image)
        default_pull_policy(image, "pullPolicy", json_str(image, "reference"));
    default_volume_source(volume);
    default_mode(volume, "secret");
    default_mode(volume, "configMap");
    default_mode(volume, "downwardAPI");
    default_downward_items(json_object_get(volume, "downwardAPI"));
    json_t *projected = json_object_get(volume, "projected");
    if (projected)
        default_projected(projected);
    json_t *tmpl = json_object_get(json_object_get(volume, "ephemeral"), "volumeClaimTemplate");
    if (tmpl)
        default_claim_spec(object_at(tmpl, "spec"));
}

/* --- specs --- */

static void drop_init_annotations(json_t *meta) {
    static const char *const dead[] = {"pod.beta.kubernetes.io/init-containers",
                                       "pod.alpha.kubernetes.io/init-containers",
                                       "pod.beta.kubernetes.io/init-container-statuses",
                                       "pod.alpha.kubernetes.io/init-container-statuses"};
    json_t *annotations = json_object_get(meta, "annotations");
    for (size_t i = 0; i < ARRAY_LEN(dead); i++)
        json_object_del(annotations, dead[i]);
    if (annotations && !json_object_size(annotations))
        json_object_del(meta, "annotations");
}

static void default_pod_spec(json_t *spec) {
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    size_t i;
    json_t *item;
    default_string(spec, "dnsPolicy", "ClusterFirst");
    default_string(spec, "restartPolicy", "Always");
    default_int(spec, "terminationGracePeriodSeconds", 30);
    default_string(spec, "schedulerName", "default-scheduler");
    object_at(spec, "securityContext");
    json_array_foreach(json_object_get(spec, "volumes"), i, item) default_volume(item);
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        json_array_foreach(json_object_get(spec, lists[l]), i, item) default_container(item);
    default_resource_list(spec, "overhead");
    default_resource_list(json_object_get(spec, "resources"), "limits");
    default_resource_list(json_object_get(spec, "resources"), "requests");
    /* two names of one field */
    const char *account = json_str(spec, "serviceAccountName");
    if (str_empty(account))
        account = json_str(spec, "serviceAccount");
    if (!str_empty(account)) {
        json_t *name = json_string(account);
        json_object_set(spec, "serviceAccountName", name);
        json_object_set_new(spec, "serviceAccount", name);
    }
}

void default_pod_template(json_t *tmpl) {
    default_pod_spec(object_at(tmpl, "spec"));
    drop_init_annotations(json_object_get(tmpl, "metadata"));
}

/* What a container may use at most it also asks for. */
static void default_requests(json_t *container) {
    json_t *resources = json_object_get(container, "resources"), *value;
    const char *name;
    json_object_foreach(json_object_get(resources, "limits"), name,
                        value) if (!json_object_get(json_object_get(resources, "requests"), name))
        json_object_set(object_at(resources, "requests"), name, value);
}

static void default_host_ports(json_t *container) {
    size_t i;
    json_t *port;
    json_array_foreach(json_object_get(container, "ports"), i, port) default_positive(
        port, "hostPort", json_integer_value(json_object_get(port, "containerPort")));
}

/* podIP is the first of podIPs; where they differ, podIP decides. */
static void default_addresses(json_t *status) {
    const char *ip = json_str(status, "podIP");
    json_t *ips = json_object_get(status, "podIPs");
    const char *first = json_str(json_array_get(ips, 0), "ip");
    if (!str_empty(ip) && !str_same(ip, first)) {
        ips = json_array();
        json_array_append_new(ips, json_pack("{s:s}", "ip", ip));
        json_object_set_new(status, "podIPs", ips);
    } else if (str_empty(ip) && !str_empty(first)) {
        set_string(status, "podIP", first);
    }
}

void default_pod(json_t *pod) {
    json_t *spec = object_at(pod, "spec"), *c;
    bool host = json_is_true(json_object_get(spec, "hostNetwork"));
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        size_t i;
        json_array_foreach(json_object_get(spec, lists[l]), i, c) {
            default_requests(c);
            if (host)
                default_host_ports(c);
        }
    }
    default_pod_resources(spec);
    default_bool(spec, "enableServiceLinks", true);
    default_pod_spec(spec);
    if (json_integer_value(json_object_get(spec, "terminationGracePeriodSeconds")) < 0)
        set_int(spec, "terminationGracePeriodSeconds", 1);
    drop_init_annotations(json_object_get(pod, "metadata"));
    json_t *status = json_object_get(pod, "status");
    if (status)
        default_addresses(status);
}
