/* One list, now. */
#include "exec/confirm.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "kube/reflector.h"
#include "model/version.h"

struct confirm {
    struct kube_client *client;
    const struct cluster *cluster;
    struct store *store, *listed;
    struct store_scope scope;
    struct reflector *reflector;
    struct loop_timer *timer; /* a reflector cannot be freed in its own callback */
    char *node, *selector;
    enum kube_outcome outcome;
    char *message;
    confirm_fn *fn;
    void *arg;
};

static void on_timer(void *arg) {
    struct confirm *c = arg;
    _cleanup_free_ char *message = TAKE_PTR(c->message);
    reflector_free(c->reflector);
    c->reflector = NULL;
    c->fn(c->arg, c->outcome, message ? message : "");
}

static void end(struct confirm *c, enum kube_outcome outcome, const char *message) {
    if (loop_timer_pending(c->timer))
        return;
    c->outcome = outcome;
    str_replace(&c->message, message);
    loop_timer_set(c->timer, 0);
}

/* What the list does not have is gone, unless it is newer than the list. */
static void remove_others(struct confirm *c) {
    VEC(struct object *) gone = VEC_INIT;
    const struct object *obj;
    size_t n = 0;
    const struct pod *const *here = c->node ? cluster_pods_on(c->cluster, c->node, &n) : NULL;
    /* Removing would free their names, and move them. */
    for (size_t i = 0; i < n; i++)
        if (!store_get(c->listed, here[i]->meta.ns, here[i]->meta.name))
            *vec_push(&gone) = object_copy(store_kind(c->store), (const struct object *)here[i]);
    for (uint32_t i = 0; !c->node && (obj = store_next(c->store, &i));)
        if (!store_get(c->listed, obj->meta.ns, obj->meta.name))
            *vec_push(&gone) = object_copy(store_kind(c->store), obj);
    for (size_t i = 0; i < gone.len; i++) {
        store_remove(c->store, gone.p[i]->meta.ns, gone.p[i]->meta.name, store_version(c->listed));
        object_free(store_kind(c->store), store_pool(c->store), gone.p[i]);
    }
    vec_done(&gone);
}

static void on_synced(void *arg) {
    struct confirm *c = arg;
    const struct object *obj;
    /* Of a node that nobody watches here there is no part, and none is begun: it would never be
     * complete. */
    const char *ours = store_scope_version(c->store, c->scope);
    /* What was deleted since would come back with an older list. */
    if (version_compare(ours, store_version(c->listed)) >= 0) {
        end(c, KUBE_OK, NULL);
        return;
    }
    for (uint32_t i = 0; (obj = store_next(c->listed, &i));)
        store_put(c->store, object_copy(store_kind(c->store), obj));
    remove_others(c);
    end(c, KUBE_OK, NULL);
}

static void on_counted(void *arg) {
    struct confirm *c = arg;
    end(c, store_len(c->listed) ? KUBE_EXISTS : KUBE_OK, NULL);
}

/* One that makes no sense is one all the same. */
static void on_unread(void *arg, const char *name, const char *why) {
    (void)name, (void)why;
    end(arg, KUBE_EXISTS, NULL);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    (void)retry_in;
    end(arg, outcome, message);
}

struct confirm *confirm_new(struct kube_client *client, const struct cluster *cluster,
                            struct store_scope scope, const char *node, int page, confirm_fn *fn,
                            void *arg) {
    struct confirm *c = xnew(struct confirm);
    struct store *store = node ? cluster->pods : cluster->attachments;
    c->client = client;
    c->cluster = cluster;
    c->store = store;
    c->scope = scope;
    c->listed = store_new(store_kind(store), store_pool(store));
    c->node = node ? xstrdup(node) : NULL;
    c->selector = node ? xasprintf("spec.nodeName=%s", node) : NULL;
    c->fn = fn;
    c->arg = arg;
    c->timer = loop_timer_new(client->loop, on_timer, c);
    c->reflector = reflector_new(client, c->listed,
                                 &(struct reflector_options){.field_selector = c->selector,
                                                             .once = true,
                                                             .page = page,
                                                             .synced = on_synced,
                                                             .problem = on_problem,
                                                             .arg = c});
    return c;
}

struct confirm *confirm_new_none(struct kube_client *client, const struct kind *kind, int page,
                                 confirm_fn *fn, void *arg) {
    struct confirm *c = xnew(struct confirm);
    c->client = client;
    c->listed = store_new(kind, client->pool);
    c->fn = fn;
    c->arg = arg;
    c->timer = loop_timer_new(client->loop, on_timer, c);
    c->reflector = reflector_new(client, c->listed,
                                 &(struct reflector_options){.once = true,
                                                             .page = page,
                                                             .synced = on_counted,
                                                             .problem = on_problem,
                                                             .unread = on_unread,
                                                             .arg = c});
    return c;
}

void confirm_free(struct confirm *c) {
    if (!c)
        return;
    reflector_free(c->reflector);
    store_free(c->listed);
    loop_timer_free(c->timer);
    free(c->node);
    free(c->selector);
    free(c->message);
    free(c);
}
