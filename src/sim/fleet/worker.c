/* Pods on machines. */
#include "sim/fleet/worker.h"

#include <assert.h>
#include <stdio.h>

#include "engine/durations.h"
#include "engine/podrole.h"
#include "model/workload.h"
#include "sim/fleet/original.h"
#include "sim/fleet/pod_index.h"
#include "sim/fleet/pod_status.h"
#include "sim/fleet/static_pods.h"
#include "sim/fleet/volumes.h"

/* The kubelet's back-off for containers that end: 10 s doubling up to 5 minutes. */
#define CRASH_FIRST SEC(10)
#define CRASH_MAX   SEC(300)
/* As a bound that something is drawn from, which must be less than INT64_MAX. */
#define NEVER (INT64_MAX - 1)

/* What happens next to a pod. */
enum step {
    STEP_NONE,
    STEP_START,   /* its containers begin to run */
    STEP_READY,   /* they are ready */
    STEP_EXIT,    /* they end by themselves */
    STEP_RESTART, /* they are started once more */
    STEP_GONE,    /* they have been stopped: the pod leaves the API */
};

struct worker {
    struct workers *all;
    const char *uid; /* a pool entry */
    char *ns, *name;
    struct machine *machine; /* NULL: its Node has none */
    enum step step;
    struct alarm alarm;
    int64_t backoff;
    bool lost; /* the power went while it ran: it must be started again */
};

struct workers {
    struct fleet *fleet;
    struct htab by_uid;
};

static uint32_t uid_hash(const char *uid) {
    return hash_bytes(uid, strlen(uid));
}
static uint32_t worker_hash(const void *entry) {
    return uid_hash(((const struct worker *)entry)->uid);
}
static bool worker_equal(const void *entry, const void *uid) {
    return streq(((const struct worker *)entry)->uid, uid);
}
static const struct htab_ops worker_ops = {worker_hash, worker_equal};

static bool is(const char *a, const char *b) {
    return str_same(a, b);
}

static struct record *pod_of(const struct worker *w) {
    struct record *r = shelf_get(w->all->fleet->pods->shelf, w->ns, w->name);
    return r && is(r->obj->meta.uid, w->uid) ? r : NULL;
}

static bool crashed(const struct pod *pod) {
    for (size_t i = 0; i < list_len(pod->containers); i++) {
        const struct state_waiting *w = pod->containers[i].state.waiting;
        if (w && is(w->reason, "CrashLoopBackOff"))
            return true;
    }
    return false;
}

static const struct pair *node_annotations(const struct worker *w) {
    const struct record *r = shelf_get(w->all->fleet->nodes->shelf, NULL, w->machine->name);
    return r ? r->obj->meta.annotations : NULL;
}

static int64_t delay(const struct worker *w, const struct pod *pod, const char *what, int64_t min,
                     int64_t max, const char **word) {
    static const char *const words[] = {
        [HABIT_START] = "start", [HABIT_READY] = "ready", [HABIT_STOP] = "stop"};
    const struct original *original = w->all->fleet->original;
    for (size_t i = 0; original && i < ARRAY_LEN(words); i++)
        if (streq(words[i], what)) {
            int64_t usual = habits_draw(original_habits(original), pod, (enum habit)i);
            min = max = MIN_OF(usual, NEVER);
        }
    int64_t wait = machine_delay(w->all->fleet, pod->meta.annotations, node_annotations(w), what,
                                 min, max, word);
    return wait == NEVER ? INT64_MAX : wait;
}

/* In a copy of a cluster: then it takes as long as it was seen to, also to be killed. */
static bool was_seen_to_stop(const struct worker *w, const struct pod *pod) {
    const struct original *original = w->all->fleet->original;
    _cleanup_str_ struct str name = STR_INIT;
    if (!original)
        return false;
    workload_name(pod, &name);
    return habits_median(original_habits(original), str_get(&name), HABIT_STOP) >= 0;
}

static void report(struct worker *w, struct pod_report r) {
    struct fleet *f = w->all->fleet;
    struct record *pod = pod_of(w);
    char host[32], ip[32];
    size_t n = w->machine->number;
    (void)snprintf(host, sizeof host, "172.%zu.%zu.%zu", 16 + (n >> 16) % 16, n >> 8 & 255,
                   n & 255);
    const struct pod *p = record_as(pod, pod);
    if (p->spec->host_network) {
        (void)snprintf(ip, sizeof ip, "%s", host);
    } else if (!is(p->phase, "Running")) {
        uint32_t i = w->machine->next_ip++;
        (void)snprintf(ip, sizeof ip, "10.%zu.%zu.%u", 128 + (n >> 8) % 128, n & 255, 2 + i % 252);
    } else {
        *ip = 0;
    }
    r.host_ip = host;
    r.pod_ip = *ip ? ip : NULL;
    r.now = f->world->clock.now;
    _cleanup_str_ struct str status = STR_INIT;
    pod_status(&f->world->codec, pod, &r, &status);
    fleet_put_status_text(f, f->pods, pod, &status);
}

