/* The controller's metrics. */
#include "controller/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

/* A drain takes minutes, or an hour where something is in its way. */
static const double phase_bounds[] = {1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 0};
/* A FleetLock answer is there within a second; a request of ours within the server's limit. */
static const double turn_bounds[] = {0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                     0.025,  0.05,   0.1,   0.25,   1,     0};
static const double request_bounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 0};

#define OUR(name) "slipway_" name
const struct metric_row metric_rows[METRICS] = {
    [METRIC_BUILD_INFO] = {.name = OUR("build_info"),
                           .type = EXPOSE_GAUGE,
                           .labels = {"version", "revision"},
                           .help = "Always 1; what runs here is in the labels."},
    [METRIC_LEADER] =
        {.name = OUR("leader"),
         .type = EXPOSE_GAUGE,
         .help = "1 in the replica that leads, 0 in the others. What only the leader knows "
                 "(blockers, transitions) only the leader tells."},
    [METRIC_NODES] =
        {.name = OUR("nodes"),
         .type = EXPOSE_GAUGE,
         .labels = {"policy", "phase"},
         .help = "Nodes of a policy by phase: Idle of those that hold no slot and wait for "
                 "none, else a phase of a maintenance."},
    [METRIC_NODE_PHASE] =
        {.name = OUR("node_phase"),
         .type = EXPOSE_GAUGE,
         .labels = {"policy", "node", "phase"},
         .help = "Always 1: the phase that a node is in, of those that are not idle."},
    [METRIC_NODE_PHASE_START] = {.name = OUR("node_phase_start_timestamp_seconds"),
                                 .type = EXPOSE_GAUGE,
                                 .labels = {"policy", "node"},
                                 .help = "Since when it is in that phase."},
    [METRIC_NODE_BLOCKED] =
        {.name = OUR("node_blocked"),
         .type = EXPOSE_GAUGE,
         .labels = {"policy", "node", "code"},
         .help =
             "Always 1: what a node waits for, with a code of docs/blockers.md; it may wait for "
             "a slot and for a gate at once."},
    [METRIC_NODE_BLOCKED_START] = {.name = OUR("node_blocked_start_timestamp_seconds"),
                                   .type = EXPOSE_GAUGE,
                                   .labels = {"policy", "node", "code"},
                                   .help = "Since when it waits for that."},
    [METRIC_BLOCKED_NODES] = {.name = OUR("blocked_nodes"),
                              .type = EXPOSE_GAUGE,
                              .labels = {"policy", "code"},
                              .help =
                                  "How many nodes of a policy wait for something, by its code."},
    [METRIC_NODE_REBOOT_REQUIRED] =
        {.name = OUR("node_reboot_required"),
         .type = EXPOSE_GAUGE,
         .labels = {"node", "reason"},
         .help = "Always 1: a node that is to be rebooted, and has not been: fleetlock (its client "
                 "asks, or was told that it may), maintenance (somebody has ordered it), mark (it "
                 "says so itself, as Flatcar's update operator has it)."},
    [METRIC_POLICY_USABLE] =
        {.name = OUR("policy_usable"),
         .type = EXPOSE_GAUGE,
         .labels = {"policy"},
         .help =
             "0 when nobody gets a slot of it: a mistake, a record of slots that cannot be read, "
             "no finalizer; else 1."},
    [METRIC_SLOTS] = {.name = OUR("slots"),
                      .type = EXPOSE_GAUGE,
                      .labels = {"policy"},
                      .help = "How many nodes of a policy may be out of service at once."},
    [METRIC_SLOTS_HELD] = {.name = OUR("slots_held"),
                           .type = EXPOSE_GAUGE,
                           .labels = {"policy"},
                           .help = "How many are: they hold a slot."},
    [METRIC_SLOTS_WAITING] = {.name = OUR("slots_waiting"),
                              .type = EXPOSE_GAUGE,
                              .labels = {"policy"},
                              .help = "How many nodes wait for a slot."},
    [METRIC_SLOT_HOLDER] = {.name = OUR("slot_holder"),
                            .type = EXPOSE_GAUGE,
                            .labels = {"policy", "node", "by", "state"},
                            .help =
                                "Always 1: a node that holds a slot, for whom, and how far it is."},
    [METRIC_SLOT_START] = {.name = OUR("slot_start_timestamp_seconds"),
                           .type = EXPOSE_GAUGE,
                           .labels = {"policy", "node"},
                           .help = "Since when it holds it."},
    [METRIC_MAINTENANCES] = {.name = OUR("maintenances"),
                             .type = EXPOSE_GAUGE,
                             .labels = {"operation", "phase"},
                             .help =
                                 "Maintenances that are in the cluster, by operation and phase."},
    [METRIC_ROLLOUTS] = {.name = OUR("rollouts"),
                         .type = EXPOSE_GAUGE,
                         .labels = {"operation", "phase"},
                         .help = "Rollouts that are in the cluster, by operation and phase."},
    [METRIC_ROLLOUT_NODES] =
        {.name = OUR("rollout_nodes"),
         .type = EXPOSE_GAUGE,
         .labels = {"rollout", "state"},
         .help = "Nodes of a Rollout that is not over: waiting, current, complete, failed."},
    [METRIC_ROLLOUT_START] = {.name = OUR("rollout_start_timestamp_seconds"),
                              .type = EXPOSE_GAUGE,
                              .labels = {"rollout"},
                              .help = "When a Rollout that is not over was made."},
    [METRIC_RIVAL] = {.name = OUR("rival"),
                      .type = EXPOSE_GAUGE,
                      .labels = {"node", "rival"},
                      .help =
                          "Always 1: a node that another manager is at work on, by what the Node "
                          "says; of whoever leads also by the manager's pod or lock."},
    [METRIC_GATE_STATUS] =
        {.name = OUR("gate_status"),
         .type = EXPOSE_GAUGE,
         .labels = {"policy", "node", "by", "gate"},
         .help = "What a gate says to a node that is about to take its next step, and for whom: 1 "
                 "pass, 0 wait, -1 deny. Those who wait for a slot are asked, those who are "
                 "drained, and those who are back."},
    [METRIC_GATE_CHECKS] = {.name = OUR("gate_checks_total"),
                            .type = EXPOSE_COUNTER,
                            .labels = {"policy", "gate", "outcome"},
                            .help =
                                "What gates have answered: pass, wait or deny; counted when a node "
                                "comes to a gate, and whenever the answer is another one."},
    [METRIC_GATE_DURATION] =
        {.name = OUR("gate_duration_seconds"),
         .type = EXPOSE_HISTOGRAM,
         .labels = {"policy", "gate"},
         .help = "How long a gate was shut to a node before it let it pass, of those that have "
                 "waited there.",
         .bounds = phase_bounds},
    [METRIC_TRANSITIONS] =
        {.name = OUR("transitions_total"),
         .type = EXPOSE_COUNTER,
         .labels = {"policy", "reason"},
         .help = "What has happened to slots and maintenances, by the reason that the "
                 "Events have."},
    [METRIC_PHASE_DURATION] = {.name = OUR("phase_duration_seconds"),
                               .type = EXPOSE_HISTOGRAM,
                               .labels = {"policy", "phase", "outcome"},
                               .help =
                                   "How long nodes were in a phase: ok when it went on from there, "
                                   "failed when it was given up or halted, cancelled when it was "
                                   "taken back.",
                               .bounds = phase_bounds},
    [METRIC_OPERATIONS] =
        {.name = OUR("operations_total"),
         .type = EXPOSE_COUNTER,
         .labels = {"policy", "operation", "outcome"},
         .help = "Operations that are over: complete, failed, cancelled, or same_boot "
                 "when a node was told to go and reported without having rebooted."},
    [METRIC_EVICTIONS] = {.name = OUR("evictions_total"),
                          .type = EXPOSE_COUNTER,
                          .labels = {"outcome"},
                          .help =
                              "What became of pods that were to go: evicted, forced (deleted, as a "
                              "rule allows), refused (by a budget or a webhook), gone (already), "
                              "error."},
    [METRIC_FLEETLOCK_REQUESTS] =
        {.name = OUR("fleetlock_requests_total"),
         .type = EXPOSE_COUNTER,
         .labels = {"endpoint", "code", "kind"},
         .help = "FleetLock requests by what was answered; endpoint is other of paths that the "
                 "protocol does not have, code the HTTP status, kind ok or that of the reply."},
    [METRIC_FLEETLOCK_DURATION] = {.name = OUR("fleetlock_request_duration_seconds"),
                                   .type = EXPOSE_HISTOGRAM,
                                   .labels = {"endpoint"},
                                   .help =
                                       "How long a FleetLock client of a known node waited for its "
                                       "answer.",
                                   .bounds = request_bounds},
    [METRIC_API_REQUESTS] =
        {.name = OUR("api_requests_total"),
         .type = EXPOSE_COUNTER,
         .labels = {"verb", "resource", "code"},
         .help = "Requests to the API server, without watches; code 0: there was no "
                 "answer."},
    [METRIC_API_DURATION] = {.name = OUR("api_request_duration_seconds"),
                             .type = EXPOSE_HISTOGRAM,
                             .labels = {"verb", "resource"},
                             .help = "How long they took.",
                             .bounds = request_bounds},
    [METRIC_RECONCILE_DURATION] =
        {.name = OUR("reconcile_duration_seconds"),
         .type = EXPOSE_HISTOGRAM,
         .help = "How long it took to decide what is to be done, each time that something had "
                 "changed: all policies, maintenances and rollouts together. Nothing else is done "
                 "meanwhile, nor is anything queued for it.",
         .bounds = turn_bounds},
    [METRIC_WATCH_RESTARTS] =
        {.name = OUR("watch_restarts_total"),
         .type = EXPOSE_COUNTER,
         .labels = {"resource"},
         .help = "Watches that were begun again, and lists that were read again, by "
                 "the kind that is watched. Some are normal: servers end watches "
                 "after some minutes."},
    [METRIC_CACHE_OBJECTS] = {.name = OUR("cache_objects"),
                              .type = EXPOSE_GAUGE,
                              .labels = {"resource"},
                              .help = "Objects in the picture of the cluster."},
    [METRIC_AUDIT_RECORDS] =
        {.name = OUR("audit_records_total"),
         .type = EXPOSE_COUNTER,
         .labels = {"outcome", "action"},
         .help = "Records of the audit log: written, or lost since it could not be "
                 "written; action is as there (docs/audit.md)."},
    [METRIC_EVENTS] = {.name = OUR("events_total"),
                       .type = EXPOSE_COUNTER,
                       .labels = {"outcome"},
                       .help = "Events: written, failed, or dropped since there were too many."},
    [METRIC_PROCESS_CPU] = {.name = "process_cpu_seconds_total",
                            .type = EXPOSE_COUNTER,
                            .help = "CPU time of the process, user and system."},
    [METRIC_PROCESS_MEMORY] = {.name = "process_resident_memory_bytes",
                               .type = EXPOSE_GAUGE,
                               .help = "Memory of the process that is in use."},
    [METRIC_PROCESS_FDS] = {.name = "process_open_fds",
                            .type = EXPOSE_GAUGE,
                            .help = "Files that are open."},
    [METRIC_PROCESS_MAX_FDS] = {.name = "process_max_fds",
                                .type = EXPOSE_GAUGE,
                                .help = "Files that may be open at once."},
    [METRIC_PROCESS_START] = {.name = "process_start_time_seconds",
                              .type = EXPOSE_GAUGE,
                              .help = "When the process began."},

    [METRIC_KURED_REBOOT_REQUIRED] =
        {.name = "kured_reboot_required",
         .type = EXPOSE_GAUGE,
         .labels = {"node"},
         .help = "1 of a node that waits for a slot to reboot, or holds one.",
         .compat = COMPAT_KURED},
    [METRIC_AIRLOCK_GROUPS] = {.name = "airlock_config_groups",
                               .type = EXPOSE_GAUGE,
                               .help = "How many FleetLock groups there are.",
                               .compat = COMPAT_AIRLOCK},
    [METRIC_AIRLOCK_CONFIG_SLOTS] = {.name = "airlock_config_semaphore_slots",
                                     .type = EXPOSE_GAUGE,
                                     .labels = {"group"},
                                     .help = "Slots of the group, as its policy says.",
                                     .compat = COMPAT_AIRLOCK},
    [METRIC_AIRLOCK_HOLDERS] = {.name = "airlock_database_semaphore_lock_holders",
                                .type = EXPOSE_GAUGE,
                                .labels = {"group"},
                                .help = "How many of them are held.",
                                .compat = COMPAT_AIRLOCK},
    [METRIC_AIRLOCK_SLOTS] = {.name = "airlock_database_semaphore_slots",
                              .type = EXPOSE_GAUGE,
                              .labels = {"group"},
                              .help = "The same as airlock_config_semaphore_slots.",
                              .compat = COMPAT_AIRLOCK},
    [METRIC_AIRLOCK_LOCKS] = {.name = "airlock_v1_pre_reboot_incoming_requests_total",
                              .type = EXPOSE_COUNTER,
                              .help = "How many pre-reboot requests there were.",
                              .compat = COMPAT_AIRLOCK},
    [METRIC_AIRLOCK_UNLOCKS] = {.name = "airlock_v1_steady_state_incoming_requests_total",
                                .type = EXPOSE_COUNTER,
                                .help = "How many steady-state requests there were.",
                                .compat = COMPAT_AIRLOCK},
    [METRIC_FLEETLOCK_STATE] = {.name = "fleetlock_lock_state",
                                .type = EXPOSE_GAUGE,
                                .labels = {"group"},
                                .help = "1 when no slot of the group is left, else 0.",
                                .compat = COMPAT_FLEETLOCK},
    [METRIC_FLEETLOCK_TRANSITIONS] = {.name = "fleetlock_lock_transition_count",
                                      .type = EXPOSE_UNKNOWN,
                                      .labels = {"group"},
                                      .help = "How many slots of the group were taken or released.",
                                      .compat = COMPAT_FLEETLOCK},
    [METRIC_FLEETLOCK_LOCKS] = {.name = "fleetlock_lock_request_count",
                                .type = EXPOSE_UNKNOWN,
                                .help = "How many pre-reboot requests there were.",
                                .compat = COMPAT_FLEETLOCK},
    [METRIC_FLEETLOCK_UNLOCKS] = {.name = "fleetlock_unlock_request_count",
                                  .type = EXPOSE_UNKNOWN,
                                  .help = "How many steady-state requests there were.",
                                  .compat = COMPAT_FLEETLOCK},
};
#undef OUR

