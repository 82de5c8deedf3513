/* The volumes of other systems (NFS, iSCSI, Ceph, clouds), which pods name directly and
 * PersistentVolumes describe: mostly, what must be said. */
#include <ctype.h>

#include "sim/api/strategy_kinds.h"

static void check_range(struct field_errors *e, const struct at *at, const char *child, int low,
                        int high) {
    int64_t n = at_int(at, child);
    /* the text of partitions says 1, the rule 0 */
    if (n < 0 || n > 255)
        bad_int(e, at, child, n, "must be between %d and %d, inclusive", low, high);
}

static void check_partition(struct field_errors *e, const struct at *at,
                            const struct volume_place *p) {
    (void)p;
    check_range(e, at, "partition", 1, 255);
}

static void check_git(struct field_errors *e, const struct at *at, const struct volume_place *p) {
    (void)p;
    check_relative_path(e, at, "directory", at_str(at, "directory"));
}

static void check_nfs(struct field_errors *e, const struct at *at, const struct volume_place *p) {
    (void)p;
    if (*at_str(at, "path") != '/')
        bad_string(e, at, "path", at_str(at, "path"), "must be an absolute path");
}

/* --- iSCSI --- */

static bool all_alnum(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]))
            return false;
    return !s[n];
}

/* iqn.YYYY-MM.authority:name somewhere at the end of the text. */
static bool is_iqn(const char *text) {
    for (const char *p = strstr(text, "iqn."); p; p = strstr(p + 1, "iqn.")) {
        const char *d = p + 4;
        if (strspn(d, "0123456789") != 4 || d[4] != '-' || strspn(d + 5, "0123456789") < 2 ||
            d[7] != '.')
            continue;
        size_t authority = 0;
        while (isalnum((unsigned char)d[8 + authority]) || d[8 + authority] == '-' ||
               d[8 + authority] == '.')
            authority++;
        const char *name = d + 8 + authority;
        if (authority && *name == ':' && name[1] && !strpbrk(name + 1, ",;*&$| \t\n\f\r"))
            return true;
    }
    return false;
}

static bool is_initiator(const char *text) {
    if (str_starts(text, "iqn"))
        return is_iqn(text);
    if (str_starts(text, "eui"))
        return strlen(text) == 20 && all_alnum(text + 4, 16);
    return strlen(text) == 36 && all_alnum(text + 4, 32);
}

static bool has_known_prefix(const char *text) {
    return str_starts(text, "iqn") || str_starts(text, "eui") || str_starts(text, "naa");
}

static void check_iscsi_name(struct field_errors *e, const struct at *at, const char *child,
                             const char *value, bool persistent) {
    if (!has_known_prefix(value))
        bad_string(e, at, child, value, "%s",
                   persistent ? "must be valid format"
                              : "must be valid format starting with iqn, eui, or naa");
    else if (!is_initiator(value))
        bad_string(e, at, child, value, "must be valid format");
}

static void check_iscsi(struct field_errors *e, const struct at *at, const struct volume_place *p) {
    const char *portal = at_str(at, "targetPortal"), *iqn = at_str(at, "iqn");
    bool named = at_has(at, "initiatorName");
    bool too_long = named && strlen(p->volume) + 1 + strlen(portal) > 64;
    if (!*portal)
        bad_required(e, at, "targetPortal", "");
    if (p->persistent && too_long)
        bad_string(e, at, "targetportal", portal, "%s", VOLUME_ISCSI_TOO_LONG);
    if (!*iqn)
        bad_required(e, at, "iqn", "");
    else
        check_iscsi_name(e, at, "iqn", iqn, p->persistent);
    check_range(e, at, "lun", 0, 255);
    bool chap = at_bool(at, "chapAuthDiscovery") || at_bool(at, "chapAuthSession");
    struct at secret = at_child(at, "secretRef");
    if (chap && !secret.v)
        bad_required(e, at, "secretRef", "");
    if (p->persistent && secret.v && !*at_str(&secret, "name"))
        bad_required(e, &secret, "name", "");
    if (named)
        check_iscsi_name(e, at, "initiatorname", at_str(at, "initiatorName"), p->persistent);
}

/* --- others --- */

