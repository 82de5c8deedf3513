/* Why pods are not ready: pods with the same trouble are one link. */
#include <stdlib.h>

#include "base/timefmt.h"
#include "engine/podrole.h"
#include "engine/trouble.h"
#include "engine/why_internal.h"

enum {
    CRASHES_FROM =
        2,          /* restarts from which a container that just runs is called one that crashes */
    TEXT_MAX = 240, /* bytes of a message that is passed on */
    NODES_ASKED = 64, /* nodes that are read one by one */
};

/* --- what it is --- */

/* The container that tells most: the first that waits for something other than its turn, else the
 * first that has been started again and again. */
static const struct container_status *culprit(const struct pod *pod) {
    const struct container_status *lists[] = {pod->init_containers, pod->containers};
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < list_len(lists[k]); i++) {
            const struct state_waiting *w = lists[k][i].state.waiting;
            if (w && w->reason && !streq(w->reason, "ContainerCreating") &&
                !streq(w->reason, "PodInitializing"))
                return &lists[k][i];
        }
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < list_len(lists[k]); i++)
            if (lists[k][i].restarts >= CRASHES_FROM && !lists[k][i].ready)
                return &lists[k][i];
    return NULL;
}

static enum why_trouble by_reason(const char *reason) {
    static const struct {
        const char *word;
        enum why_trouble trouble;
    } words[] = {
        /* kubernetes pkg/kubelet/images/types.go, pkg/kubelet/container/sync_result.go,
         * pkg/kubelet/kuberuntime/kuberuntime_container.go */
        {"ErrImagePull", WHY_TROUBLE_IMAGE},
        {"ImagePullBackOff", WHY_TROUBLE_IMAGE},
        {"ErrImageNeverPull", WHY_TROUBLE_IMAGE},
        {"InvalidImageName", WHY_TROUBLE_IMAGE},
        {"ImageInspectError", WHY_TROUBLE_IMAGE},
        {"RegistryUnavailable", WHY_TROUBLE_IMAGE},
        {"SignatureValidationFailed", WHY_TROUBLE_IMAGE},
        {"CrashLoopBackOff", WHY_TROUBLE_CRASH},
        {"RunContainerError", WHY_TROUBLE_CRASH},
        {"PostStartHookError", WHY_TROUBLE_CRASH},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (streq(reason, words[i].word))
            return words[i].trouble;
    return WHY_TROUBLE_CONFIG; /* CreateContainerConfigError and what may come */
}

static bool on_lost_node(struct making *m, const struct pod *pod) {
    if (str_empty(pod->node_name))
        return false;
    /* When very many pods are not ready, their nodes are not the news. */
    if (!store_get(m->w->nodes, NULL, pod->node_name) && m->nodes_asked++ >= NODES_ASKED)
        return false;
    return node_is_lost(why_look(m, &kind_node, NULL, pod->node_name, NULL));
}

enum why_trouble why_trouble_of(struct making *m, const struct pod *pod) {
    if (pod_finished(pod))
        return pod->meta.deleted ? WHY_TROUBLE_LEAVING : WHY_TROUBLE_NONE;
    if (pod_ready(pod) && !pod->meta.deleted)
        return WHY_TROUBLE_NONE;
    if (on_lost_node(m, pod))
        return WHY_TROUBLE_NODE;
    if (pod->meta.deleted)
        return WHY_TROUBLE_LEAVING;
    if (str_empty(pod->node_name)) {
        const struct condition *c = condition_find(pod->conditions, "PodScheduled");
        return c && str_same(c->status, "False") ? WHY_TROUBLE_NO_NODE : WHY_TROUBLE_STARTING;
    }
    const struct container_status *c = culprit(pod);
    if (c)
        return c->state.waiting && c->state.waiting->reason ? by_reason(c->state.waiting->reason)
                                                            : WHY_TROUBLE_CRASH;
    return str_same(pod->phase, "Running") ? WHY_TROUBLE_UNREADY : WHY_TROUBLE_STARTING;
}

/* --- what is told of it elsewhere --- */

static int64_t event_time(const struct kube_event *e) {
    int64_t t = MAX_OF(e->last, e->time);
    return e->series ? MAX_OF(t, e->series->last) : t;
}

/* The newest warning about this pod with one of these reasons, or NULL. */
static const struct kube_event *newest_event(struct making *m, const struct pod *pod,
                                             const char *const *reasons) {
    const struct why_want want = {
        .what = WHY_WANT_EVENTS, .kind = &kind_pod, .ns = pod->meta.ns, .name = pod->meta.name};
    const struct kube_event *best = NULL;
    const struct object *obj;
    if (!why_has(m, &want))
        return NULL;
    for (uint32_t i = 0; (obj = store_next(m->w->events, &i));) {
        const struct kube_event *e = (const struct kube_event *)obj;
        bool about = str_same(e->object.ns, pod->meta.ns) &&
                     str_same(e->object.name, pod->meta.name) &&
                     (str_empty(e->object.uid) || str_same(e->object.uid, pod->meta.uid));
        for (const char *const *r = reasons; about && *r; r++)
            if (str_same(e->reason, *r) && (!best || event_time(e) > event_time(best)))
                best = e;
    }
    return best;
}

static void add_short(struct str *out, const char *text) {
    if (str_empty(text))
        return;
    size_t len = strnlen(text, TEXT_MAX);
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80) /* no half characters */
        len--;
    str_addn(out, text, len);
    str_add(out, text[len] ? "..." : "");
}