const char *const metrics_compat_words[] = {"kured", "airlock", "fleetlock", NULL};

int metrics_compat(const char *text, unsigned *out, struct err *err) {
    unsigned found = 0;
    for (const char *p = text; *p; p += *p == ',') {
        size_t len = strcspn(p, ","), i = 0;
        while (metrics_compat_words[i] && (strlen(metrics_compat_words[i]) != len ||
                                           strncmp(metrics_compat_words[i], p, len) != 0))
            i++;
        if (!metrics_compat_words[i])
            return err_set(err, EINVAL, "\"%.*s\" has no metrics here: kured, airlock or fleetlock",
                           (int)len, p);
        found |= 1u << i;
        p += len;
    }
    *out = found;
    return 0;
}

/* --- what was counted --- */

struct series {
    char *values[METRIC_LABELS];
    double value;      /* of a histogram: the sum */
    uint64_t *buckets; /* of a histogram: one more than bounds */
};

struct family {
    VEC(struct series) list;
};

struct metrics {
    unsigned compat;
    struct family families[METRICS];
};

unsigned metrics_compat_of(const struct metrics *m) {
    return m ? m->compat : 0;
}

static void clear(struct family *f) {
    for (size_t i = 0; i < f->list.len; i++) {
        for (size_t j = 0; j < METRIC_LABELS; j++)
            free(f->list.p[i].values[j]);
        free(f->list.p[i].buckets);
    }
    f->list.len = 0;
}

