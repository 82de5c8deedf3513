/* Nodes, their leases and their power. */
#include "sim/fleet/machine.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/static_pods.h"
#include "sim/fleet/status_text.h"
#include "sim/fleet/worker.h"
#include "sim/schema/text_read.h"

/* The kubelet's own numbers: nodeLeaseDurationSeconds 40, renewed after a quarter of it;
 * nodeStatusReportFrequency 5 min. */
enum { LEASE_SECONDS = 40 };
#define LEASE_EVERY  SEC(10)
#define STATUS_EVERY SEC(300)

/* Objects whose annotations say something to the simulator. */
struct annotated {
    struct fleet *fleet;
    const struct resource *res;
};

struct machines {
    struct fleet *fleet;
    struct annotated annotated[4];
    struct htab by_name;
    size_t n, numbers;
    struct workers *workers;
    struct static_pods *static_pods;
};

struct machine_key {
    const char *name;
};

static uint32_t name_hash(const char *name) {
    return hash_bytes(name, strlen(name));
}
static uint32_t machine_hash(const void *entry) {
    return name_hash(((const struct machine *)entry)->name);
}
static bool machine_equal(const void *entry, const void *name) {
    return streq(((const struct machine *)entry)->name, name);
}
static const struct htab_ops machine_ops = {machine_hash, machine_equal};

struct machine *machine_find(struct fleet *f, const char *name) {
    return !f->machines || str_empty(name)
               ? NULL
               : htab_find(&f->machines->by_name, name_hash(name), name);
}

size_t machine_count(const struct fleet *f) {
    return f->machines ? f->machines->n : 0;
}

/* --- annotations --- */

static const struct deed {
    const char *word;
    void (*fn)(struct machine *m);
} deeds[] = {
    {"reboot", machine_reboot},
    {"off", machine_off},
    {"on", machine_on},
    {"hang", machine_hang},
};

static const struct deed *deed_of(const char *word) {
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++)
        if (streq(deeds[i].word, word))
            return &deeds[i];
    return NULL;
}

/* "2s" or "1s-3s". */
static bool read_range(const char *text, int64_t *low, int64_t *high) {
    const char *dash = *text ? strchr(text + 1, '-') : NULL;
    _cleanup_free_ char *first = dash ? xstrndup(text, (size_t)(dash - text)) : xstrdup(text);
    if (duration_parse(first, low, NULL) || *low < 0)
        return false;
    *high = *low;
    return !dash || (!duration_parse(dash + 1, high, NULL) && *high >= *low);
}

int64_t machine_delay(struct fleet *f, const struct pair *annotations,
                      const struct pair *node_annotations, const char *what, int64_t min,
                      int64_t max, const char **word) {
    char key[64];
    (void)snprintf(key, sizeof key, SIM_ANNOTATION "%s", what);
    const char *text = map_get(annotations, key);
    if (!text)
        text = map_get(node_annotations, key);
    if (word)
        *word = NULL;
    if (!text)
        return fleet_delay(f, min, max);
    if (streq(text, "never"))
        return INT64_MAX;
    int64_t low, high;
    if (!read_range(text, &low, &high)) {
        if (word)
            *word = text;
        return fleet_delay(f, min, max);
    }
    return fleet_delay(f, low, high);
}

static bool is_exit_code(const char *text) {
    size_t n = strspn(text, "0123456789");
    return n > 0 && n <= 3 && !text[n] && strtol(text, NULL, 10) <= 255;
}

/* A value in a message: what would break a terminal made visible, and not all of 256 KiB. */
static void show_value(struct str *out, const char *value) {
    enum { SHOWN = 80 };
    size_t n = strlen(value), cut = MIN_OF(n, (size_t)SHOWN);
    while (cut < n && cut > 0 && ((unsigned char)value[cut] & 0xc0) == 0x80)
        cut--;
    _cleanup_free_ char *piece = xstrndup(value, cut);
    utf8_printable(out, piece);
    if (cut < n)
        str_add(out, "...");
}