static void look(struct worker *w);

static void take_step(void *arg) {
    struct worker *w = arg;
    struct fleet *f = w->all->fleet;
    enum step step = w->step;
    w->step = STEP_NONE;
    struct record *r = pod_of(w);
    if (!r || !w->machine || w->machine->state == MACHINE_DOWN)
        return;
    /* A kubelet that hangs lets containers run and end, but tells nobody. */
    if (w->machine->state == MACHINE_HUNG)
        return;
    const struct pod *pod = record_as(pod, r);
    const char *text = map_get(pod->meta.annotations, SIM_ANNOTATION "exit");
    bool good = text && !machine_annotation_check(SIM_ANNOTATION "exit", text, NULL);
    int code = good ? (int)strtol(text, NULL, 10) : 0;
    switch (step) {
    case STEP_START: {
        if (!volumes_ready(f, pod)) {
            w->step = STEP_START; /* asks again, as the kubelet does */
            clock_set(&f->world->clock, &w->alarm,
                      f->world->clock.now + fleet_delay(f, MSEC(300), SEC(1)), take_step, w);
            return;
        }
        /* First: the report makes us look again. */
        bool lost = w->lost;
        w->lost = false;
        report(w, (struct pod_report){.stage = POD_RUNNING, .restarted = lost});
        break;
    }
    case STEP_READY:
        report(w, (struct pod_report){.stage = POD_READY});
        break;
    case STEP_EXIT:
        if (is(pod->spec->restart_policy, "Always") ||
            (code && is(pod->spec->restart_policy, "OnFailure"))) {
            report(w, (struct pod_report){.stage = POD_CRASHED, .exit_code = code ? code : 0});
            fleet_event(f, "kubelet", f->pods, pod_of(w), "Warning", "BackOff",
                        "Back-off restarting failed container in pod %s_%s(%s)", w->name, w->ns,
                        w->uid);
        } else {
            report(w, (struct pod_report){.stage = POD_EXITED, .exit_code = code});
        }
        break;
    case STEP_RESTART:
        report(w, (struct pod_report){.stage = POD_RUNNING, .restarted = true});
        break;
    case STEP_GONE: {
        /* First the last words, then the object goes; of a mirror nothing has ended. */
        if (!pod_finished(pod) && is(pod->phase, "Running") && !pod_is_mirror(pod))
            report(w,
                   (struct pod_report){.stage = POD_EXITED, .exit_code = 137, .reason = "Error"});
        struct delete_options o = DELETE_OPTIONS_INIT;
        o.grace = 0;
        o.uid = w->uid;
        fleet_delete(f, f->pods, w->ns, w->name, &o);
        return; /* the worker may be gone */
    }
    default:
        return;
    }
}

static void plan(struct worker *w, enum step step, int64_t wait) {
    struct clock *c = &w->all->fleet->world->clock;
    if (wait == INT64_MAX) {
        w->step = STEP_NONE;
        clock_stop(c, &w->alarm);
        return;
    }
    w->step = step;
    clock_set(c, &w->alarm, c->now + wait, take_step, w);
}

