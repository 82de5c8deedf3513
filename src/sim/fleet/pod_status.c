/* Phases, conditions and containers. */
#include "sim/fleet/pod_status.h"

#include <stdio.h>

static const json_t *named(const json_t *list, const char *key, const char *name) {
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) if (str_same(json_str(v, key), name)) return v;
    return NULL;
}

static void set_condition(json_t *list, const char *type, bool value, const char *reason,
                          const char *message, const char *now) {
    const char *status = value ? "True" : "False";
    json_t *c = json_pack("{s:s, s:s, s:n, s:s}", "type", type, "status", status, "lastProbeTime",
                          "lastTransitionTime", now);
    if (reason)
        json_object_set_new(c, "reason", json_string(reason));
    if (message)
        json_object_set_new(c, "message", json_string(message));
    size_t i;
    json_t *old;
    json_array_foreach(list, i, old) {
        if (!str_same(json_str(old, "type"), type))
            continue;
        if (str_same(json_str(old, "status"), status))
            json_object_set(c, "lastTransitionTime", json_object_get(old, "lastTransitionTime"));
        json_array_set_new(list, i, c);
        return;
    }
    json_array_append_new(list, c);
}

/* "containers with unready status: [a b]" */
static char *unready_text(const json_t *spec) {
    struct str out = STR_INIT;
    str_add(&out, "containers with unready status: [");
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(spec, "containers"), i, c)
        str_addf(&out, "%s%s", i ? " " : "", strna(json_str(c, "name")));
    str_addc(&out, ']');
    return str_take(&out);
}

static json_t *terminated(const struct pod_report *r, const char *id, const char *started,
                          const char *now) {
    const char *reason = r->reason ? r->reason : r->exit_code ? "Error" : "Completed";
    return json_pack("{s:{s:i, s:s, s:s, s:s, s:s}}", "terminated", "exitCode", r->exit_code,
                     "reason", reason, "startedAt", started, "finishedAt", now, "containerID", id);
}

/* The status of one container, from its old one. */
static json_t *container(const json_t *c, const json_t *old, const struct pod_report *r,
                         const char *uid, bool init) {
    char now[TIMEFMT_LEN];
    time_format(r->now, false, now);
    const char *name = strna(json_str(c, "name")), *image = strna(json_str(c, "image"));
    const json_t *old_state = json_object_get(old, "state");
    const json_t *running = json_object_get(old_state, "running");
    int restarts = (int)json_integer_value(json_object_get(old, "restartCount"));
    char id[128];
    if (r->restarted && !init)
        restarts++;
    (void)snprintf(id, sizeof id, "sim://%s/%.40s/%d", uid, name, restarts);
    const char *started = json_str(running, "startedAt");
    if (!started)
        started = now;
    json_t *state, *last = NULL;
    bool ready = false, up = false;
    if (init && r->stage != POD_STARTING) {
        const json_t *was = json_object_get(old_state, "terminated");
        struct pod_report done = {.exit_code = 0, .now = r->now};
        state = was ? json_pack("{s:O}", "terminated", was) : terminated(&done, id, now, now);
        ready = true;
    } else {
        switch (r->stage) {
        case POD_RUNNING:
        case POD_READY:
            state = json_pack("{s:{s:s}}", "running", "startedAt", r->restarted ? now : started);
            up = true;
            ready = r->stage == POD_READY;
            if (r->restarted) { /* how the run before ended */
                const json_t *was = json_object_get(old_state, "terminated");
                struct pod_report lost = {.exit_code = 255, .reason = "Unknown", .now = r->now};
                if (was)
                    last = json_pack("{s:O}", "terminated", was);
                else if (json_object_get(old_state, "waiting"))
                    last = json_incref(json_object_get(old, "lastState"));
                else
                    last = terminated(&lost, id, started, now);
            }
            break;
        case POD_EXITED:
            state = terminated(r, id, started, now);
            break;
        case POD_CRASHED:
            state = json_pack("{s:{s:s, s:s}}", "waiting", "reason", "CrashLoopBackOff", "message",
                              "back-off restarting failed container");
            last = terminated(r, id, started, now);
            break;
        default:
            state = json_pack("{s:{s:s}}", "waiting", "reason",
                              init ? "PodInitializing" : "ContainerCreating");
        }
    }
    if (!last) {
        const json_t *before = json_object_get(old, "lastState");
        last = before ? json_deep_copy(before) : json_object();
    }
    json_t *out = json_pack("{s:s, s:o, s:o, s:b, s:i, s:s, s:s, s:b}", "name", name, "state",
                            state, "lastState", last, "ready", ready, "restartCount", restarts,
                            "image", image, "imageID", "", "started", up);
    if (r->stage != POD_STARTING || init) {
        json_object_set_new(out, "containerID", json_string(id));
        json_object_set_new(out, "imageID", json_sprintf("sim://%s", image));
    }
    return out;
}