int machine_annotation_check(const char *key, const char *value, struct err *err) {
    static const char *const delays[] = {"start", "ready",     "stop",   "run",
                                         "boot",  "provision", "attach", "detach"};
    if (!str_starts(key, SIM_ANNOTATION))
        return 0;
    const char *name = key + strlen(SIM_ANNOTATION), *must = NULL;
    for (size_t i = 0; i < ARRAY_LEN(delays); i++) {
        int64_t low, high;
        if (!streq(name, delays[i]) || streq(value, "never") || read_range(value, &low, &high))
            continue;
        if (!streq(name, "stop"))
            must = "a duration (\"90s\"), a range with the shorter one first (\"2s-5s\") or "
                   "\"never\"";
        else if (!streq(value, "stuck"))
            must = "a duration (\"90s\"), a range with the shorter one first (\"2s-5s\"), "
                   "\"never\" or \"stuck\"";
    }
    if (streq(name, "exit") && !is_exit_code(value))
        must = "an exit code, from 0 to 255";
    if (streq(name, "do") && !deed_of(value))
        must = "\"reboot\", \"off\", \"on\" or \"hang\"";
    if (!must)
        return 0;
    _cleanup_str_ struct str shown = STR_INIT;
    show_value(&shown, value);
    return err_set(err, EINVAL, "%s must be %s, not \"%s\"", key, must, str_get(&shown));
}

/* Whoever annotates an object is told of a slip where kubectl describe shows it: once for each
 * value, not with every change of the object. */
static void annotations_changed(void *arg, const struct change *c) {
    const struct annotated *a = arg;
    if (c->type == CHANGE_DELETED)
        return;
    const struct pair *now = c->after->obj->meta.annotations;
    const struct pair *before = c->before ? c->before->obj->meta.annotations : NULL;
    if (now == before)
        return;
    for (size_t i = 0; i < list_len(now); i++) {
        _cleanup_err_ struct err err = ERR_INIT;
        if (!str_starts(now[i].key, SIM_ANNOTATION) ||
            str_same(map_get(before, now[i].key), now[i].value) ||
            !machine_annotation_check(now[i].key, now[i].value, &err))
            continue;
        fleet_event(a->fleet, "slipway-sim", a->res, c->after, "Warning", "BadAnnotation", "%s",
                    err_msg(&err));
    }
}

/* --- the Node object --- */

static struct record *node_of(struct machine *m) {
    return shelf_get(m->all->fleet->nodes->shelf, NULL, m->name);
}

/* The conditions that are the kubelet's. */
static const struct own_condition {
    const char *type, *status, *reason, *message;
} own_conditions[] = {
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
};

static const struct own_condition *own_condition(const char *type) {
    for (size_t i = 0; i < ARRAY_LEN(own_conditions); i++)
        if (str_same(own_conditions[i].type, type))
            return &own_conditions[i];
    return NULL;
}

static void add_condition(const struct own_condition *own, const struct node *node, int64_t now,
                          struct str *out) {
    const struct node_condition *old = node_condition_find(node->conditions, own->type);
    bool same = old && old->c.changed && str_same(old->c.status, own->status);
    if (out->p[out->len - 1] != '[')
        str_addc(out, ',');
    str_addc(out, '{');
    member_str(out, "type", own->type);
    member_str(out, "status", own->status);
    member_time(out, "lastHeartbeatTime", now);
    member_time(out, "lastTransitionTime", same ? old->c.changed : now);
    member_str(out, "reason", own->reason);
    member_str(out, "message", own->message);
    str_addc(out, '}');
}

/* Its own anew, those of others as they stand. */
static void add_conditions(struct codec *c, const struct node *node, struct view list, int64_t now,
                           struct str *out) {
    struct view item, key = VIEW("type"), type;
    str_addc(out, '[');
    for (size_t i = 0; i < ARRAY_LEN(own_conditions); i++)
        add_condition(&own_conditions[i], node, now, out);
    while (codec_json_next(c, &list, &item)) {
        if (codec_json_find(c, item, &key, 1, &type, NULL) || type.len < 2)
            continue;
        _cleanup_free_ char *name = xstrndup(type.p + 1, type.len - 2);
        if (own_condition(name))
            continue;
        str_addc(out, ',');
        str_addn(out, item.p, item.len);
    }
    str_addc(out, ']');
}