/* What the state of the pod asks for, unless that is planned already. */
static void look(struct worker *w) {
    struct clock *clock = &w->all->fleet->world->clock;
    struct record *r = pod_of(w);
    if (!r || !w->machine || w->machine->state != MACHINE_UP)
        return;
    const struct pod *pod = record_as(pod, r);
    const char *word = NULL;
    if (pod->meta.deleted && pod_is_mirror(pod)) {
        if (w->step != STEP_GONE)
            plan(w, STEP_GONE, fleet_delay(w->all->fleet, 0, MSEC(100)));
        return;
    }
    if (pod->meta.deleted) {
        int64_t left = pod->meta.deleted - clock->now;
        if (left < 0 || pod->meta.deletion_grace == 0)
            left = 0;
        if (left && was_seen_to_stop(w, pod))
            left += KILL_TAKES;
        int64_t wait = pod_finished(pod) || !is(pod->phase, "Running")
                           ? fleet_delay(w->all->fleet, 0, MSEC(100))
                           : delay(w, pod, "stop", MSEC(200), SEC(2), &word);
        bool running = !pod_finished(pod) && is(pod->phase, "Running");
        if (running && word && is(word, "stuck")) {
            plan(w, STEP_NONE, INT64_MAX);
            return;
        }
        /* A shorter grace period than before comes into force at once. */
        if (w->step == STEP_GONE && w->alarm.due <= clock->now + left)
            return;
        plan(w, STEP_GONE, MIN_OF(wait, left));
        return;
    }
    if (pod_finished(pod)) {
        plan(w, STEP_NONE, INT64_MAX);
        return;
    }
    enum step want;
    int64_t wait;
    if (!is(pod->phase, "Running") || w->lost) {
        want = STEP_START;
        wait = delay(w, pod, "start", MSEC(500), SEC(2), NULL);
    } else if (crashed(pod)) {
        want = STEP_RESTART;
        wait = w->backoff = w->backoff ? MIN_OF(w->backoff * 2, CRASH_MAX) : CRASH_FIRST;
    } else {
        bool restarts = is(pod->spec->restart_policy, "Always");
        bool lasts = restarts || w->all->fleet->original;
        int64_t run = lasts && !map_has(pod->meta.annotations, SIM_ANNOTATION "run")
                          ? INT64_MAX
                          : delay(w, pod, "run", SEC(5), SEC(20), NULL);
        if (!pod_ready(pod)) {
            int64_t until = delay(w, pod, "ready", 0, SEC(1), NULL);
            want = until <= run ? STEP_READY : STEP_EXIT;
            wait = MIN_OF(until, run);
        } else {
            want = STEP_EXIT;
            wait = run;
        }
    }
    if (w->step == want && alarm_pending(&w->alarm))
        return;
    plan(w, want, wait);
}

static void worker_free(struct worker *w) {
    struct workers *all = w->all;
    clock_stop(&all->fleet->world->clock, &w->alarm);
    if (w->machine)
        w->machine->pods--;
    pool_unref(all->fleet->world->pool, w->uid);
    free(w->ns);
    free(w->name);
    free(w);
}

static void pod_changed(void *arg, const struct change *c) {
    struct workers *all = arg;
    const struct pod *pod = record_as(pod, c->after);
    struct worker *w = htab_find(&all->by_uid, uid_hash(pod->meta.uid), pod->meta.uid);
    if (c->type == CHANGE_DELETED) {
        if (w) {
            htab_remove(&all->by_uid, uid_hash(w->uid), w->uid);
            worker_free(w);
        }
        return;
    }
    if (str_empty(pod->node_name))
        return;
    if (!w) {
        w = xnew(struct worker);
        w->all = all;
        w->uid = pool_ref(pod->meta.uid);
        w->ns = xstrdup(strna(pod->meta.ns));
        w->name = xstrdup(pod->meta.name);
        htab_insert(&all->by_uid, w);
    }
    if (!w->machine && (w->machine = machine_find(all->fleet, pod->node_name)))
        w->machine->pods++;
    look(w);
}

/* Workers of a machine's pods, in the order of the index: the hash table has none. */
static struct worker *worker_of(struct workers *all, const struct record *r) {
    const char *uid = r->obj->meta.uid;
    return htab_find(&all->by_uid, uid_hash(uid), uid);
}

void workers_resume(struct workers *all, struct machine *m) {
    struct pod_list pods = pods_on_node(all->fleet->pod_index, m->name);
    for (size_t i = 0; i < pods.len; i++) {
        struct worker *w = worker_of(all, pods.p[i]);
        if (!w)
            continue;
        if (!w->machine) {
            w->machine = m;
            m->pods++;
        }
        look(w);
    }
}

void workers_power_off(struct workers *all, struct machine *m) {
    struct pod_list pods = pods_on_node(all->fleet->pod_index, m->name);
    bool gone = machine_find(all->fleet, m->name) != m;
    for (size_t i = 0; i < pods.len; i++) {
        struct worker *w = worker_of(all, pods.p[i]);
        if (!w || w->machine != m)
            continue;
        clock_stop(&all->fleet->world->clock, &w->alarm);
        w->step = STEP_NONE;
        w->backoff = 0;
        w->lost = is(record_as(pod, pods.p[i])->phase, "Running");
        if (gone)
            w->machine = NULL;
    }
}

struct workers *workers_new(struct fleet *f) {
    struct workers *all = xnew(struct workers);
    all->fleet = f;
    htab_init(&all->by_uid, &worker_ops);
    shelf_listen(f->pods->shelf, pod_changed, all);
    return all;
}

void workers_free(struct workers *all) {
    if (!all)
        return;
    shelf_unlisten(all->fleet->pods->shelf, pod_changed, all);
    struct worker *w;
    for (uint32_t i = 0; (w = htab_next(&all->by_uid, &i));) {
        w->machine = NULL;
        worker_free(w);
    }
    htab_done(&all->by_uid);
    free(all);
}