void metrics_free(struct metrics *m) {
    if (!m)
        return;
    for (size_t i = 0; i < METRICS; i++) {
        clear(&m->families[i]);
        vec_done(&m->families[i].list);
    }
    free(m);
}

static size_t n_labels(const struct metric_row *row) {
    size_t n = 0;
    while (row->labels[n])
        n++;
    return n;
}

static size_t n_bounds(const struct metric_row *row) {
    size_t n = 0;
    while (row->bounds[n])
        n++;
    return n;
}

static bool is_wanted(const struct metrics *m, enum metric which) {
    const struct metric_row *row = &metric_rows[which];
    return m && (row->compat == COMPAT_NONE || (m->compat & row->compat));
}

static struct series *push(struct family *f, const struct metric_row *row,
                           const char *const *values) {
    struct series *s = vec_push(&f->list);
    *s = (struct series){0};
    for (size_t i = 0; i < n_labels(row); i++)
        s->values[i] = xstrdup(strna(values[i]));
    if (row->type == EXPOSE_HISTOGRAM)
        s->buckets = xcalloc(n_bounds(row) + 1, sizeof *s->buckets);
    return s;
}

static struct series *find(struct metrics *m, enum metric which, const char *const *values) {
    const struct metric_row *row = &metric_rows[which];
    struct family *f = &m->families[which];
    for (size_t i = 0; i < f->list.len; i++) {
        size_t j = 0;
        while (j < n_labels(row) && str_same(f->list.p[i].values[j], values[j]))
            j++;
        if (j == n_labels(row))
            return &f->list.p[i];
    }
    return push(f, row, values);
}

