/* What kubelets do about volumes: they say in their Node's status which they use, and start a pod
 * only when it can have all of its own. By pkg/kubelet/volumemanager. */
#include <stdlib.h>

#include "sim/fleet/machine.h"
#include "sim/fleet/parts.h"
#include "sim/fleet/pod_index.h"
#include "sim/fleet/storage.h"
#include "sim/fleet/volumes.h"
#include "sim/fleet/workload.h"

/* nodeStatusUpdateFrequency: the kubelet looks so often whether there is something new to say. */
#define STATUS_CHECK SEC(10)
/* Of operations that fail. */
#define RETRY_FIRST MSEC(500)
#define RETRY_MAX   SEC(122)

/* A Node whose kubelet has something to say. */
struct news {
    struct mounts *all;
    char *node;
    struct alarm alarm;
};

/* A pod that cannot have its volumes. */
struct trouble {
    const char *uid;      /* a pool entry */
    int64_t next, waited; /* when it is told again */
};

struct mounts {
    struct fleet *fleet;
    struct resource *configs, *secrets;
    struct htab news, troubles;
};

static struct mounts *mounts_of(const struct fleet *f) {
    for (size_t i = 0; i < f->parts.len; i++)
        if (fleet_parts[i] == &mounts_part)
            return f->parts.p[i];
    return NULL;
}

static uint32_t text_hash(const char *text) {
    return hash_bytes(text, strlen(text));
}
static uint32_t news_hash(const void *entry) {
    return text_hash(((const struct news *)entry)->node);
}
static bool news_equal(const void *entry, const void *node) {
    return streq(((const struct news *)entry)->node, node);
}
static const struct htab_ops news_ops = {news_hash, news_equal};
static uint32_t trouble_hash(const void *entry) {
    return text_hash(((const struct trouble *)entry)->uid);
}
static bool trouble_equal(const void *entry, const void *uid) {
    return streq(((const struct trouble *)entry)->uid, uid);
}
static const struct htab_ops trouble_ops = {trouble_hash, trouble_equal};

/* --- volumesInUse --- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The disks of the pods on a node that have not ended, sorted, as a JSON list. */
static json_t *disks_in_use(const struct fleet *f, const char *node) {
    VEC(char *) names = VEC_INIT;
    struct pod_list pods = pods_on_node(f->pod_index, node);
    for (size_t i = 0; i < pods.len; i++) {
        const struct pod *pod = record_as(pod, pods.p[i]);
        for (size_t k = 0; !pod_finished(pod) && k < list_len(pod->spec->volumes); k++) {
            const struct record *r = pod_volume(f, pod, &pod->spec->volumes[k]);
            if (r && volume_is_disk(f, record_as(pv, r)))
                *vec_push(&names) = disk_name(record_as(pv, r));
        }
    }
    if (names.len)
        qsort(names.p, names.len, sizeof *names.p, by_text);
    json_t *list = json_array();
    for (size_t i = 0; i < names.len; i++)
        if (!i || !streq(names.p[i], names.p[i - 1]))
            json_array_append_new(list, json_string(names.p[i]));
    for (size_t i = 0; i < names.len; i++)
        free(names.p[i]);
    vec_done(&names);
    return list;
}

static void write_in_use(struct fleet *f, struct record *r) {
    json_t *list = disks_in_use(f, r->obj->meta.name);
    const char *const *was = record_as(node, r)->volumes_in_use;
    bool same = json_array_size(list) == list_len(was);
    for (size_t i = 0; same && i < list_len(was); i++)
        same = str_same(json_string_value(json_array_get(list, i)), was[i]);
    if (same) {
        json_decref(list);
        return;
    }
    _cleanup_json_ json_t *obj = record_json(r);
    json_t *status = json_deep_copy(json_object_get(obj, "status"));
    if (json_array_size(list))
        json_object_set(status, "volumesInUse", list);
    else
        json_object_del(status, "volumesInUse");
    json_decref(list);
    fleet_put_status(f, f->nodes, r, status);
}

static void news_free(struct news *n) {
    clock_stop(&n->all->fleet->world->clock, &n->alarm);
    free(n->node);
    free(n);
}

static void check_status(void *arg) {
    struct news *n = arg;
    struct mounts *all = n->all;
    struct fleet *f = all->fleet;
    const struct machine *m = machine_find(f, n->node);
    struct record *r = shelf_get(f->nodes->shelf, NULL, n->node);
    if (m && r && m->state != MACHINE_UP) {
        /* It will say so when it is back. */
        clock_set(&f->world->clock, &n->alarm, f->world->clock.now + STATUS_CHECK, check_status, n);
        return;
    }
    htab_remove(&all->news, text_hash(n->node), n->node);
    news_free(n);
    if (m && r)
        write_in_use(f, r);
}

/* The kubelet will notice within ten seconds. */
static void note(struct mounts *all, const char *node) {
    struct fleet *f = all->fleet;
    if (str_empty(node) || htab_find(&all->news, text_hash(node), node))
        return;
    struct news *n = xnew(struct news);
    n->all = all;
    n->node = xstrdup(node);
    htab_insert(&all->news, n);
    clock_set(&f->world->clock, &n->alarm, f->world->clock.now + fleet_delay(f, 0, STATUS_CHECK),
              check_status, n);
}

