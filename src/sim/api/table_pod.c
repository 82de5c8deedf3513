/* The columns of pods: printPod() of Kubernetes' printers. */
#include <inttypes.h>

#include "sim/api/human.h"
#include "sim/api/table_internal.h"

static bool restartable(const json_t *container) {
    return streq(json_text_of(container, "restartPolicy"), "Always");
}

/* The init container of that name; `index` is where it is if statuses are in the same order. */
static const json_t *init_container(const json_t *list, size_t index, const char *name) {
    const json_t *container = json_array_get(list, index);
    if (container && streq(json_text_of(container, "name"), name))
        return container;
    for (size_t i = json_array_size(list); i > 0; i--) {
        container = json_array_get(list, i - 1);
        if (streq(json_text_of(container, "name"), name))
            return container;
    }
    return NULL;
}

/* A state of a container ("waiting", "running", "terminated"), NULL when it is not in it. */
static const json_t *state_of(const json_t *status, const char *state) {
    const json_t *found = json_object_get(json_object_get(status, "state"), state);
    return json_is_object(found) ? found : NULL;
}

struct restarts {
    int64_t count, last; /* last: when, if known */
    bool known;
};

static void count_restarts(struct restarts *r, const json_t *status) {
    int64_t t;
    const json_t *ended = json_object_get(json_object_get(status, "lastState"), "terminated");
    /* Unsigned: whatever the numbers are, their sum is defined. */
    r->count = (int64_t)((uint64_t)r->count +
                         (uint64_t)json_integer_value(json_object_get(status, "restartCount")));
    if (human_time(json_object_get(ended, "finishedAt"), &t) && (!r->known || t > r->last)) {
        r->last = t;
        r->known = true;
    }
}

static void set_reason(struct api_row *row, const char *prefix, const char *reason) {
    str_reset(&row->pod.reason);
    str_add(&row->pod.reason, prefix);
    str_add(&row->pod.reason, reason);
}

static void set_exit_reason(struct api_row *row, const char *prefix, const json_t *terminated) {
    const char *reason = json_text_of(terminated, "reason");
    json_int_t number = json_integer_value(json_object_get(terminated, "signal"));
    set_reason(row, prefix, reason);
    if (*reason)
        return;
    const char *word = "Signal";
    if (!number) {
        word = "ExitCode";
        number = json_integer_value(json_object_get(terminated, "exitCode"));
    }
    str_addf(&row->pod.reason, "%s:%" JSON_INTEGER_FORMAT, word, number);
}

static bool exited_well(const json_t *terminated) {
    return terminated && !json_integer_value(json_object_get(terminated, "exitCode"));
}

/* Goes through the init containers up to the first that is not done; true when there is one. */
static bool initializing(struct api_row *row, struct restarts *all, struct restarts *sidecars) {
    const json_t *list = json_object_get(row->spec, "initContainers");
    size_t i;
    json_t *status;
    json_array_foreach(json_object_get(row->status, "initContainerStatuses"), i, status) {
        const json_t *terminated = state_of(status, "terminated");
        const char *waits = json_text_of(state_of(status, "waiting"), "reason");
        bool sidecar = restartable(init_container(list, i, json_text_of(status, "name")));
        count_restarts(all, status);
        if (sidecar)
            count_restarts(sidecars, status);
        if (exited_well(terminated))
            continue;
        if (sidecar && json_is_true(json_object_get(status, "started"))) {
            row->pod.ready += json_is_true(json_object_get(status, "ready"));
            continue;
        }
        if (terminated) {
            set_exit_reason(row, "Init:", terminated);
        } else if (*waits && !streq(waits, "PodInitializing")) {
            set_reason(row, "Init:", waits);
        } else {
            str_reset(&row->pod.reason);
            str_addf(&row->pod.reason, "Init:%zu/%zu", i, json_array_size(list));
        }
        return true;
    }
    return false;
}

/* The status of the first condition of that type, "" when there is none. */
static const char *condition(const struct api_row *row, const char *type) {
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(row->status, "conditions"), i, c) {
        if (streq(json_text_of(c, "type"), type))
            return json_text_of(c, "status");
    }
    return "";
}

/* Unlike condition() it looks at all of that type. */
static bool has_ready(const struct api_row *row) {
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(row->status, "conditions"), i, c) {
        if (streq(json_text_of(c, "type"), "Ready") && streq(json_text_of(c, "status"), "True"))
            return true;
    }
    return false;
}

static void look_at_containers(struct api_row *row, struct restarts *restarts) {
    const json_t *list = json_object_get(row->status, "containerStatuses");
    bool running = false, failed = false;
    _cleanup_str_ struct str failure = STR_INIT;
    for (size_t i = json_array_size(list); i > 0; i--) {
        const json_t *status = json_array_get(list, i - 1);
        const json_t *terminated = state_of(status, "terminated");
        const char *waits = json_text_of(state_of(status, "waiting"), "reason");
        count_restarts(restarts, status);
        if (*waits) {
            set_reason(row, "", waits);
        } else if (terminated) {
            set_exit_reason(row, "", terminated);
            if (!exited_well(terminated)) {
                failed = true;
                str_reset(&failure);
                str_add(&failure, str_get(&row->pod.reason));
            }
        } else if (json_is_true(json_object_get(status, "ready")) && state_of(status, "running")) {
            running = true;
            row->pod.ready++;
        }
    }
    if (!streq(str_get(&row->pod.reason), "Completed"))
        return;
    if (running && has_ready(row))
        set_reason(row, "", "Running");
    else if (failed)
        set_reason(row, "", str_get(&failure));
    else if (running)
        set_reason(row, "", "NotReady");
}

