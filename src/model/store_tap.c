/* Telling a store's changes, and doing them to another one. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model/store.h"
#include "model/store_internal.h"

void store_tap(struct store *s, store_tap_fn *fn, void *arg) {
    s->tap = fn;
    s->tap_arg = arg;
}

void store_tell(const struct store *s, const struct store_change *change) {
    if (s->tap)
        s->tap(s->tap_arg, s, change);
}

/* --- everything --- */

struct retell {
    const struct store *s;
    store_tap_fn *fn;
    void *arg;
    const struct object **all; /* by name: the same store is told in the same way */
    size_t n;
};

static void say(const struct retell *r, const struct store_change *change) {
    r->fn(r->arg, r->s, change);
}

/* Of a replace under way, those that it has not brought yet, or those that it has. */
static void say_objects(const struct retell *r, const struct store_part *p, bool brought) {
    for (size_t i = 0; i < r->n; i++) {
        const struct object *obj = r->all[i];
        if (store_part_of(r->s, obj) == p && (!p || (obj->meta.store_epoch == p->epoch) == brought))
            say(r, &(struct store_change){.op = STORE_PUT,
                                          .scope = p ? p->scope : (struct store_scope){0},
                                          .obj = obj,
                                          .ns = obj->meta.ns,
                                          .name = obj->meta.name});
    }
}

static bool is_replaced(const struct retell *r, const struct store_part *p) {
    for (size_t i = 0; i < r->n; i++)
        if (store_part_of(r->s, r->all[i]) == p && r->all[i]->meta.store_epoch != p->epoch)
            return true;
    return false;
}

/* What a replace under way has brought is there before it and comes again with it. */
static void say_again(const struct retell *r, const struct store_part *p) {
    for (size_t i = 0; i < r->n; i++)
        if (store_part_of(r->s, r->all[i]) == p && r->all[i]->meta.store_epoch == p->epoch)
            say(r, &(struct store_change){.op = STORE_SAME,
                                          .scope = p->scope,
                                          .obj = r->all[i],
                                          .ns = r->all[i]->meta.ns,
                                          .name = r->all[i]->meta.name});
}

static void say_part(const struct retell *r, const struct store_part *p) {
    bool under_way = is_replaced(r, p);
    say(r, &(struct store_change){.op = STORE_PART, .scope = p->scope});
    if (p->epoch) /* else it was never begun */
        say(r, &(struct store_change){.op = STORE_BEGIN, .scope = p->scope});
    say_objects(r, p, false);
    say_objects(r, p, true);
    if (p->synced)
        say(r, &(struct store_change){.op = STORE_END, .scope = p->scope, .version = p->version});
    else if (p->version)
        say(r,
            &(struct store_change){.op = STORE_VERSION, .scope = p->scope, .version = p->version});
    if (p->rewind)
        say(r, &(struct store_change){.op = STORE_REWIND, .scope = p->scope});
    if (!under_way)
        return;
    say(r, &(struct store_change){.op = STORE_BEGIN, .scope = p->scope});
    say_again(r, p);
}

void store_retell(const struct store *s, store_tap_fn *fn, void *arg) {
    struct retell r = {.s = s, .fn = fn, .arg = arg};
    r.all = store_sorted(s, &r.n);
    for (size_t i = 0; i < s->parts.len; i++)
        say_part(&r, s->parts.p[i]);
    say_objects(&r, NULL, false);
    store_tell_writes(s, fn, arg);
    free(r.all);
}

/* --- doing the same --- */

static void put(struct store *s, const struct store_change *c, const struct object *obj) {
    struct object *copy = obj ? object_copy(s->kind, obj) : NULL;
    if (copy && c->scope.has)
        store_part_put(store_part(s, c->scope), copy);
    else if (copy)
        store_put(s, copy);
}

void store_apply(struct store *s, const struct store_change *c) {
    switch (c->op) {
    case STORE_PUT:
        put(s, c, c->obj);
        break;
    case STORE_SAME:
        put(s, c, store_get(s, c->ns, c->name));
        break;
    case STORE_REMOVE:
        store_remove(s, c->ns, c->name, c->version);
        break;
    case STORE_PART:
        store_part(s, c->scope);
        break;
    case STORE_BEGIN:
        store_part_begin(store_part(s, c->scope));
        break;
    case STORE_END:
        store_part_end(store_part(s, c->scope), c->version);
        break;
    case STORE_REWIND:
        store_part_rewind(store_part(s, c->scope));
        break;
    case STORE_VERSION:
        store_part_set_version(store_part(s, c->scope), c->version);
        break;
    case STORE_DROP:
        store_drop_scope(s, c->scope);
        break;
    case STORE_WROTE:
        store_wrote(s, c->ns, c->name, c->version);
        break;
    }
}