/* --- ConfigMaps and Secrets --- */

/* The first object that is not there though it must be: "configmap" or "secret", and its name. */
static const char *missing_source(const struct mounts *all, const char *ns, const json_t *source,
                                  const char *secret_key, const char **name) {
    const struct {
        const char *key, *name, *word;
        const struct resource *res;
    } sorts[] = {
        {"configMap", "name", "configmap", all->configs},
        {"secret", secret_key, "secret", all->secrets},
    };
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++) {
        const json_t *v = json_object_get(source, sorts[i].key);
        *name = strna(json_str(v, sorts[i].name));
        if (v && !json_is_true(json_object_get(v, "optional")) &&
            !shelf_get(sorts[i].res->shelf, ns, *name))
            return sorts[i].word;
    }
    return NULL;
}

static const char *missing_of(const struct mounts *all, const char *ns, const json_t *volume,
                              const char **name) {
    const char *word = missing_source(all, ns, volume, "secretName", name);
    const json_t *sources = json_object_get(json_object_get(volume, "projected"), "sources");
    size_t i;
    json_t *source;
    json_array_foreach(sources, i, source) {
        if (word)
            break;
        word = missing_source(all, ns, source, "name", name);
    }
    return word;
}

/* The model has no such volumes: they are read from the text, of which the list of volumes is the
 * only part that is parsed. Says what is wrong, if anything is. */
static char *config_problem(const struct mounts *all, const struct pod *pod) {
    static const struct view key = VIEW("\"volumes\":[");
    const struct record *r = shelf_get(all->fleet->pods->shelf, pod->meta.ns, pod->meta.name);
    const char *at = r ? memmem(r->json, r->len, key.p, key.len) : NULL;
    if (!at)
        return NULL;
    at += key.len - 1;
    _cleanup_json_ json_t *list =
        json_loadb(at, (size_t)(r->json + r->len - at), JSON_DISABLE_EOF_CHECK, NULL);
    size_t i;
    json_t *volume;
    json_array_foreach(list, i, volume) {
        const char *name, *word = missing_of(all, strna(pod->meta.ns), volume, &name);
        if (word)
            return xasprintf("MountVolume.SetUp failed for volume \"%s\" : %s \"%s\" not found",
                             strna(json_str(volume, "name")), word, name);
    }
    return NULL;
}

/* --- claims --- */

/* Why the claim is not as it should be; NULL: it will be in a moment. */
static char *claim_problem(const struct fleet *f, const struct pod *pod, const struct volume *v,
                           const char *name, const struct pvc *claim) {
    const char *ns = strna(pod->meta.ns);
    if (!claim)
        return xasprintf("error processing PVC %s/%s: failed to fetch PVC from API server: "
                         "persistentvolumeclaims \"%s\" not found",
                         ns, name, name);
    if (!v->claim && !claim_is_of(claim, pod))
        return xasprintf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", ns, name, ns,
                         pod->meta.name);
    if (str_same(claim->phase, "Bound"))
        return str_empty(claim->volume_name) || shelf_get(f->pvs->shelf, NULL, claim->volume_name)
                   ? NULL
                   : xasprintf("error processing PVC %s/%s: failed to fetch PV %s from API "
                               "server: persistentvolumes \"%s\" not found",
                               ns, name, claim->volume_name, claim->volume_name);
    /* The simulated scheduler does not wait for volumes before it binds a pod. */
    if (map_has(claim->meta.annotations, ANN_SELECTED_NODE) ||
        claim_volumes(f, claim->meta.ns, claim->meta.name).len)
        return NULL;
    return xasprintf("error processing PVC %s/%s: PVC is not bound", ns, name);
}

/* False: it waits, or something is wrong; then `why` says what. */
static bool volume_ready(const struct fleet *f, const struct pod *pod, const struct volume *v,
                         const struct node *node, char **why) {
    char buf[CLAIM_NAME_SIZE];
    const char *name = volume_claim(pod, v, buf);
    if (!name)
        return true;
    const struct record *volume = pod_volume(f, pod, v);
    if (!volume) {
        const struct record *r = shelf_get(f->pvcs->shelf, pod->meta.ns, name);
        _cleanup_free_ char *problem = claim_problem(f, pod, v, name, r ? record_as(pvc, r) : NULL);
        if (problem)
            *why =
                xasprintf("Unable to attach or mount volumes: unmounted volumes=[%s], unattached "
                          "volumes=[], failed to process volumes=[%s]: %s",
                          strna(v->name), strna(v->name), problem);
        return false;
    }
    const struct pv *pv = record_as(pv, volume);
    if (!volume_is_disk(f, pv))
        return true;
    /* Used, says the kubelet, and attached, says the controller: both in the Node's status. */
    _cleanup_free_ char *disk = disk_name(pv);
    bool used = false, attached = false;
    for (size_t i = 0; node && !used && i < list_len(node->volumes_in_use); i++)
        used = str_same(node->volumes_in_use[i], disk);
    for (size_t i = 0; node && !attached && i < list_len(node->volumes_attached); i++)
        attached = str_same(node->volumes_attached[i].name, disk);
    return used && attached;
}