/* Nothing new but the time: it replaces the list of conditions in the text. */
static void post_heartbeat(struct machine *m, struct record *r) {
    struct fleet *f = m->all->fleet;
    struct codec *c = &f->world->codec;
    struct view all = record_status_text(r), old = record_status_member(c, r, "conditions");
    _cleanup_str_ struct str out = STR_INIT;
    str_addn(&out, all.p, (size_t)(old.p - all.p));
    add_conditions(c, record_as(node, r), old, f->world->clock.now, &out);
    str_addn(&out, old.p + old.len, (size_t)(all.p + all.len - old.p - old.len));
    fleet_put_status_text(f, f->nodes, r, &out);
}

static bool has_conditions(const struct node *node) {
    for (size_t i = 0; i < ARRAY_LEN(own_conditions); i++)
        if (!node_condition_find(node->conditions, own_conditions[i].type))
            return false;
    return true;
}

/* What kubelet posts: all of the status but what others write there. */
static void post_status(struct machine *m) {
    struct fleet *f = m->all->fleet;
    struct record *r = node_of(m);
    if (!r)
        return;
    const struct node *node = record_as(node, r);
    if (m->registered && has_conditions(node) && str_same(node->info.boot_id, m->boot_id)) {
        post_heartbeat(m, r);
        return;
    }
    json_t *status = record_status(r);
    _cleanup_str_ struct str conditions = STR_INIT;
    add_conditions(&f->world->codec, node, record_status_member(&f->world->codec, r, "conditions"),
                   f->world->clock.now, &conditions);
    json_t *list = NULL;
    int rc = text_read((struct view){conditions.p, conditions.len}, NULL, &list, NULL);
    assert(rc == 0);
    (void)rc;
    json_object_set_new(status, "conditions", list);
    char ip[32];
    (void)snprintf(ip, sizeof ip, "172.%zu.%zu.%zu", 16 + (m->number >> 16) % 16,
                   m->number >> 8 & 255, m->number & 255);
    if (!json_object_get(status, "addresses"))
        json_object_set_new(status, "addresses",
                            json_pack("[{s:s, s:s}, {s:s, s:s}]", "type", "InternalIP", "address",
                                      ip, "type", "Hostname", "address", m->name));
    if (!json_object_get(status, "capacity"))
        json_object_set_new(status, "capacity",
                            json_pack("{s:s, s:s, s:s, s:s}", "cpu", "8", "ephemeral-storage",
                                      "100Gi", "memory", "32Gi", "pods", "110"));
    if (!json_object_get(status, "allocatable"))
        json_object_set(status, "allocatable", json_object_get(status, "capacity"));
    json_object_set_new(status, "daemonEndpoints",
                        json_pack("{s:{s:i}}", "kubeletEndpoint", "Port", 10250));
    json_t *info = json_object_get(status, "nodeInfo");
    if (!info) {
        info = json_object();
        json_object_set_new(status, "nodeInfo", info);
    }
    char uuid[UUID_LEN + 1];
    static const char *const texts[][2] = {
        {"kernelVersion", "6.1.0-slipway"},
        {"osImage", "Slipway Simulated Linux"},
        {"containerRuntimeVersion", "sim://1"},
        {"kubeletVersion", "v1.36.3"},
        {"kubeProxyVersion", ""},
        {"operatingSystem", "linux"},
        {"architecture", "amd64"},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (str_empty(json_str(info, texts[i][0])))
            json_object_set_new(info, texts[i][0], json_string(texts[i][1]));
    if (str_empty(json_str(info, "machineID"))) {
        world_uuid(f->world, uuid);
        char id[33];
        size_t n = 0;
        for (const char *p = uuid; *p; p++)
            if (*p != '-')
                id[n++] = *p;
        id[n] = 0;
        json_object_set_new(info, "machineID", json_string(id));
        json_object_set_new(info, "systemUUID", json_string(uuid));
    }
    /* The first boot keeps a boot id that came with the object. */
    if (!*m->boot_id) {
        const char *given = json_str(info, "bootID");
        (void)snprintf(m->boot_id, sizeof m->boot_id, "%s",
                       str_empty(given) ? world_uuid(f->world, uuid) : given);
    }
    json_object_set_new(info, "bootID", json_string(m->boot_id));
    m->registered = true;
    fleet_put_status(f, f->nodes, r, status);
}

/* --- the lease --- */

static void create_lease(struct machine *m, const struct record *node, const char *now) {
    struct fleet *f = m->all->fleet;
    json_t *owner = json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", "v1", "kind", "Node", "name",
                              m->name, "uid", node->obj->meta.uid);
    record_unref(fleet_create(f, f->leases, "kube-node-lease",
                              json_pack("{s:{s:s, s:s, s:[o]}, s:{s:s, s:i, s:s}}", "metadata",
                                        "name", m->name, "namespace", "kube-node-lease",
                                        "ownerReferences", owner, "spec", "holderIdentity", m->name,
                                        "leaseDurationSeconds", LEASE_SECONDS, "renewTime", now),
                              NULL));
}

