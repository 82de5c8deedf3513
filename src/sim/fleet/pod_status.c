/* Phases, conditions and containers. From text to text: after heartbeats this is what a simulated
 * cluster writes most. */
#include "sim/fleet/pod_status.h"

#include <stdio.h>

#include "sim/fleet/status_text.h"
#include "sim/schema/text.h"

/* --- the old text --- */

/* One member of an object, or nothing. */
static struct view member_of(struct codec *c, struct view object, const char *key) {
    struct view wanted = view_of(key), found = {0};
    if (object.len && codec_json_find(c, object, &wanted, 1, &found, NULL))
        found = (struct view){0};
    return found;
}

/* Is it the text of this string? (Names of conditions and containers need no escapes.) */
static bool is_string(struct view text, const char *s) {
    size_t n = strlen(s);
    return text.len == n + 2 && !memcmp(text.p + 1, s, n);
}

/* The element of a list whose member is this string. */
static struct view named(struct codec *c, struct view list, const char *key, const char *name) {
    struct view item;
    while (codec_json_next(c, &list, &item))
        if (is_string(member_of(c, item, key), name))
            return item;
    return (struct view){0};
}

/* --- conditions --- */

struct own_condition {
    const char *type;
    bool value;
    const char *reason, *message;
};

/* `old` is the text of the one before, or empty: the model does not keep all of them. */
static void add_condition(struct codec *c, const struct own_condition *own, struct view old,
                          int64_t now, struct str *out) {
    const char *status = own->value ? "True" : "False";
    if (out->p[out->len - 1] != '[')
        str_addc(out, ',');
    str_addc(out, '{');
    member_str(out, "type", own->type);
    member_str(out, "status", status);
    member_raw(out, "lastProbeTime", VIEW("null"));
    struct view since = {0};
    if (is_string(member_of(c, old, "status"), status))
        since = member_of(c, old, "lastTransitionTime");
    if (since.len && *since.p == '"')
        member_raw(out, "lastTransitionTime", since);
    else
        member_time(out, "lastTransitionTime", now);
    member_str(out, "reason", own->reason);
    member_str(out, "message", own->message);
    str_addc(out, '}');
}

/* "containers with unready status: [a b]" */
static char *unready_text(const struct pod_spec *spec) {
    struct str out = STR_INIT;
    str_add(&out, "containers with unready status: [");
    for (size_t i = 0; i < list_len(spec->containers); i++)
        str_addf(&out, "%s%s", i ? " " : "", strna(spec->containers[i].name));
    str_addc(&out, ']');
    return str_take(&out);
}

/* As a kubelet orders them (generateAPIPodStatus() in kubelet_pods.go), whatever was there before:
 * those of others as they stand, then its own. */
static void add_conditions(struct codec *c, const struct pod *pod, struct view list,
                           const struct pod_report *r, struct str *out) {
    bool up = r->stage != POD_STARTING, ready = r->stage == POD_READY;
    bool completed = r->stage == POD_EXITED && !r->exit_code;
    _cleanup_free_ char *text = completed || ready ? NULL : unready_text(pod->spec);
    const char *unready = ready ? NULL : completed ? "PodCompleted" : "ContainersNotReady";
    const struct own_condition own[] = {
        {"PodReadyToStartContainers", up && r->stage != POD_EXITED, NULL, NULL},
        {"Initialized", up || !pod->spec->init_containers, completed ? "PodCompleted" : NULL, NULL},
        {"Ready", ready, unready, text},
        {"ContainersReady", ready, unready, text},
        {"PodScheduled", true, NULL, NULL},
    };
    struct view item, old[ARRAY_LEN(own)] = {0};
    member_key(out, "conditions");
    str_addc(out, '[');
    while (codec_json_next(c, &list, &item)) {
        struct view type = member_of(c, item, "type");
        size_t i = 0;
        while (i < ARRAY_LEN(own) && !is_string(type, own[i].type))
            i++;
        if (i < ARRAY_LEN(own)) {
            old[i] = item;
            continue;
        }
        if (out->p[out->len - 1] != '[')
            str_addc(out, ',');
        str_addn(out, item.p, item.len);
    }
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        add_condition(c, &own[i], old[i], r->now, out);
    str_addc(out, ']');
}

/* --- containers --- */

/* A container as it was, and what is known of its run. */
struct run {
    struct view old_state, last_state; /* texts */
    struct view started;               /* text of the time, or empty */
    const char *id;
};