/* --- pods that wait --- */

static void forget(struct mounts *all, const char *uid) {
    struct trouble *t = htab_remove(&all->troubles, text_hash(uid), uid);
    if (!t)
        return;
    pool_unref(all->fleet->world->pool, t->uid);
    free(t);
}

/* At first at once, then ever more seldom. */
static void complain(struct mounts *all, const struct pod *pod, const char *why) {
    struct fleet *f = all->fleet;
    const char *uid = pod->meta.uid;
    struct trouble *t = htab_find(&all->troubles, text_hash(uid), uid);
    if (!t) {
        t = xnew(struct trouble);
        t->uid = pool_ref(uid);
        htab_insert(&all->troubles, t);
    }
    if (f->world->clock.now < t->next)
        return;
    t->waited = t->waited ? MIN_OF(t->waited * 2, RETRY_MAX) : RETRY_FIRST;
    t->next = f->world->clock.now + t->waited;
    fleet_event(f, "kubelet", f->pods, shelf_get(f->pods->shelf, pod->meta.ns, pod->meta.name),
                "Warning", "FailedMount", "%s", why);
}

bool volumes_ready(struct fleet *f, const struct pod *pod) {
    struct mounts *all = mounts_of(f);
    const struct volume *list = pod->spec->volumes;
    const struct record *r = shelf_get(f->nodes->shelf, NULL, strna(pod->node_name));
    bool ready = true;
    _cleanup_free_ char *why = NULL;
    for (size_t i = 0; !why && i < list_len(list); i++)
        ready &= volume_ready(f, pod, &list[i], r ? record_as(node, r) : NULL, &why);
    if (!why && !f->original)
        why = config_problem(all, pod);
    if (why)
        complain(all, pod, why);
    else
        forget(all, pod->meta.uid);
    return ready && !why;
}

/* --- listening --- */

static void pod_changed(void *arg, const struct change *c) {
    struct mounts *all = arg;
    const struct pod *pod = record_as(pod, c->after);
    if (c->type == CHANGE_DELETED)
        forget(all, pod->meta.uid);
    if (!str_empty(pod->node_name) && pod_moved(c))
        note(all, pod->node_name);
}

/* Pods may be on their nodes before their claims are bound. */
static void claim_changed(void *arg, const struct change *c) {
    struct mounts *all = arg;
    const struct pvc *was = c->before ? record_as(pvc, c->before) : NULL;
    const struct pvc *pvc = record_as(pvc, c->after);
    if (was && was->phase == pvc->phase && was->volume_name == pvc->volume_name)
        return;
    struct names pods = claim_pods(all->fleet, pvc->meta.ns, pvc->meta.name);
    for (size_t i = 0; i < pods.len; i++) {
        const struct record *r = shelf_get(all->fleet->pods->shelf, pvc->meta.ns, pods.p[i]);
        note(all, record_as(pod, r)->node_name);
    }
}

/* After a boot nothing is mounted but what the pods that are left want. */
static void node_changed(void *arg, const struct change *c) {
    struct mounts *all = arg;
    const struct node *node = record_as(node, c->after);
    const struct node *was = c->before ? record_as(node, c->before) : NULL;
    if (c->type == CHANGE_DELETED || (was && was->info.boot_id == node->info.boot_id))
        return;
    if (node->volumes_in_use || pods_on_node(all->fleet->pod_index, node->meta.name).len)
        note(all, node->meta.name);
}

static void *start(struct fleet *f) {
    struct mounts *all = xnew(struct mounts);
    all->fleet = f;
    all->configs = api_resource(f->api, "", "v1", "configmaps");
    all->secrets = api_resource(f->api, "", "v1", "secrets");
    htab_init(&all->news, &news_ops);
    htab_init(&all->troubles, &trouble_ops);
    shelf_listen(f->pods->shelf, pod_changed, all);
    shelf_listen(f->pvcs->shelf, claim_changed, all);
    shelf_listen(f->nodes->shelf, node_changed, all);
    return all;
}

static void stop(void *part) {
    struct mounts *all = part;
    struct fleet *f = all->fleet;
    shelf_unlisten(f->pods->shelf, pod_changed, all);
    shelf_unlisten(f->pvcs->shelf, claim_changed, all);
    shelf_unlisten(f->nodes->shelf, node_changed, all);
    struct news *n;
    for (uint32_t i = 0; (n = htab_next(&all->news, &i));)
        news_free(n);
    htab_done(&all->news);
    struct trouble *t;
    for (uint32_t i = 0; (t = htab_next(&all->troubles, &i));) {
        pool_unref(f->world->pool, t->uid);
        free(t);
    }
    htab_done(&all->troubles);
    free(all);
}

const struct part mounts_part = {"kubelet", start, stop};