/* By far the most frequent write of a cluster: the one timestamp is replaced in the text. */
static void renew_lease(struct machine *m, const struct record *node) {
    struct fleet *f = m->all->fleet;
    char now[TIMEFMT_LEN];
    time_format(f->world->clock.now, true, now);
    struct record *r = shelf_get(f->leases->shelf, "kube-node-lease", m->name);
    if (!r) {
        create_lease(m, node, now);
        return;
    }
    static const struct view key = VIEW("\"renewTime\":\"");
    const char *at = memmem(r->json, r->len, key.p, key.len);
    size_t len = at ? strcspn(at + key.len, "\"") : 0;
    if (!at) { /* somebody took it out */
        json_t *obj = record_json(r);
        json_object_set_new(json_object_get(obj, "spec"), "renewTime", json_string(now));
        fleet_update(f, f->leases, NULL, obj, NULL);
        return;
    }
    (void)shelf_splice(f->leases->shelf, r, (size_t)(at + key.len - r->json), len, view_of(now),
                       NULL);
}

static void beat(void *arg) {
    struct machine *m = arg;
    struct fleet *f = m->all->fleet;
    struct record *r = node_of(m);
    if (r) {
        const struct node *node = record_as(node, r);
        const struct node_condition *ready = node_condition_find(node->conditions, "Ready");
        bool due = !m->registered || !ready || !str_same(ready->c.status, "True") ||
                   ready->heartbeat <= f->world->clock.now - STATUS_EVERY;
        if (due && !m->sick)
            post_status(m);
        renew_lease(m, node_of(m));
    }
    /* As client-go's JitterUntil: up to 4 % more. */
    clock_set(&f->world->clock, &m->heartbeat,
              f->world->clock.now + LEASE_EVERY + fleet_delay(f, 0, LEASE_EVERY / 25), beat, m);
}

/* --- power --- */

static void come_up(struct machine *m) {
    struct fleet *f = m->all->fleet;
    m->state = MACHINE_UP;
    clock_stop(&f->world->clock, &m->boot);
    clock_set(&f->world->clock, &m->heartbeat, f->world->clock.now, beat, m);
    workers_resume(m->all->workers, m);
    static_pods_resume(m->all->static_pods, m);
}

static void booted(void *arg) {
    struct machine *m = arg;
    world_uuid(m->all->fleet->world, m->boot_id);
    m->registered = false;
    come_up(m);
}

static void go_down(struct machine *m) {
    struct clock *c = &m->all->fleet->world->clock;
    m->state = MACHINE_DOWN;
    clock_stop(c, &m->heartbeat);
    clock_stop(c, &m->boot);
    workers_power_off(m->all->workers, m);
}

void machine_reboot(struct machine *m) {
    struct fleet *f = m->all->fleet;
    const struct record *r = node_of(m);
    go_down(m);
    int64_t delay =
        machine_delay(f, r ? r->obj->meta.annotations : NULL, NULL, "boot", SEC(20), SEC(40), NULL);
    if (delay != INT64_MAX)
        clock_set(&f->world->clock, &m->boot, f->world->clock.now + delay, booted, m);
}