static void check_flocker(struct field_errors *e, const struct at *at,
                          const struct volume_place *p) {
    const char *name = at_str(at, "datasetName"), *uuid = at_str(at, "datasetUUID");
    (void)p;
    if (!*name && !*uuid)
        bad_required(e, at, NULL, "one of datasetName and datasetUUID is required");
    if (*name && *uuid)
        bad_string(e, at, NULL, "resource",
                   "datasetName and datasetUUID can not be specified simultaneously");
    if (strchr(name, '/'))
        bad_string(e, at, "datasetName", name, "must not contain '/'");
}

static void check_secret_ref(struct field_errors *e, const struct at *at,
                             const struct volume_place *p) {
    struct at ref = at_child(at, "secretRef");
    if (!ref.v)
        return;
    if (!*at_str(&ref, "name"))
        bad_required(e, &ref, "name", "");
    if (p->persistent && !*at_str(&ref, "namespace"))
        bad_required(e, &ref, "namespace", "");
}

static bool is_host_port(const char *p, size_t len) {
    const char *colon = memrchr(p, ':', len);
    if (!colon)
        return false;
    size_t host = (size_t)(colon - p);
    if (len && p[0] == '[')
        return host > 1 && p[host - 1] == ']';
    return !memchr(p, ':', host);
}

static void check_quobyte(struct field_errors *e, const struct at *at,
                          const struct volume_place *p) {
    static const char *const want = "must be a host:port pair or multiple pairs separated by "
                                    "commas";
    const char *registry = at_str(at, "registry");
    (void)p;
    if (!*registry) {
        bad_required(e, at, "registry", want);
    } else if (strlen(at_str(at, "tenant")) >= 65) {
        bad_required(e, at, "tenant",
                     "must be a UUID and may not exceed a length of 64 characters");
    } else {
        for (const char *pair = registry;;) {
            size_t len = strcspn(pair, ",");
            if (!is_host_port(pair, len))
                bad_string(e, at, "registry", registry, "%s", want);
            if (!pair[len])
                break;
            pair += len + 1;
        }
    }
    if (!*at_str(at, "volume"))
        bad_required(e, at, "volume", "");
}

static void check_fc(struct field_errors *e, const struct at *at, const struct volume_place *p) {
    size_t wwns = at_len(at, "targetWWNs"), wwids = at_len(at, "wwids");
    (void)p;
    if (!wwns && !wwids)
        bad_required(e, at, "targetWWNs", "must specify either targetWWNs or wwids, but not both");
    if (wwns && wwids)
        bad_value(e, at, "targetWWNs", at_get(at, "targetWWNs"),
                  "targetWWNs and wwids can not be specified simultaneously");
    if (wwns && !at_has(at, "lun"))
        bad_required(e, at, "lun", "lun is required if targetWWNs is specified");
    else if (wwns)
        check_range(e, at, "lun", 0, 255);
}