/* What others count is there from the beginning, as it is with them: who takes a rate misses the
 * first one otherwise. */
struct metrics *metrics_new(unsigned compat) {
    struct metrics *m = xnew(struct metrics);
    m->compat = compat;
    for (size_t i = 0; i < METRICS; i++) {
        const struct metric_row *row = &metric_rows[i];
        if (row->compat != COMPAT_NONE && row->type != EXPOSE_GAUGE && !n_labels(row))
            metrics_add(m, (enum metric)i, 0, NULL);
    }
    return m;
}

void metrics_add(struct metrics *m, enum metric which, double by, const char *const *values) {
    if (is_wanted(m, which))
        find(m, which, values)->value += by;
}

void metrics_raise(struct metrics *m, enum metric which, double to, const char *const *values) {
    if (is_wanted(m, which))
        find(m, which, values)->value = to;
}

void metrics_observe(struct metrics *m, enum metric which, double value,
                     const char *const *values) {
    const struct metric_row *row = &metric_rows[which];
    size_t i = 0;
    if (!is_wanted(m, which))
        return;
    struct series *s = find(m, which, values);
    while (i < n_bounds(row) && value > row->bounds[i])
        i++;
    s->buckets[i]++;
    s->value += value;
}

void metrics_set(struct metrics *m, enum metric which, double value, const char *const *values) {
    if (is_wanted(m, which))
        push(&m->families[which], &metric_rows[which], values)->value = value;
}

