/* What drains tell about their nodes in Events and conditions. */
#include "engine/told.h"

#include <string.h>

#include "base/mem.h"
#include "engine/reason.h"

int64_t told_last(const struct kube_event *e) {
    return MAX_OF(e->last, e->time);
}

bool told_about(const struct kube_event *e, const struct node *node, const char *reason) {
    return str_same(e->object.kind, "Node") && str_same(e->object.name, node->meta.name) &&
           str_same(e->reason, reason);
}

bool told_parse(const struct kube_event *e, struct told *out) {
    const char *text = strna(e->message), *colon = strstr(text, ": "), *blank = strchr(text, ' ');
    if (!colon)
        return false;
    /* The blank behind the colon: it names no object. */
    const char *end = blank < colon ? blank : colon;
    struct view name = {text, (size_t)(end - text)};
    for (int i = 0; i < BLOCKER_CODES; i++) {
        if (!view_eq(name, view_of(blocker_row((enum blocker_code)i)->name)))
            continue;
        *out = (struct told){.code = (enum blocker_code)i,
                             .object = {end, 0},
                             .message = colon + 2,
                             .since = e->first ? e->first : told_last(e),
                             .last = told_last(e)};
        if (end < colon)
            out->object = (struct view){end + 1, (size_t)(colon - end - 1)};
        return true;
    }
    return false;
}

bool told_over(const struct store *events, const struct node *node, const struct told *t) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(events, &i));) {
        const struct kube_event *e = (const struct kube_event *)obj;
        if (told_about(e, node, REASON_DRAIN_UNBLOCKED) && told_last(e) >= t->last &&
            str_same(e->message, blocker_row(t->code)->name))
            return true;
    }
    return false;
}

const struct condition *told_end(const struct node *node) {
    const struct node_condition *c = node_condition_find(node->conditions, "DrainInProgress");
    bool ended = c && str_same(c->c.status, "False") && str_same(c->c.reason, TOLD_ENDED);
    return node->unschedulable && ended && !str_empty(c->c.message) ? &c->c : NULL;
}

bool told_denied(const struct condition *end) {
    return strstr(strna(end->message), blocker_row(BLOCKER_ADMISSION_DENIED)->name);
}

bool told_denied_pod(const struct condition *end, const struct pod *pod) {
    _cleanup_free_ char *words = xasprintf(" %s/%s (%s", strna(pod->meta.ns), strna(pod->meta.name),
                                           blocker_row(BLOCKER_ADMISSION_DENIED)->name);
    return strstr(strna(end->message), words);
}