void machine_off(struct machine *m) {
    go_down(m);
}

void machine_on(struct machine *m) {
    if (m->state == MACHINE_HUNG)
        come_up(m);
    else if (m->state == MACHINE_DOWN)
        booted(m);
}

void machine_hang(struct machine *m) {
    if (m->state != MACHINE_UP)
        return;
    m->state = MACHINE_HUNG;
    clock_stop(&m->all->fleet->world->clock, &m->heartbeat);
}

bool machine_add_static_pod(struct machine *m, const json_t *pod, struct failure *failure) {
    return static_pods_add(m->all->static_pods, m, pod, failure);
}

/* --- Nodes come and go --- */

static bool has_machine(const struct fleet *f, const struct node *node) {
    const struct pair *a = node->meta.annotations;
    return f->original || map_has(a, SIM_ANNOTATION "machine") ||
           str_same(map_get(a, "kwok.x-k8s.io/node"), "fake");
}

static void machine_free(struct machine *m) {
    struct clock *c = &m->all->fleet->world->clock;
    clock_stop(c, &m->heartbeat);
    clock_stop(c, &m->boot);
    free(m->name);
    free(m);
}

static void obey(struct machine *m, struct record *r, const char *word) {
    struct fleet *f = m->all->fleet;
    _cleanup_free_ char *what = xstrdup(word);
    fleet_set_meta(f, f->nodes, r, "annotations", SIM_ANNOTATION "do", NULL);
    const struct deed *deed = deed_of(what);
    if (deed)
        deed->fn(m);
}

static void node_changed(void *arg, const struct change *c) {
    struct machines *all = arg;
    struct fleet *f = all->fleet;
    const struct node *node = record_as(node, c->after);
    struct machine *m = machine_find(f, node->meta.name);
    if (c->type == CHANGE_DELETED) {
        /* The machine runs on; its kubelet registers again only when it is started anew, and the
         * simulator's machines are gone with their Node. */
        if (m) {
            htab_remove(&all->by_name, name_hash(m->name), m->name);
            all->n--;
            workers_power_off(all->workers, m);
            static_pods_forget(all->static_pods, m);
            machine_free(m);
        }
        return;
    }
    if (!m) {
        if (!has_machine(f, node))
            return;
        m = xnew(struct machine);
        m->all = all;
        m->name = xstrdup(node->meta.name);
        m->number = ++all->numbers;
        htab_insert(&all->by_name, m);
        all->n++;
        /* Machines are not switched on at the same moment. */
        clock_set(&f->world->clock, &m->heartbeat,
                  f->world->clock.now + fleet_delay(f, 0, MSEC(200)), beat, m);
        workers_resume(all->workers, m);
    }
    const char *word = map_get(node->meta.annotations, SIM_ANNOTATION "do");
    if (word)
        obey(m, c->after, word);
}

static void *start(struct fleet *f) {
    struct machines *all = xnew(struct machines);
    all->fleet = f;
    htab_init(&all->by_name, &machine_ops);
    f->machines = all;
    all->workers = workers_new(f);
    all->static_pods = static_pods_new(f);
    struct resource *const annotated[] = {f->nodes, f->pods, f->pvs, f->storage_classes};
    for (size_t i = 0; i < ARRAY_LEN(annotated); i++) {
        all->annotated[i] = (struct annotated){f, annotated[i]};
        shelf_listen(annotated[i]->shelf, annotations_changed, &all->annotated[i]);
    }
    shelf_listen(f->nodes->shelf, node_changed, all);
    return all;
}

static void stop(void *part) {
    struct machines *all = part;
    static_pods_free(all->static_pods);
    workers_free(all->workers);
    struct machine *m;
    for (uint32_t i = 0; (m = htab_next(&all->by_name, &i));)
        machine_free(m);
    htab_done(&all->by_name);
    free(all);
}

const struct part machines_part = {"kubelet", start, stop};
