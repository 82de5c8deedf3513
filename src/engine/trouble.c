/* What keeps a pod from being ready. */
#include "engine/trouble.h"

#include "engine/moveout.h"
#include "engine/podrole.h"

enum { TEXT_MAX = 200 }; /* bytes of a message that is passed on: the scheduler's grow long */

static void add_text(struct str *out, const char *text, size_t len) {
    if (!len)
        return;
    str_add(out, ": ");
    str_addn(out, text, MIN_OF(len, (size_t)TEXT_MAX));
    if (len > TEXT_MAX)
        str_add(out, "...");
}

/* The first container that waits for something other than its turn. */
static const struct container_status *stuck(const struct container_status *list) {
    for (size_t i = 0; i < list_len(list); i++) {
        const struct state_waiting *w = list[i].state.waiting;
        if (w && w->reason && !streq(w->reason, "ContainerCreating") &&
            !streq(w->reason, "PodInitializing"))
            return &list[i];
    }
    return NULL;
}

bool pod_trouble(const struct pod *pod, struct str *out) {
    if (pod_finished(pod) || (pod_ready(pod) && !pod->meta.deleted))
        return false;
    if (pod->meta.deleted) {
        str_add(out, "is terminating");
        return true;
    }
    const struct condition *scheduled = condition_find(pod->conditions, "PodScheduled");
    if (!pod->node_name && scheduled && str_same(scheduled->status, "False")) {
        str_add(out, "is Pending");
        const char *why = strna(scheduled->message ? scheduled->message : scheduled->reason);
        add_text(out, why, moveout_words_len(why));
        return true;
    }
    const struct container_status *c = stuck(pod->init_containers);
    if (!c)
        c = stuck(pod->containers);
    if (c) {
        str_addf(out, "has container %s in %s", strna(c->name), c->state.waiting->reason);
        if (c->restarts > 0)
            str_addf(out, " after %d restarts", c->restarts);
        else
            add_text(out, strna(c->state.waiting->message),
                     strlen(strna(c->state.waiting->message)));
        return true;
    }
    if (!str_same(pod->phase, "Running"))
        str_addf(out, "is %s on %s", str_empty(pod->phase) ? "Pending" : pod->phase,
                 str_empty(pod->node_name) ? "no node yet" : pod->node_name);
    else
        str_add(out, "runs but is not ready");
    return true;
}
