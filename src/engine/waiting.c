/* Pods that have no node before anything is done. */
#include "engine/waiting.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/podrole.h"

/* Each may ask every node. */
enum { WAITING_MAX = 200 };

bool waiting_for_node(const struct pod *pod) {
    return str_empty(pod->node_name) && !pod->meta.deleted && !pod_finished(pod) && pod->spec &&
           !list_len(pod->spec->gates);
}

/* Whether the scheduler would take it up again: what it has said before is known here, so that
 * what helps it is known as well. */
static bool waits_for_place(const struct moveout_stores *s, const struct pod *pod) {
    const struct condition *c = condition_find(pod->conditions, "PodScheduled");
    _cleanup_free_ char *said = c ? xstrdup(strna(c->message)) : NULL;
    if (!waiting_for_node(pod) || !moveout_judged(s, pod))
        return false;
    if (said)
        said[moveout_words_len(said)] = 0;
    return !said || !*said || fit_knows(said);
}

static int compare(const void *a, const void *b) {
    const struct pod *const *x = a, *const *y = b;
    int32_t first = moveout_priority(*x), second = moveout_priority(*y);
    if (first != second)
        return first > second ? -1 : 1;
    if ((*x)->meta.created != (*y)->meta.created)
        return (*x)->meta.created < (*y)->meta.created ? -1 : 1;
    return pod_compare(x, y);
}

void waiting_find(const struct store *pods, const struct moveout_stores *s, waiting_pods *out) {
    const struct object *obj;
    for (uint32_t i = 0; (obj = store_next(pods, &i));)
        if (waits_for_place(s, (const struct pod *)obj))
            *vec_push(out) = (const struct pod *)obj;
    if (out->len)
        qsort(out->p, out->len, sizeof out->p[0], compare);
    out->len = MIN_OF(out->len, (size_t)WAITING_MAX);
}