static void add_terminated(const struct run *run, int exit_code, const char *reason, int64_t now,
                           struct str *out) {
    str_addc(out, '{');
    member_key(out, "terminated");
    str_addc(out, '{');
    member_number(out, "exitCode", exit_code);
    member_str(out, "reason", reason);
    if (run->started.len)
        member_raw(out, "startedAt", run->started);
    else
        member_time(out, "startedAt", now);
    member_time(out, "finishedAt", now);
    member_str(out, "containerID", run->id);
    str_addn(out, "}}", 2);
}

static void add_report_terminated(const struct run *run, const struct pod_report *r,
                                  struct str *out) {
    add_terminated(run, r->exit_code,
                   r->reason      ? r->reason
                   : r->exit_code ? "Error"
                                  : "Completed",
                   r->now, out);
}

static void add_running(const struct run *run, const struct pod_report *r, struct str *out) {
    str_add(out, "{\"running\":{");
    if (run->started.len && !r->restarted)
        member_raw(out, "startedAt", run->started);
    else
        member_time(out, "startedAt", r->now);
    str_addn(out, "}}", 2);
}

/* {"terminated": ...} as it was. */
static bool add_old_terminated(struct codec *c, const struct run *run, struct str *out) {
    struct view was = member_of(c, run->old_state, "terminated");
    if (!was.len)
        return false;
    str_addc(out, '{');
    member_raw(out, "terminated", was);
    str_addc(out, '}');
    return true;
}

static void add_state(struct codec *c, const struct run *run, const struct pod_report *r, bool init,
                      struct str *out) {
    if (init && r->stage != POD_STARTING) { /* it has done its work */
        if (!add_old_terminated(c, run, out))
            add_terminated(&(struct run){.id = run->id}, 0, "Completed", r->now, out);
        return;
    }
    switch (r->stage) {
    case POD_RUNNING:
    case POD_READY:
        add_running(run, r, out);
        break;
    case POD_EXITED:
        add_report_terminated(run, r, out);
        break;
    case POD_CRASHED:
        str_add(out, "{\"waiting\":{\"reason\":\"CrashLoopBackOff\",\"message\":\"back-off "
                     "restarting failed container\"}}");
        break;
    case POD_STARTING:
        str_add(out, init ? "{\"waiting\":{\"reason\":\"PodInitializing\"}}"
                          : "{\"waiting\":{\"reason\":\"ContainerCreating\"}}");
        break;
    }
}

/* How the run before this one ended. */
static void add_last_state(struct codec *c, const struct run *run, const struct pod_report *r,
                           bool init, struct str *out) {
    bool runs = r->stage == POD_RUNNING || r->stage == POD_READY;
    if (!init && r->stage == POD_CRASHED) {
        add_report_terminated(run, r, out);
        return;
    }
    if (!init && runs && r->restarted && !member_of(c, run->old_state, "waiting").len) {
        if (!add_old_terminated(c, run, out)) /* the power went */
            add_terminated(run, 255, "Unknown", r->now, out);
        return;
    }
    if (run->last_state.len)
        str_addn(out, run->last_state.p, run->last_state.len);
    else
        str_addn(out, "{}", 2);
}

static void add_container(struct codec *c, const struct container *container, struct view old,
                          const struct container_status *was, const struct pod_report *r,
                          const char *uid, bool init, struct str *out) {
    int restarts = (was ? was->restarts : 0) + (r->restarted && !init);
    char id[128];
    const char *name = strna(container->name), *image = strna(container->image);
    (void)snprintf(id, sizeof id, "sim://%s/%.40s/%d", uid, name, restarts);
    struct run run = {.old_state = member_of(c, old, "state"),
                      .last_state = member_of(c, old, "lastState"),
                      .id = id};
    run.started = member_of(c, member_of(c, run.old_state, "running"), "startedAt");
    bool done = init && r->stage != POD_STARTING;
    bool up = !done && (r->stage == POD_RUNNING || r->stage == POD_READY);
    if (out->p[out->len - 1] != '[')
        str_addc(out, ',');
    str_addc(out, '{');
    member_str(out, "name", name);
    member_key(out, "state");
    add_state(c, &run, r, init, out);
    member_key(out, "lastState");
    add_last_state(c, &run, r, init, out);
    member_bool(out, "ready", done || (up && r->stage == POD_READY));
    member_number(out, "restartCount", restarts);
    member_key(out, "image");
    text_string(image, strlen(image), out);
    if (r->stage != POD_STARTING || init) {
        _cleanup_free_ char *image_id = xasprintf("sim://%s", image);
        member_str(out, "imageID", image_id);
        member_str(out, "containerID", id);
    } else {
        member_raw(out, "imageID", VIEW("\"\""));
    }
    member_bool(out, "started", up);
    str_addc(out, '}');
}

