/* A simulated cluster and a copy of it, for the tests of what a copy is. */
#ifndef TESTS_SIM_COPY_SITE_H
#define TESTS_SIM_COPY_SITE_H

#include "sim/restore.h"
#include "support/sim_site.h"

struct copy_site {
    struct habits *habits;
    struct sim_site to; /* the copy: sim_ask() and the others work on it */
    struct restore *restore;
};

static inline void copy_begin(struct copy_site *c, int64_t start) {
    *c = (struct copy_site){.habits = habits_new()};
    c->to.sim = sim_new(&(struct sim_options){.seed = 5, .start = start, .speed = 1});
    c->to.api = sim_api(c->to.sim);
    c->to.fleet = sim_fleet(c->to.sim);
    c->to.world = sim_world(c->to.sim);
    habits_begin(c->habits, 5);
    c->restore = restore_new(c->to.sim, c->habits, true);
}

static inline void copy_end(struct copy_site *c) {
    restore_end(c->restore);
    restore_free(c->restore);
    c->restore = NULL;
}

/* The order of a snapshot: what others need comes first. */
static inline void copy_all(struct copy_site *c, struct sim_site *from) {
    static const char *const late[] = {"pods"};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < from->api->resources.len; i++) {
            const struct resource *res = from->api->resources.p[i];
            if (!res->shelf || streq(res->info->plural, late[0]) != (pass == 1))
                continue;
            struct snapshot *snap = shelf_snapshot(res->shelf);
            for (size_t k = 0; k < snap->n; k++) {
                _cleanup_err_ struct err err = ERR_INIT;
                if (restore_object(c->restore, record_text(snap->items[k]), &err))
                    abort(); /* what one server stores another takes */
            }
            snapshot_unref(snap);
        }
}

/* One object more. */
static inline int copy_put(struct copy_site *c, const char *json, struct err *err) {
    return restore_object(c->restore, view_of(json), err);
}

static inline void copy_done(struct copy_site *c) {
    restore_free(c->restore);
    sim_site_done(&c->to);
    habits_free(c->habits);
}

#endif
