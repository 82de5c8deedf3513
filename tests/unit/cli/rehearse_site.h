/* A simulated cluster written down as a snapshot, for the tests of rehearsals. */
#ifndef CLI_REHEARSE_SITE_H
#define CLI_REHEARSE_SITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/snapshot_load.h"
#include "cli/snapshot_strip.h"
#include "cli/snapshot_take.h"
#include "sim/fleet/fleet.h"
#include "sim/scenario.h"

#include <cmocka.h>

#define SITE_START SEC(1794729600) /* 2026-11-15T08:00:00Z */

/* A scenario of the program, ten minutes old. */
static inline struct sim *site_scenario(const char *name, struct scenario **scenario) {
    _cleanup_err_ struct err err = ERR_INIT;
    assert_int_equal(scenario_load(name, scenario, &err), 0);
    struct sim *s =
        sim_new(&(struct sim_options){.seed = 7, .start = SITE_START - SEC(600), .speed = 1});
    assert_int_equal(scenario_begin(*scenario, s, 0, &err), 0);
    clock_run(&sim_world(s)->clock, SITE_START);
    return s;
}

/* The cluster as the file of a snapshot, with lines of one's own before the last; NULL: none. */
static inline struct snapshot_reader *site_file(struct sim *s, const char *more) {
    static const char head[] =
        "{\"slipway\":\"snapshot\",\"v\":1,\"taken\":\"2026-11-15T08:00:00Z\"}";
    static const char tail[] = "{\"slipway\":\"end\",\"objects\":{},\"unread\":[]}";
    int fd = memfd_create("site", MFD_CLOEXEC);
    struct snapshot_writer *w = snapshot_writer_new(dup(fd), true);
    assert_int_equal(snapshot_writer_line(w, head, strlen(head), NULL), 0);
    for (size_t i = 0; s && i < SNAPSHOT_KINDS; i++) {
        const struct resource *res =
            api_resource_of_kind(sim_api(s), snapshot_kinds[i].version, snapshot_kinds[i].kind);
        if (!res)
            continue; /* a kind that the simulator does not have */
        struct snapshot *snap = shelf_snapshot(res->shelf);
        for (size_t k = 0; k < snap->n; k++) {
            json_t *obj = record_json(snap->items[k]);
            snapshot_strip(obj);
            char *text = json_dumps(obj, JSON_COMPACT);
            assert_int_equal(snapshot_writer_line(w, text, strlen(text), NULL), 0);
            free(text);
            json_decref(obj);
        }
        snapshot_unref(snap);
    }
    if (more)
        assert_int_equal(snapshot_writer_line(w, more, strlen(more), NULL), 0);
    assert_int_equal(snapshot_writer_line(w, tail, strlen(tail), NULL), 0);
    assert_int_equal(snapshot_writer_end(w, NULL), 0);
    snapshot_writer_free(w);
    struct snapshot_reader *r;
    assert_int_equal(snapshot_reader_adopt(fd, "site", &r, NULL), 0);
    return r;
}

/* A scenario, its snapshot, and the copy that is made of it. */
struct site {
    struct habits *habits;
    struct snapshot_reader *file;
    struct sim *copy;
};

static inline void site_open(struct site *s, const char *name) {
    _cleanup_err_ struct err err = ERR_INIT;
    struct scenario *scenario;
    struct sim *from = site_scenario(name, &scenario);
    *s = (struct site){.habits = habits_new(), .file = site_file(from, NULL)};
    habits_begin(s->habits, 1);
    if (snapshot_load(s->file, &(struct sim_options){.seed = 1, .speed = 1}, s->habits, true,
                      &s->copy, NULL, &err))
        fail_msg("%s", err_msg(&err));
    scenario_stop(scenario);
    sim_free(from);
    scenario_free(scenario);
}

static inline void site_close(struct site *s) {
    sim_free(s->copy);
    snapshot_reader_free(s->file);
    habits_free(s->habits);
}

#endif
