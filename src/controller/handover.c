/* Hand-over before its own node drains. */
#include "controller/handover.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "engine/rules.h"

enum { AGAIN_S = 3 }; /* when the pods could not be listed */

struct handover {
    struct kube_client *client;
    struct handover_opts opts;
    struct kube_op *op;
    struct loop_timer *again;
    char *node; /* that it is about */
    bool alone; /* there is nobody else */
    bool given;
};

static void ask(struct handover *h);

static void on_again(void *arg) {
    ask(arg);
}

struct handover *handover_new(struct kube_client *client, const struct handover_opts *opts) {
    struct handover *h = xnew(struct handover);
    h->client = client;
    h->opts = *opts;
    h->again = loop_timer_new(client->loop, on_again, h);
    return h;
}

void handover_free(struct handover *h) {
    if (!h)
        return;
    handover_reset(h);
    loop_timer_free(h->again);
    free(h);
}

void handover_reset(struct handover *h) {
    if (h->op)
        kube_op_cancel(h->op);
    h->op = NULL;
    loop_timer_stop(h->again);
    mem_clear(&h->node);
    h->alone = h->given = false;
}

static bool is_ready(const json_t *pod) {
    size_t i;
    const json_t *c, *status = json_object_get(pod, "status");
    json_array_foreach(json_object_get(status, "conditions"), i, c) {
        if (str_same(json_str(c, "type"), "Ready"))
            return str_same(json_str(c, "status"), "True");
    }
    return false;
}

/* A replica that can lead on. */
static bool is_successor(const struct handover *h, const json_t *pod) {
    const json_t *meta = json_object_get(pod, "metadata");
    const char *node = json_str(json_object_get(pod, "spec"), "nodeName");
    return node && !streq(node, h->node) && !str_same(json_str(meta, "name"), h->opts.pod) &&
           !json_str(meta, "deletionTimestamp") && is_ready(pod) &&
           h->opts.stays(h->opts.arg, node);
}

static void on_list(void *arg, struct kube_reply *reply) {
    struct handover *h = arg;
    h->op = NULL;
    if (reply->outcome != KUBE_OK && kube_outcome_row(reply->outcome)->retry) {
        loop_timer_set(h->again, SEC(AGAIN_S));
        return;
    }
    _cleanup_json_ json_t *list =
        reply->outcome == KUBE_OK ? json_loadb(reply->body.p, reply->body.len, 0, NULL) : NULL;
    const char *name = NULL;
    size_t i;
    const json_t *pod;
    json_array_foreach(json_object_get(list, "items"), i, pod) if (!name && is_successor(h, pod))
        name = json_str(json_object_get(pod, "metadata"), "name");
    if (name) {
        log_info(h->opts.log,
                 "node %s, on which this replica runs, is to be drained: it gives the lease away, "
                 "to %s for instance",
                 h->node, name);
        h->given = true;
        h->opts.give(h->opts.arg);
        return;
    }
    log_info(h->opts.log,
             "node %s, on which this replica runs, is to be drained, and no other one is ready: it "
             "is the last to go",
             h->node);
    h->alone = true;
    h->opts.decided(h->opts.arg);
}

static void ask(struct handover *h) {
    h->op = kube_op_start(h->client,
                          &(struct kube_op_spec){.kind = &kind_pod,
                                                 .ns = h->opts.ns,
                                                 .query = "labelSelector=" RULES_OWN_LABEL_ENCODED},
                          on_list, h);
}

bool handover_may_drain(struct handover *h, const char *node, bool own) {
    if (!own || !h->opts.pod)
        return true;
    if (h->node && streq(h->node, node))
        return h->alone;
    handover_reset(h);
    h->node = xstrdup(node);
    ask(h);
    return false;
}
