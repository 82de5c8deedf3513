/* Wanted actions. */
#include "engine/action.h"

#include "base/mem.h"

#include <string.h>

static const char *copy(struct arena *arena, const char *s) {
    return s ? arena_strndup(arena, s, strlen(s)) : NULL;
}

uint64_t actions_add(struct actions *a, uint64_t *ids, const struct action *what) {
    struct action *new = vec_push(&a->list);
    *new = *what;
    new->id = ++*ids;
    new->ns = copy(&a->arena, what->ns);
    new->name = copy(&a->arena, what->name);
    new->uid = copy(&a->arena, what->uid);
    new->subresource = copy(&a->arena, what->subresource);
    new->node = copy(&a->arena, what->node);
    new->body = copy(&a->arena, what->body);
    return new->id;
}

void actions_reset(struct actions *a) {
    a->list.len = 0;
    arena_reset(&a->arena);
}

void actions_done(struct actions *a) {
    vec_done(&a->list);
    arena_done(&a->arena);
}

int64_t action_backoff(struct prng *random, unsigned tries, int64_t first, int64_t max) {
    int64_t delay = first;
    for (unsigned i = 1; i < tries && delay < max; i++)
        delay *= 2;
    delay = MIN_OF(delay, max);
    return delay + prng_range(random, 0, delay / 2);
}