static json_t *containers(const json_t *spec, const char *key, const json_t *old,
                          const struct pod_report *r, const char *uid, bool init) {
    json_t *out = json_array();
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(spec, key), i, c) json_array_append_new(
        out, container(c, named(old, "name", json_str(c, "name")), r, uid,
                       init && !str_same(json_str(c, "restartPolicy"), "Always")));
    return out;
}

json_t *pod_status(const json_t *pod, const struct pod_report *r) {
    const json_t *spec = json_object_get(pod, "spec"), *old = json_object_get(pod, "status");
    json_t *s = old ? json_deep_copy(old) : json_object();
    char now[TIMEFMT_LEN];
    time_format(r->now, false, now);
    const char *uid = strna(meta_str(pod, "uid"));
    bool ended = r->stage == POD_EXITED;
    json_object_set_new(s, "phase",
                        json_string(r->stage == POD_STARTING ? "Pending"
                                    : !ended                 ? "Running"
                                    : r->exit_code           ? "Failed"
                                                             : "Succeeded"));
    json_t *list = json_object_get(s, "conditions");
    if (!list) {
        list = json_array();
        json_object_set_new(s, "conditions", list);
    }
    const char *unready = ended && !r->exit_code ? "PodCompleted" : "ContainersNotReady";
    _cleanup_free_ char *text = ended && !r->exit_code ? NULL : unready_text(spec);
    bool up = r->stage != POD_STARTING, ready = r->stage == POD_READY;
    set_condition(list, "PodReadyToStartContainers", up && !ended, NULL, NULL, now);
    set_condition(list, "Initialized",
                  up || !json_array_size(json_object_get(spec, "initContainers")),
                  ended && !r->exit_code ? "PodCompleted" : NULL, NULL, now);
    set_condition(list, "Ready", ready, ready ? NULL : unready, ready ? NULL : text, now);
    set_condition(list, "ContainersReady", ready, ready ? NULL : unready, ready ? NULL : text, now);
    set_condition(list, "PodScheduled", true, NULL, NULL, now);
    if (r->host_ip) {
        json_object_set_new(s, "hostIP", json_string(r->host_ip));
        json_object_set_new(s, "hostIPs", json_pack("[{s:s}]", "ip", r->host_ip));
    }
    if (r->pod_ip && up && !json_object_get(s, "podIP")) {
        json_object_set_new(s, "podIP", json_string(r->pod_ip));
        json_object_set_new(s, "podIPs", json_pack("[{s:s}]", "ip", r->pod_ip));
    }
    if (!json_object_get(s, "startTime"))
        json_object_set_new(s, "startTime", json_string(now));
    json_object_set_new(
        s, "containerStatuses",
        containers(spec, "containers", json_object_get(s, "containerStatuses"), r, uid, false));
    if (json_array_size(json_object_get(spec, "initContainers")))
        json_object_set_new(s, "initContainerStatuses",
                            containers(spec, "initContainers",
                                       json_object_get(s, "initContainerStatuses"), r, uid, true));
    return s;
}