static void add_containers(struct codec *c, const char *key, const struct container *list,
                           struct view old, const struct container_status *was,
                           const struct pod_report *r, const char *uid, bool init,
                           struct str *out) {
    if (!list)
        return;
    member_key(out, key);
    str_addc(out, '[');
    for (size_t i = 0; i < list_len(list); i++) {
        const struct container_status *before = NULL;
        for (size_t k = 0; k < list_len(was) && !before; k++)
            before = str_same(was[k].name, list[i].name) ? &was[k] : NULL;
        add_container(c, &list[i], named(c, old, "name", strna(list[i].name)), before, r, uid,
                      init && !str_same(list[i].restart_policy, "Always"), out);
    }
    str_addc(out, ']');
}

/* --- all of it --- */

static void add_ip(struct str *out, const char *one, const char *many, const char *ip) {
    member_str(out, one, ip);
    member_key(out, many);
    str_addf(out, "[{\"ip\":\"%s\"}]", ip);
}

void pod_status(struct codec *c, const struct record *pod, const struct pod_report *report,
                struct str *out) {
    /* All members of a PodStatus, in their order. */
    enum part {
        OBSERVED,
        PHASE,
        CONDITIONS,
        MESSAGE,
        REASON,
        NOMINATED,
        HOST_IP,
        HOST_IPS,
        POD_IP,
        POD_IPS,
        START_TIME,
        INIT_CONTAINERS,
        CONTAINERS,
        REST, /* and what follows it */
    };
    static const struct view keys[] = {
        VIEW("observedGeneration"),
        VIEW("phase"),
        VIEW("conditions"),
        VIEW("message"),
        VIEW("reason"),
        VIEW("nominatedNodeName"),
        VIEW("hostIP"),
        VIEW("hostIPs"),
        VIEW("podIP"),
        VIEW("podIPs"),
        VIEW("startTime"),
        VIEW("initContainerStatuses"),
        VIEW("containerStatuses"),
        VIEW("qosClass"),
        VIEW("ephemeralContainerStatuses"),
        VIEW("resize"),
        VIEW("resourceClaimStatuses"),
        VIEW("extendedResourceClaimStatus"),
        VIEW("allocatedResources"),
        VIEW("resources"),
        VIEW("nodeAllocatableResourceClaimStatuses"),
    };
    const struct pod *p = record_as(pod, pod);
    const struct pod_report *r = report;
    struct view old[ARRAY_LEN(keys)] = {0};
    if (pod->status_len)
        (void)codec_json_find(c, record_status_text(pod), keys, ARRAY_LEN(keys), old, NULL);
    const char *uid = strna(p->meta.uid);
    bool up = r->stage != POD_STARTING;
    str_addc(out, '{');
    member_raw(out, "observedGeneration", old[OBSERVED]);
    member_str(out, "phase",
               !up                      ? "Pending"
               : r->stage != POD_EXITED ? "Running"
               : r->exit_code           ? "Failed"
                                        : "Succeeded");
    add_conditions(c, p, old[CONDITIONS], r, out);
    member_raw(out, "message", old[MESSAGE]);
    member_raw(out, "reason", old[REASON]);
    member_raw(out, "nominatedNodeName", old[NOMINATED]);
    if (r->host_ip) {
        add_ip(out, "hostIP", "hostIPs", r->host_ip);
    } else {
        member_raw(out, "hostIP", old[HOST_IP]);
        member_raw(out, "hostIPs", old[HOST_IPS]);
    }
    if (r->pod_ip && up && !old[POD_IP].len) {
        add_ip(out, "podIP", "podIPs", r->pod_ip);
    } else {
        member_raw(out, "podIP", old[POD_IP]);
        member_raw(out, "podIPs", old[POD_IPS]);
    }
    if (old[START_TIME].len)
        member_raw(out, "startTime", old[START_TIME]);
    else
        member_time(out, "startTime", r->now);
    add_containers(c, "initContainerStatuses", p->spec->init_containers, old[INIT_CONTAINERS],
                   p->init_containers, r, uid, true, out);
    add_containers(c, "containerStatuses", p->spec->containers, old[CONTAINERS], p->containers, r,
                   uid, false, out);
    for (size_t i = REST; i < ARRAY_LEN(keys); i++)
        member_raw(out, keys[i].p, old[i]);
    str_addc(out, '}');
}