/* --- words --- */

/* What pods must have in common to be told of together. */
static const char *key_of(struct making *m, const struct pod *pod, enum why_trouble trouble) {
    const struct container_status *c = culprit(pod);
    const struct condition *s = condition_find(pod->conditions, "PodScheduled");
    switch (trouble) {
    case WHY_TROUBLE_NODE:
        return strna(pod->node_name);
    case WHY_TROUBLE_NO_NODE:
        return s ? strna(s->message) : "";
    case WHY_TROUBLE_CRASH: /* some wait and some run just now */
    case WHY_TROUBLE_IMAGE: /* ErrImagePull and ImagePullBackOff take turns */
        return c ? strna(c->name) : "";
    case WHY_TROUBLE_CONFIG:
        return arena_printf(m->arena, "%s %s", c ? strna(c->name) : "",
                            c ? strna(c->state.waiting->reason) : "");
    default:
        return "";
    }
}

static const char *image_of(const struct pod *pod, const char *container) {
    const struct container *lists[] = {pod->spec ? pod->spec->init_containers : NULL,
                                       pod->spec ? pod->spec->containers : NULL};
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < list_len(lists[k]); i++)
            if (str_same(lists[k][i].name, container))
                return strna(lists[k][i].image);
    return "";
}

static void say_crash(const struct container_status *c, struct str *out) {
    const struct state_terminated *end = c->state.terminated  ? c->state.terminated
                                         : c->last.terminated ? c->last.terminated
                                                              : NULL;
    str_addf(out, "container %s crashes again and again: %d restart%s", strna(c->name), c->restarts,
             c->restarts == 1 ? "" : "s");
    if (!end)
        return;
    str_addf(out, ", last exit code %d", end->exit_code);
    if (!str_empty(end->reason) && !streq(end->reason, "Error"))
        str_addf(out, " (%s)", end->reason);
    if (!str_empty(end->message)) {
        str_add(out, ": ");
        add_short(out, end->message);
    }
}

static void say_waiting(const struct container_status *c, struct str *out) {
    str_addf(out, ": %s", c->state.waiting->reason);
    if (!str_empty(c->state.waiting->message)) {
        str_add(out, ", ");
        add_short(out, c->state.waiting->message);
    }
}

static const char *const mount_reasons[] = {"FailedAttachVolume", "FailedMount",
                                            "FailedCreatePodSandBox", NULL};
static const char *const probe_reasons[] = {"Unhealthy", NULL};

/* The second half of "pod x ...". May find that it is something else after all. */
static void say(struct making *m, const struct pod *pod, enum why_trouble *trouble,
                struct str *out) {
    const struct container_status *c = culprit(pod);
    const struct kube_event *e;
    switch (*trouble) {
    case WHY_TROUBLE_NONE:
        break;
    case WHY_TROUBLE_NODE:
        str_addf(out, "its node %s does not answer", strna(pod->node_name));
        break;
    case WHY_TROUBLE_NO_NODE:
        str_add(out, "Pending");
        break;
    case WHY_TROUBLE_CRASH:
        say_crash(c, out);
        break;
    case WHY_TROUBLE_IMAGE:
        str_addf(out, "image %s cannot be pulled", image_of(pod, c->name));
        say_waiting(c, out);
        break;
    case WHY_TROUBLE_CONFIG:
        str_addf(out, "container %s cannot be made", strna(c->name));
        say_waiting(c, out);
        break;
    case WHY_TROUBLE_LEAVING:
        str_add(out, "terminating; the pod that replaces it is not ready yet");
        break;
    case WHY_TROUBLE_STARTING:
    case WHY_TROUBLE_MOUNT:
        e = str_empty(pod->node_name) ? NULL : newest_event(m, pod, mount_reasons);
        if (e) {
            *trouble = WHY_TROUBLE_MOUNT;
            str_addf(out, "cannot start on %s: %s: ", strna(pod->node_name), e->reason);
            add_short(out, e->message);
        } else if (str_empty(pod->node_name)) {
            str_add(out, "waits for the scheduler");
        } else {
            str_addf(out, "starting on %s", pod->node_name);
        }
        break;
    case WHY_TROUBLE_UNREADY:
        e = newest_event(m, pod, probe_reasons);
        str_add(out, "runs but is not ready");
        if (e) {
            str_add(out, ": ");
            add_short(out, e->message);
        }
        break;
    }
}

static const char *kubectl(struct making *m, const struct pod *pod, const char *verb,
                           const char *rest) {
    return arena_printf(m->arena, "kubectl -n %s %s %s%s", why_shell(m, strna(pod->meta.ns)), verb,
                        why_shell(m, strna(pod->meta.name)), rest);
}