void metrics_forget_gauges(struct metrics *m) {
    for (size_t i = 0; i < METRICS; i++)
        if (metric_rows[i].type == EXPOSE_GAUGE)
            clear(&m->families[i]);
}

/* --- writing --- */

static void write_histogram(struct exposition *e, const struct metric_row *row,
                            const struct series *s, struct exposition_label *labels, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i <= n_bounds(row); i++) {
        _cleanup_str_ struct str bound = STR_INIT;
        exposition_number(e, i < n_bounds(row) ? row->bounds[i] : INFINITY, &bound);
        sum += s->buckets[i];
        labels[n] = (struct exposition_label){"le", str_get(&bound)};
        exposition_sample(e, "_bucket", labels, n + 1, (double)sum);
    }
    exposition_sample(e, "_sum", labels, n, s->value);
    exposition_sample(e, "_count", labels, n, (double)sum);
}

static void write_family(struct exposition *e, const struct metric_row *row,
                         const struct family *f) {
    exposition_family(e, row->name, row->type, row->help);
    for (size_t i = 0; i < f->list.len; i++) {
        const struct series *s = &f->list.p[i];
        struct exposition_label labels[METRIC_LABELS + 1];
        size_t n = n_labels(row);
        for (size_t j = 0; j < n; j++)
            labels[j] = (struct exposition_label){row->labels[j], s->values[j]};
        if (s->buckets)
            write_histogram(e, row, s, labels, n);
        else
            exposition_sample(e, "", labels, n, s->value);
    }
}

void metrics_write(const struct metrics *m, bool open, struct str *out) {
    struct exposition e;
    exposition_init(&e, out, open);
    for (size_t i = 0; i < METRICS; i++)
        if (m->families[i].list.len)
            write_family(&e, &metric_rows[i], &m->families[i]);
    exposition_end(&e);
}
