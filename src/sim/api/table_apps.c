/* The columns of workloads, their revisions and their budgets. */
#include <inttypes.h>

#include "sim/api/human.h"
#include "sim/api/table_internal.h"

static const struct selector_words selector_words = {"<error>", "<none>"};
static const struct selector_words deployment_words = {"<invalid>", ""};

#define COLUMN_CONTAINERS                                                                          \
    { "Containers", "string", "", 1, cell_containers, NULL, NULL }
#define COLUMN_IMAGES                                                                              \
    { "Images", "string", "", 1, cell_images, NULL, NULL }
#define COLUMN_SELECTOR                                                                            \
    { "Selector", "string", "", 1, cell_selector, &selector_words, NULL }

static void write_fraction(struct api_row *row, json_int_t part, json_int_t whole) {
    str_reset(&row->text);
    str_addf(&row->text, "%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT, part, whole);
}

static void cell_ready_replicas(struct api_row *row, const void *unused) {
    (void)unused;
    write_fraction(row, json_integer_value(json_object_get(row->status, "readyReplicas")),
                   json_integer_value(json_object_get(row->spec, "replicas")));
    jsonw_str(row->w, str_get(&row->text));
}

static const struct api_column replica_set_columns[] = {
    COLUMN_NAME,
    {"Desired", "integer", "", 0, cell_int, "spec.replicas", NULL},
    {"Current", "integer", "", 0, cell_int, "status.replicas", NULL},
    {"Ready", "integer", "", 0, cell_int, "status.readyReplicas", NULL},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_IMAGES,
    COLUMN_SELECTOR,
};
static const struct api_column daemon_set_columns[] = {
    COLUMN_NAME,
    {"Desired", "integer", "", 0, cell_int, "status.desiredNumberScheduled", NULL},
    {"Current", "integer", "", 0, cell_int, "status.currentNumberScheduled", NULL},
    {"Ready", "integer", "", 0, cell_int, "status.numberReady", NULL},
    {"Up-to-date", "integer", "", 0, cell_int, "status.updatedNumberScheduled", NULL},
    {"Available", "integer", "", 0, cell_int, "status.numberAvailable", NULL},
    {"Node Selector", "string", "", 0, cell_labels, "spec.template.spec.nodeSelector", NULL},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_IMAGES,
    COLUMN_SELECTOR,
};
static const struct api_column stateful_set_columns[] = {
    COLUMN_NAME,   {"Ready", "string", "", 0, cell_ready_replicas, NULL, NULL},
    COLUMN_AGE,    COLUMN_CONTAINERS,
    COLUMN_IMAGES,
};
static const struct api_column deployment_columns[] = {
    COLUMN_NAME,
    {"Ready", "string", "", 0, cell_ready_replicas, NULL, NULL},
    {"Up-to-date", "string", "", 0, cell_int, "status.updatedReplicas", NULL},
    {"Available", "string", "", 0, cell_int, "status.availableReplicas", NULL},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_IMAGES,
    {"Selector", "string", "", 1, cell_selector, &deployment_words, NULL},
};

/* --- jobs --- */

/* Of several conditions of one type the first counts. */
static bool job_has(const struct api_row *row, const char *type) {
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(row->status, "conditions"), i, c) {
        if (streq(json_text_of(c, "type"), type))
            return streq(json_text_of(c, "status"), "True");
    }
    return false;
}

static void cell_job_status(struct api_row *row, const void *unused) {
    (void)unused;
    const char *status = "Running";
    if (job_has(row, "Complete"))
        status = "Complete";
    else if (job_has(row, "Failed"))
        status = "Failed";
    else if (json_is_string(json_object_get(row->meta, "deletionTimestamp")))
        status = "Terminating";
    else if (job_has(row, "Suspended"))
        status = "Suspended";
    else if (job_has(row, "FailureTarget"))
        status = "FailureTarget";
    else if (job_has(row, "SuccessCriteriaMet"))
        status = "SuccessCriteriaMet";
    jsonw_str(row->w, status);
}

static void cell_job_completions(struct api_row *row, const void *unused) {
    (void)unused;
    const json_t *completions = json_object_get(row->spec, "completions");
    json_int_t succeeded = json_integer_value(json_object_get(row->status, "succeeded"));
    json_int_t parallelism = json_integer_value(json_object_get(row->spec, "parallelism"));
    bool counted = json_is_integer(completions);
    write_fraction(row, succeeded, counted ? json_integer_value(completions) : 1);
    if (!counted && parallelism > 1)
        str_addf(&row->text, " of %" JSON_INTEGER_FORMAT, parallelism);
    jsonw_str(row->w, str_get(&row->text));
}

