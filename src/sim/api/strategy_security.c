/* Security contexts, and what an operating system forbids. */
#include "sim/api/strategy_kinds.h"

void each_container(const struct at *spec, void (*visit)(void *arg, const struct at *container),
                    void *arg) {
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct at list = at_child(spec, lists[i]);
        at_each(c, &list) visit(arg, &c);
    }
}

static void check_id(struct field_errors *e, const struct at *at, const char *child) {
    int64_t id = at_int(at, child);
    if (id < 0 || id > INT32_MAX)
        bad_int(e, at, child, id, "must be between 0 and %d, inclusive", INT32_MAX);
}

static void check_seccomp(struct field_errors *e, const struct at *profile) {
    static const char *const types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};
    const char *type = at_str(profile, "type");
    if (!profile->v)
        return;
    if (!*type)
        bad_required(e, profile, "type", "type is required when seccompProfile is set");
    else
        check_one_of(e, profile, "type", types);
    if (!streq(type, "Localhost")) {
        if (at_has(profile, "localhostProfile"))
            bad_struct(e, profile, "localhostProfile", &go_seccomp_profile, profile->v, NULL,
                       "can only be set when seccomp type is Localhost");
    } else if (!at_has(profile, "localhostProfile")) {
        bad_required(e, profile, "localhostProfile", "must be set when seccomp type is Localhost");
    } else {
        check_relative_path(e, profile, "localhostProfile", at_str(profile, "localhostProfile"));
    }
}

static bool is_padded(const char *s) {
    static const char blanks[] = " \t\n\v\f\r";
    return *s && (strchr(blanks, s[0]) || strchr(blanks, s[strlen(s) - 1]));
}

static void check_app_armor(struct field_errors *e, const struct at *profile) {
    static const char *const types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};
    const char *type = at_str(profile, "type"), *local = at_str(profile, "localhostProfile");
    bool has_local = at_has(profile, "localhostProfile");
    enum { PATH_MOST = 4095 };
    if (!profile->v)
        return;
    if (!*type) {
        bad_required(e, profile, "type", "type is required when appArmorProfile is set");
    } else if (!is_one_of(type, types)) {
        bad_unsupported(e, profile, "type", at_get(profile, "type"), types);
    } else if (!streq(type, "Localhost")) {
        if (has_local)
            bad_value(e, profile, "localhostProfile", at_get(profile, "localhostProfile"),
                      "can only be set when AppArmor type is Localhost");
    } else if (!has_local) {
        bad_required(e, profile, "localhostProfile", "must be set when AppArmor type is Localhost");
    } else {
        if (is_padded(local))
            bad_string(e, profile, "localhostProfile", local, "must not be padded with whitespace");
        else if (!*local)
            bad_required(e, profile, "localhostProfile",
                         "must be set when AppArmor type is Localhost");
        if (strlen(local) > PATH_MOST)
            bad_too_long(e, profile, "localhostProfile", PATH_MOST);
    }
}

/* --- sysctls --- */

/* Words of lower case letters, digits, - and _ between . or /. */
static bool is_sysctl(const char *name) {
    if (strlen(name) > 253)
        return false;
    for (;;) {
        size_t len = strcspn(name, "./");
        for (size_t i = 0; i < len; i++) {
            bool plain = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9');
            bool inner = i > 0 && i + 1 < len && (name[i] == '-' || name[i] == '_');
            if (!plain && !inner)
                return false;
        }
        if (len == 0)
            return false;
        if (!name[len])
            return true;
        name += len + 1;
    }
}

/* "net" or "ipc": the namespace that a sysctl belongs to, else NULL. */
static const char *sysctl_namespace(const char *name) {
    static const char *const ipc[] = {
        "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
        "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg",
        NULL};
    _cleanup_free_ char *dotted = xstrdup(name);
    for (char *c = dotted; *c; c++)
        if (*c == '/')
            *c = '.';
    if (is_one_of(dotted, ipc) || str_starts(dotted, "fs.mqueue."))
        return "ipc";
    return str_starts(dotted, "net.") ? "net" : NULL;
}

static bool sysctl_is_host(const struct at *spec, const char *name, const char **why) {
    const char *ns = sysctl_namespace(name);
    if (ns && streq(ns, "net") && at_bool(spec, "hostNetwork"))
        *why = "may not be specified when 'hostNetwork' is true";
    else if (ns && streq(ns, "ipc") && at_bool(spec, "hostIPC"))
        *why = "may not be specified when 'hostIPC' is true";
    else
        return false;
    return true;
}