static bool is_gated(const struct api_row *row) {
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(row->status, "conditions"), i, c) {
        if (streq(json_text_of(c, "type"), "PodScheduled") &&
            streq(json_text_of(c, "reason"), "SchedulingGated"))
            return true;
    }
    return false;
}

static void prepare_pod(struct api_row *row) {
    const char *phase = json_text_of(row->status, "phase");
    const char *reason = json_text_of(row->status, "reason");
    struct restarts all = {0}, sidecars = {0};
    size_t i;
    json_t *container;
    row->pod.ready = 0;
    row->pod.total = (int64_t)json_array_size(json_object_get(row->spec, "containers"));
    json_array_foreach(json_object_get(row->spec, "initContainers"), i, container) {
        row->pod.total += restartable(container);
    }
    set_reason(row, "", is_gated(row) ? "SchedulingGated" : *reason ? reason : phase);
    if (!initializing(row, &all, &sidecars) || streq(condition(row, "Initialized"), "True")) {
        all = sidecars;
        look_at_containers(row, &all);
    }
    if (json_is_string(json_object_get(row->meta, "deletionTimestamp"))) {
        if (streq(reason, "NodeLost"))
            set_reason(row, "", "Unknown");
        else if (!streq(phase, "Succeeded") && !streq(phase, "Failed"))
            set_reason(row, "", "Terminating");
    }
    row->pod.restarts = all.count;
    row->pod.restarted = all.known;
    row->pod.last_restart = all.last;
}

static void pod_conditions(struct api_row *row) {
    const char *phase = json_text_of(row->status, "phase");
    bool failed = streq(phase, "Failed");
    if (!failed && !streq(phase, "Succeeded"))
        return;
    jsonw_kbegin(row->w, "conditions", '[');
    jsonw_begin(row->w, '{');
    jsonw_kstr(row->w, "type", "Completed");
    jsonw_kstr(row->w, "status", "True");
    jsonw_kstr(row->w, "reason", phase);
    jsonw_kstr(row->w, "message",
               failed ? "The pod failed." : "The pod has completed successfully.");
    jsonw_end(row->w);
    jsonw_end(row->w);
}

static void cell_ready(struct api_row *row, const void *unused) {
    (void)unused;
    str_reset(&row->text);
    str_addf(&row->text, "%" PRId64 "/%" PRId64, row->pod.ready, row->pod.total);
    jsonw_str(row->w, str_get(&row->text));
}

static void cell_reason(struct api_row *row, const void *unused) {
    (void)unused;
    jsonw_str(row->w, str_get(&row->pod.reason));
}

static void cell_restarts(struct api_row *row, const void *unused) {
    (void)unused;
    char buf[TIMEFMT_LEN];
    str_reset(&row->text);
    str_addf(&row->text, "%" PRId64, row->pod.restarts);
    if (row->pod.restarts && row->pod.restarted)
        str_addf(&row->text, " (%s ago)", human_duration(row->now - row->pod.last_restart, buf));
    jsonw_str(row->w, str_get(&row->text));
}

/* podIP is what older kubelets write; where both are there and differ it wins. */
static void cell_ip(struct api_row *row, const void *unused) {
    (void)unused;
    const char *ip = json_text_of(row->status, "podIP");
    if (!*ip)
        ip = json_text_of(json_array_get(json_object_get(row->status, "podIPs"), 0), "ip");
    jsonw_str(row->w, *ip ? ip : "<none>");
}

static void cell_gates(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *gates = json_object_get(row->spec, "readinessGates");
    size_t i, open = 0;
    json_t *gate;
    if (!json_array_size(gates)) {
        jsonw_str(row->w, "<none>");
        return;
    }
    json_array_foreach(gates, i, gate) {
        open += streq(condition(row, json_text_of(gate, "conditionType")), "True");
    }
    str_reset(&row->text);
    str_addf(&row->text, "%zu/%zu", open, json_array_size(gates));
    jsonw_str(row->w, str_get(&row->text));
}

static const struct api_column columns[] = {
    COLUMN_NAME,
    {"Ready", "string", "", 0, cell_ready, NULL, NULL},
    {"Status", "string", "", 0, cell_reason, NULL, NULL},
    {"Restarts", "string", "", 0, cell_restarts, NULL, NULL},
    COLUMN_AGE,
    {"IP", "string", "", 1, cell_ip, NULL, NULL},
    {"Node", "string", "", 1, cell_string_none, "spec.nodeName", NULL},
    {"Nominated Node", "string", "", 1, cell_string_none, "status.nominatedNodeName", NULL},
    {"Readiness Gates", "string", "", 1, cell_gates, NULL, NULL},
};

static const char *const keys[] = {"metadata",
                                   "name",
                                   "creationTimestamp",
                                   "deletionTimestamp",
                                   "annotations",
                                   INITIAL_EVENTS_END,
                                   "spec",
                                   "nodeName",
                                   "readinessGates",
                                   "conditionType",
                                   "containers",
                                   "initContainers",
                                   "restartPolicy", /* */
                                   "status",
                                   "phase",
                                   "reason",
                                   "podIP",
                                   "podIPs",
                                   "ip",
                                   "nominatedNodeName",
                                   "conditions",
                                   "type",
                                   "containerStatuses",
                                   "initContainerStatuses",
                                   "ready",
                                   "started",
                                   "restartCount",
                                   "state",
                                   "lastState",
                                   "waiting",
                                   "running",
                                   "terminated",
                                   "exitCode",
                                   "signal",
                                   "finishedAt", /* */
                                   NULL};

const struct api_table_kind api_table_pod = {.group = "",
                                             .kind = "Pod",
                                             COLUMNS(columns),
                                             .prepare = prepare_pod,
                                             .conditions = pod_conditions,
                                             .keys = keys};