static void cell_job_duration(struct api_row *row, const void *unused) {
    (void)unused;
    char buf[TIMEFMT_LEN] = "";
    int64_t begin, end = row->now;
    if (human_time(json_object_get(row->status, "startTime"), &begin)) {
        human_time(json_object_get(row->status, "completionTime"), &end);
        human_duration(end - begin, buf);
    }
    jsonw_str(row->w, buf);
}

static const struct api_column job_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", 0, cell_job_status, NULL, NULL},
    {"Completions", "string", "", 0, cell_job_completions, NULL, NULL},
    {"Duration", "string", "", 0, cell_job_duration, NULL, NULL},
    COLUMN_AGE,
    COLUMN_CONTAINERS,
    COLUMN_IMAGES,
    COLUMN_SELECTOR,
};

/* --- revisions, budgets, scales --- */

/* "daemonset.apps/web": kind and group in small letters. */
static void cell_controller(struct api_row *row, const void *unused) {
    (void)unused;
    size_t i;
    json_t *owner;
    json_array_foreach(json_object_get(row->meta, "ownerReferences"), i, owner) {
        if (!json_is_true(json_object_get(owner, "controller")))
            continue;
        const char *version = json_text_of(owner, "apiVersion"), *slash = strchr(version, '/');
        str_reset(&row->text);
        str_add(&row->text, json_text_of(owner, "kind"));
        if (slash && slash > version) {
            str_addc(&row->text, '.');
            str_addn(&row->text, version, (size_t)(slash - version));
        }
        for (size_t k = 0; k < row->text.len; k++)
            if (row->text.p[k] >= 'A' && row->text.p[k] <= 'Z')
                row->text.p[k] = (char)(row->text.p[k] + 32);
        if (row->text.len)
            str_addc(&row->text, '/');
        str_add(&row->text, json_text_of(owner, "name"));
        jsonw_str(row->w, str_get(&row->text));
        return;
    }
    jsonw_str(row->w, "<none>");
}

static void cell_int_or_string(struct api_row *row, const void *path) {
    const json_t *value = json_at(row->object, path);
    if (!json_is_integer(value)) {
        jsonw_str(row->w, json_is_string(value) ? json_text(value) : "N/A");
        return;
    }
    str_reset(&row->text);
    str_addf(&row->text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    jsonw_str(row->w, str_get(&row->text));
}

static const struct api_column revision_columns[] = {
    COLUMN_NAME,
    {"Controller", "string", "", 0, cell_controller, NULL, NULL},
    {"Revision", "string", "", 0, cell_int, "revision", NULL},
    COLUMN_AGE,
};
static const struct api_column budget_columns[] = {
    COLUMN_NAME,
    {"Min Available", "string", "", 0, cell_int_or_string, "spec.minAvailable", NULL},
    {"Max Unavailable", "string", "", 0, cell_int_or_string, "spec.maxUnavailable", NULL},
    {"Allowed Disruptions", "integer", "", 0, cell_int, "status.disruptionsAllowed", NULL},
    COLUMN_AGE,
};
static const struct api_column scale_columns[] = {
    {"Name", "string", "", 0, cell_name, NULL, NULL},
    {"Desired", "integer", "", 0, cell_int, "spec.replicas", NULL},
    {"Available", "integer", "", 0, cell_int, "status.replicas", NULL},
    COLUMN_AGE,
};

const struct api_table_kind api_tables_apps[] = {
    {.group = "apps", .kind = "ReplicaSet", COLUMNS(replica_set_columns)},
    {.group = "apps", .kind = "DaemonSet", COLUMNS(daemon_set_columns)},
    {.group = "apps", .kind = "StatefulSet", COLUMNS(stateful_set_columns)},
    {.group = "apps", .kind = "Deployment", COLUMNS(deployment_columns)},
    {.group = "apps", .kind = "ControllerRevision", COLUMNS(revision_columns)},
    {.group = "batch", .kind = "Job", COLUMNS(job_columns)},
    {.group = "policy", .kind = "PodDisruptionBudget", COLUMNS(budget_columns)},
    {.group = "autoscaling", .kind = "Scale", COLUMNS(scale_columns)},
};
const size_t api_tables_apps_len = ARRAY_LEN(api_tables_apps);
