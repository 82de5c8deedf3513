/* Keeps one object current by reading it again and again. */
#include "exec/getter.h"

#include "base/mem.h"

struct getter {
    struct kube_client *client;
    struct store *store;
    struct getter_opts opts;
    char *ns, *name;
    struct kube_op *op;
    struct loop_timer *timer;
    bool synced;
    bool hurry; /* what is being read may be old */
};

/* What was read is all there is in this part. */
static void replace(struct getter *g, struct object *obj) {
    struct store_part *part = store_part(g->store, g->opts.scope);
    _cleanup_free_ char *version =
        xstrdup(obj ? strna(obj->meta.version) : strna(store_part_version(part)));
    store_part_begin(part);
    if (obj)
        store_part_put(part, obj);
    store_part_end(part, *version ? version : NULL);
}

static void on_reply(void *arg, struct kube_reply *reply) {
    struct getter *g = arg;
    g->op = NULL;
    loop_timer_set(g->timer, g->hurry ? 0 : g->opts.interval);
    g->hurry = false;
    bool known = reply->outcome == KUBE_NOT_FOUND || (reply->outcome == KUBE_OK && reply->obj);
    if (!known) {
        if (g->opts.problem)
            g->opts.problem(g->opts.arg, reply->outcome, reply->message);
        return;
    }
    replace(g, TAKE_PTR(reply->obj));
    if (!g->synced) {
        g->synced = true;
        if (g->opts.synced)
            g->opts.synced(g->opts.arg);
    }
}

static void on_timer(void *arg) {
    struct getter *g = arg;
    const struct kind *kind = store_kind(g->store);
    g->op = kube_op_start(
        g->client,
        &(struct kube_op_spec){.kind = kind, .ns = g->ns, .name = g->name, .result = kind},
        on_reply, g);
}

struct getter *getter_new(struct kube_client *client, struct store *store,
                          const struct getter_opts *opts) {
    struct getter *g = xnew(struct getter);
    g->client = client;
    g->store = store;
    g->opts = *opts;
    g->ns = opts->ns ? xstrdup(opts->ns) : NULL;
    g->name = xstrdup(opts->name);
    g->timer = loop_timer_new(client->loop, on_timer, g);
    loop_timer_set(g->timer, 0);
    return g;
}

void getter_hurry(struct getter *g) {
    g->hurry = g->op != NULL;
    if (!g->op)
        loop_timer_set(g->timer, 0);
}

void getter_free(struct getter *g) {
    if (!g)
        return;
    if (g->op)
        kube_op_cancel(g->op);
    loop_timer_free(g->timer);
    free(g->ns);
    free(g->name);
    free(g);
}