bool pod_has_host_sysctl(const json_t *spec) {
    struct at at = at_root(spec), context = at_child(&at, "securityContext");
    struct at list = at_child(&context, "sysctls");
    const char *why;
    at_each(s, &list) if (sysctl_is_host(&at, at_str(&s, "name"), &why)) return true;
    return false;
}

static void check_sysctls(struct field_errors *e, const struct at *list, const struct at *spec,
                          bool any_host) {
    _cleanup_json_ json_t *seen = json_object();
    at_each(s, list) {
        const char *name = at_str(&s, "name"), *why;
        if (!*name)
            bad_required(e, &s, "name", "");
        else if (!is_sysctl(name))
            bad_string(e, &s, "name", name,
                       "must have at most 253 characters and match regex "
                       "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
        else if (json_object_get(seen, name))
            bad_duplicate(e, &s, "name", name);
        if (!any_host && sysctl_is_host(spec, name, &why))
            bad_string(e, &s, "name", name, "%s", why);
        json_object_set_new(seen, name, json_true());
    }
}

/* --- pods and containers --- */

void check_pod_security(struct field_errors *e, const struct at *spec,
                        const struct pod_options *o) {
    static const char *const change[] = {"Always", "OnRootMismatch", NULL};
    static const char *const groups_policy[] = {"Merge", "Strict", NULL};
    static const char *const selinux[] = {"MountOption", "Recursive", NULL};
    static const char *const recursive[] = {"Recursive", NULL};
    struct at c = at_child(spec, "securityContext");
    struct at groups = at_child(&c, "supplementalGroups"), sysctls = at_child(&c, "sysctls");
    struct at seccomp = at_child(&c, "seccompProfile"), armor = at_child(&c, "appArmorProfile");
    check_id(e, &c, "fsGroup");
    check_id(e, &c, "runAsUser");
    check_id(e, &c, "runAsGroup");
    at_each(g, &groups) {
        int64_t id = json_integer_value(g.v);
        if (id < 0 || id > INT32_MAX)
            bad_int(e, &g, NULL, id, "must be between 0 and %d, inclusive", INT32_MAX);
    }
    if (at_bool(spec, "shareProcessNamespace") && at_bool(spec, "hostPID"))
        bad_value(e, &c, "shareProcessNamespace", at_get(spec, "shareProcessNamespace"),
                  "ShareProcessNamespace and HostPID cannot both be enabled");
    check_sysctls(e, &sysctls, spec, o->any_host_sysctl);
    if (at_has(&c, "fsGroupChangePolicy"))
        check_one_of(e, &c, "fsGroupChangePolicy", change);
    check_seccomp(e, &seccomp);
    check_app_armor(e, &armor);
    if (at_has(&c, "supplementalGroupsPolicy"))
        check_one_of(e, &c, "supplementalGroupsPolicy", groups_policy);
    if (at_has(&c, "seLinuxChangePolicy"))
        check_one_of(e, &c, "seLinuxChangePolicy", o->any_selinux_change ? selinux : recursive);
}

void check_container_security(struct field_errors *e, const struct at *c, bool host_users) {
    static const char *const proc[] = {"Default", "Unmasked", NULL};
    struct at seccomp = at_child(c, "seccompProfile"), armor = at_child(c, "appArmorProfile");
    struct at capabilities = at_child(c, "capabilities"), add = at_child(&capabilities, "add");
    if (!c->v)
        return;
    check_id(e, c, "runAsUser");
    check_id(e, c, "runAsGroup");
    if (at_has(c, "procMount")) {
        check_one_of(e, c, "procMount", proc);
        if (host_users && streq(at_str(c, "procMount"), "Unmasked"))
            bad_string(e, c, "procMount", "Unmasked",
                       "`hostUsers` must be false to use `Unmasked`");
    }
    check_seccomp(e, &seccomp);
    if (at_has(c, "allowPrivilegeEscalation") && !at_bool(c, "allowPrivilegeEscalation")) {
        if (at_bool(c, "privileged"))
            bad_struct(e, c, NULL, &go_security_context, c->v, NULL,
                       "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
        at_each(cap, &add) if (str_same(json_string_value(cap.v), "CAP_SYS_ADMIN"))
            bad_struct(e, c, NULL, &go_security_context, c->v, NULL,
                       "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                       "CAP_SYS_ADMIN");
    }
    check_app_armor(e, &armor);
}

/* --- operating systems --- */

static void forbid_windows_options(void *arg, const struct at *container) {
    struct at context = at_child(container, "securityContext");
    if (at_has(&context, "windowsOptions"))
        bad_forbidden(arg, &context, "windowsOptions",
                      "windows options cannot be set for a linux pod");
}

static void forbid_linux_options(void *arg, const struct at *container) {
    static const char *const keys[] = {"appArmorProfile",
                                       "seLinuxOptions",
                                       "seccompProfile",
                                       "capabilities",
                                       "readOnlyRootFilesystem",
                                       "privileged",
                                       "allowPrivilegeEscalation",
                                       "procMount",
                                       "runAsUser",
                                       "runAsGroup"};
    struct at context = at_child(container, "securityContext");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (at_has(&context, keys[i]))
            bad_forbidden(arg, &context, keys[i], "cannot be set for a windows pod");
}

static void check_windows(struct field_errors *e, const struct at *spec) {
    /* in the server's order; the second column: of the pod itself */
    static const struct {
        const char *key;
        bool of_pod;
    } keys[] = {{"appArmorProfile", false},
                {"seLinuxOptions", false},
                {"hostUsers", true},
                {"hostPID", true},
                {"hostIPC", true},
                {"seccompProfile", false},
                {"fsGroup", false},
                {"fsGroupChangePolicy", false},
                {"sysctls", false},
                {"shareProcessNamespace", true},
                {"runAsUser", false},
                {"runAsGroup", false},
                {"supplementalGroups", false},
                {"supplementalGroupsPolicy", false},
                {"seLinuxChangePolicy", false}};
    struct at context = at_child(spec, "securityContext");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct at *at = keys[i].of_pod ? spec : &context;
        if (at_has(at, keys[i].key))
            bad_forbidden(e, at, keys[i].key, "cannot be set for a windows pod");
    }
    each_container(spec, forbid_linux_options, e);
}

void check_os(struct field_errors *e, const struct at *spec) {
    static const char *const systems[] = {"linux", "windows", NULL};
    struct at os = at_child(spec, "os"), context = at_child(spec, "securityContext");
    const char *name = at_str(&os, "name");
    if (!os.v)
        return;
    if (!*name) {
        bad_required(e, &os, "name", "");
    } else if (!is_one_of(name, systems)) {
        bad_unsupported(e, &os, NULL, at_get(&os, "name"), systems);
    } else if (streq(name, "linux")) {
        if (at_has(&context, "windowsOptions"))
            bad_forbidden(e, &context, "windowsOptions",
                          "windows options cannot be set for a linux pod");
        each_container(spec, forbid_windows_options, e);
    } else {
        check_windows(e, spec);
    }
}

struct host_process {
    struct field_errors *e;
    const json_t *of_pod;
    size_t containers, with;
};

static void count_host_process(void *arg, const struct at *container) {
    struct host_process *h = arg;
    struct at context = at_child(container, "securityContext");
    struct at options = at_child(&context, "windowsOptions");
    const json_t *own = at_get(&options, "hostProcess");
    if (own && h->of_pod && !json_equal(own, h->of_pod))
        bad_value(h->e, container, "securityContext.windowsOptions.hostProcess", own,
                  "pod hostProcess value must be identical if both are specified, was %s",
                  json_is_true(h->of_pod) ? "true" : "false");
    h->containers++;
    h->with += json_is_true(own ? own : h->of_pod);
}

void check_windows_host_process(struct field_errors *e, const struct at *spec) {
    struct at context = at_child(spec, "securityContext");
    struct at options = at_child(&context, "windowsOptions");
    struct host_process h = {.e = e, .of_pod = at_get(&options, "hostProcess")};
    each_container(spec, count_host_process, &h);
    if (!h.with)
        return;
    if (h.with != h.containers)
        bad_string(e, spec, NULL, "",
                   "If pod contains any hostProcess containers then all containers must be "
                   "HostProcess containers");
    if (!at_bool(spec, "hostNetwork")) {
        _cleanup_json_ json_t *no = json_false();
        bad_value(e, spec, "hostNetwork", no,
                  "hostNetwork must be true if pod contains any hostProcess containers");
    }
}