static void advise(struct making *m, struct why_link *to, const struct pod *pod,
                   enum why_trouble trouble) {
    const struct container_status *c = culprit(pod);
    switch (trouble) {
    case WHY_TROUBLE_NODE:
        why_link_remedy(
            m, to, WHY_RISK_NONE,
            arena_printf(m->arena, "bring node %s back", strna(pod->node_name)),
            arena_printf(m->arena, "slipway why node/%s", why_shell(m, strna(pod->node_name))),
            NULL);
        break;
    case WHY_TROUBLE_CRASH:
        why_link_remedy(
            m, to, WHY_RISK_NONE, "mend the program: see how it ended",
            kubectl(m, pod, "logs",
                    arena_printf(m->arena, " -c %s --previous", why_shell(m, strna(c->name)))),
            NULL);
        break;
    case WHY_TROUBLE_IMAGE:
        why_link_remedy(m, to, WHY_RISK_NONE, "mend the image's name, the registry or the secret",
                        kubectl(m, pod, "describe pod", ""), NULL);
        break;
    case WHY_TROUBLE_CONFIG:
        why_link_remedy(m, to, WHY_RISK_NONE, "give it the ConfigMap, Secret or setting it names",
                        kubectl(m, pod, "describe pod", ""), NULL);
        break;
    case WHY_TROUBLE_MOUNT:
        why_link_remedy(m, to, WHY_RISK_NONE, "look at its volumes and network",
                        kubectl(m, pod, "describe pod", ""), NULL);
        break;
    case WHY_TROUBLE_UNREADY:
        why_link_remedy(m, to, WHY_RISK_NONE, "see what it waits for", kubectl(m, pod, "logs", ""),
                        NULL);
        break;
    case WHY_TROUBLE_NONE:
    case WHY_TROUBLE_NO_NODE: /* why_room.c does */
    case WHY_TROUBLE_STARTING:
    case WHY_TROUBLE_LEAVING:
        break;
    }
}

/* --- folding --- */

struct fold {
    enum why_trouble trouble;
    const char *key;
    why_pods pods;
};

typedef VEC(struct fold) folds;

static void fold_add(folds *list, enum why_trouble trouble, const char *key,
                     const struct pod *pod) {
    for (size_t i = 0; i < list->len; i++)
        if (list->p[i].trouble == trouble && str_same(list->p[i].key, key)) {
            *vec_push(&list->p[i].pods) = pod;
            return;
        }
    struct fold *f = vec_push(list);
    *f = (struct fold){.trouble = trouble, .key = key};
    *vec_push(&f->pods) = pod;
}

static int64_t since_of(const struct pod *pod, enum why_trouble trouble) {
    const struct condition *ready = condition_find(pod->conditions, "Ready");
    const struct condition *scheduled = condition_find(pod->conditions, "PodScheduled");
    if (trouble == WHY_TROUBLE_LEAVING)
        return 0;
    if (trouble == WHY_TROUBLE_NO_NODE && scheduled)
        return scheduled->changed;
    return ready ? ready->changed : pod->meta.created;
}

/* Returns its trouble, as it is known in the end. */
static enum why_trouble add_fold(struct making *m, struct why_link *to, const struct fold *f) {
    const struct pod *pod = f->pods.p[0];
    enum why_trouble trouble = f->trouble;
    _cleanup_str_ struct str text = STR_INIT;
    say(m, pod, &trouble, &text);
    struct why_link *l = why_link_new(m, WHY_NO_CODE, kind_pod.name, why_name(m, &pod->meta), "");
    why_link_pods(m, l, f->pods.p, f->pods.len);
    l->since = since_of(pod, trouble);
    l->text = why_text(m, &text);
    if (trouble == WHY_TROUBLE_STARTING || trouble == WHY_TROUBLE_LEAVING)
        l->severity = SEVERITY_INFO;
    if (trouble == WHY_TROUBLE_NODE)
        l->code = BLOCKER_NODE_UNREACHABLE;
    if (trouble == WHY_TROUBLE_NO_NODE)
        why_add_room(m, l, to, pod);
    if (trouble == WHY_TROUBLE_MOUNT)
        why_add_attached(m, l, to, pod);
    why_link_cause(m, to, l);
    advise(m, to, pod, trouble);
    return trouble;
}

unsigned why_add_troubles(struct making *m, struct why_link *to, const struct pod *const *pods,
                          size_t n) {
    folds list = VEC_INIT;
    unsigned found = 0;
    for (size_t i = 0; i < n; i++) {
        enum why_trouble trouble = why_trouble_of(m, pods[i]);
        if (trouble != WHY_TROUBLE_NONE)
            fold_add(&list, trouble, key_of(m, pods[i], trouble), pods[i]);
    }
    for (size_t i = 0; i < list.len; i++) {
        found |= 1u << add_fold(m, to, &list.p[i]);
        vec_done(&list.p[i].pods);
    }
    vec_done(&list);
    return found;
}