static void check_flex(struct field_errors *e, const struct at *at, const struct volume_place *p) {
    struct at options = at_child(at, "options");
    const char *key;
    json_t *value;
    (void)p;
    json_object_foreach((json_t *)options.v, key, value) {
        _cleanup_free_ char *domain = xasprintf(".%.*s", (int)strcspn(key, "/"), key);
        for (char *c = domain; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        struct at at_option = at_key(&options, key);
        if (str_ends(domain, ".kubernetes.io") || str_ends(domain, ".k8s.io"))
            bad_string(e, &at_option, NULL, key,
                       "kubernetes.io and k8s.io namespaces are reserved");
    }
}

static void check_azure_file(struct field_errors *e, const struct at *at,
                             const struct volume_place *p) {
    if (p->persistent && at_has(at, "secretNamespace") && !*at_str(at, "secretNamespace"))
        bad_required(e, at, "secretNamespace", "");
}

static void check_azure_disk(struct field_errors *e, const struct at *at,
                             const struct volume_place *p) {
    static const char *const modes[] = {"None", "ReadOnly", "ReadWrite", NULL};
    static const char *const kinds[] = {"Dedicated", "Managed", "Shared", NULL};
    static const char *const managed[] = {"/subscriptions/{sub-id}/resourcegroups/{group-name}/"
                                          "providers/microsoft.compute/disks/{disk-id}",
                                          NULL};
    static const char *const blob[] = {
        "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd", NULL};
    const char *uri = at_str(at, "diskURI");
    (void)p;
    if (at_has(at, "cachingMode"))
        check_one_of(e, at, "cachingMode", modes);
    if (!at_has(at, "kind"))
        return;
    check_one_of(e, at, "kind", kinds);
    bool is_managed = streq(at_str(at, "kind"), "Managed");
    if (is_managed && !str_starts(uri, "/subscriptions/"))
        bad_unsupported(e, at, "diskURI", at_get(at, "diskURI"), managed);
    if (!is_managed && !str_starts(uri, "https://"))
        bad_unsupported(e, at, "diskURI", at_get(at, "diskURI"), blob);
}

static void check_glusterfs(struct field_errors *e, const struct at *at,
                            const struct volume_place *p) {
    const char *ns = at_str(at, "endpointsNamespace");
    if (!p->persistent || !at_has(at, "endpointsNamespace"))
        return;
    if (!*ns)
        bad_string(e, at, "endpointsNamespace", ns,
                   "if the endpointnamespace is set, it must be a valid namespace name");
    else
        check_name(e, at, "endpointsNamespace", ns, name_dns1123_label);
}

static void check_storage_os(struct field_errors *e, const struct at *at,
                             const struct volume_place *p) {
    const char *ns = at_str(at, "volumeNamespace");
    if (*at_str(at, "volumeName"))
        check_name(e, at, "volumeName", at_str(at, "volumeName"), name_dns1123_label);
    if (*ns)
        check_name(e, at, "volumeNamespace", ns, name_dns1123_label);
    check_secret_ref(e, at, p);
}

/* In alphabetic order; the callers have the server's. */
static const struct {
    const char *source;
    const char *path;        /* where complaints are made, if not under that name */
    const char *required[3]; /* members that must be there */
    void (*more)(struct field_errors *e, const struct at *at, const struct volume_place *p);
} foreign[] = {
    {"awsElasticBlockStore", NULL, {"volumeID"}, check_partition},
    {"azureDisk", NULL, {"diskName", "diskURI"}, check_azure_disk},
    {"azureFile", NULL, {"secretName", "shareName"}, check_azure_file},
    {"cephfs", NULL, {"monitors"}, NULL},
    {"cinder", NULL, {"volumeID"}, check_secret_ref},
    {"fc", NULL, {NULL}, check_fc},
    {"flexVolume", NULL, {"driver"}, check_flex},
    {"flocker", NULL, {NULL}, check_flocker},
    {"gcePersistentDisk", "persistentDisk", {"pdName"}, check_partition},
    {"gitRepo", NULL, {"repository"}, check_git},
    {"glusterfs", NULL, {"endpoints", "path"}, check_glusterfs},
    {"iscsi", NULL, {NULL}, check_iscsi},
    {"nfs", NULL, {"server", "path"}, check_nfs},
    {"photonPersistentDisk", NULL, {"pdID"}, NULL},
    {"portworxVolume", NULL, {"volumeID"}, NULL},
    {"quobyte", NULL, {NULL}, check_quobyte},
    {"rbd", NULL, {"monitors", "image"}, NULL},
    {"scaleIO", NULL, {"gateway", "system", "volumeName"}, NULL},
    {"storageos", NULL, {"volumeName"}, check_storage_os},
    {"vsphereVolume", NULL, {"volumePath"}, NULL},
};

bool check_foreign_source(struct field_errors *e, const struct at *volume, const char *source,
                          const struct volume_place *place) {
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
        if (!streq(foreign[i].source, source))
            continue;
        const char *path = foreign[i].path ? foreign[i].path : source;
        struct at at = at_named(volume, path, at_get(volume, source));
        for (size_t r = 0; r < ARRAY_LEN(foreign[i].required) && foreign[i].required[r]; r++) {
            const char *member = foreign[i].required[r];
            if (!*at_str(&at, member) && !at_len(&at, member))
                bad_required(e, &at, member, "");
        }
        if (foreign[i].more)
            foreign[i].more(e, &at, place);
        return true;
    }
    return false;
}
