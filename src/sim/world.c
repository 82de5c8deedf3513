/* What a world begins with. */
#include "sim/world.h"

#include <stdio.h>

/* Version 1 is what an empty etcd has; nothing is older than what the world begins with. */
#define FIRST_VERSION 1

struct world *world_new(uint64_t seed, int64_t start) {
    struct world *w = xnew(struct world);
    clock_init(&w->clock, start);
    w->random.state = seed;
    w->pool = pool_new(type_drop);
    codec_init(&w->codec, w->pool);
    w->version = FIRST_VERSION;
    return w;
}

void world_free(struct world *w) {
    if (!w)
        return;
    codec_done(&w->codec);
    pool_free(w->pool);
    clock_done(&w->clock);
    vec_done(&w->ears);
    free(w);
}

void world_note(struct world *w, struct shelf *shelf, const struct change *change) {
    w->changes++;
    if (w->log)
        w->log(w->log_arg, shelf_kind(shelf), change);
    for (size_t i = 0; i < w->ears.len; i++)
        w->ears.p[i].fn(w->ears.p[i].arg, shelf, change);
}

void world_listen(struct world *w, world_listener *fn, void *arg) {
    *vec_push(&w->ears) = (struct world_ear){fn, arg};
}

void world_unlisten(struct world *w, world_listener *fn, void *arg) {
    size_t n = 0;
    for (size_t i = 0; i < w->ears.len; i++)
        if (w->ears.p[i].fn != fn || w->ears.p[i].arg != arg)
            w->ears.p[n++] = w->ears.p[i];
    w->ears.len = n;
}

int64_t world_lag(struct world *w, int64_t lag) {
    return lag > 0 ? prng_range(&w->random, lag / 2, lag * 3 / 2 + 1) : 0;
}

const char *world_uuid(struct world *w, char buf[static UUID_LEN + 1]) {
    uint64_t a = prng_next(&w->random), b = prng_next(&w->random);
    (void)snprintf(buf, UUID_LEN + 1, "%08x-%04x-4%03x-%04x-%04x%08x", (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                   (unsigned)(0x8000 | (b >> 48 & 0x3fff)), (unsigned)(b >> 32 & 0xffff),
                   (unsigned)(b & 0xffffffff));
    return buf;
}
