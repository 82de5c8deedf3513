/* probe watch KIND [-n NS] [--field-selector S] [--label-selector S] [--json] [--list] [--page N]
 * [--silence MS] [--poll MS]
 * [--quiet]: a reflector and its store. Prints a line for each change, when it is synced, for each
 * problem, and when it has to poll. Standard input: "dump" prints the objects, sorted, and a line
 * {"dumped":N}; "stats" the counts; "wrote NS NAME VERSION" and "fresh NS NAME" use the barrier;
 * the end of input ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "kube/reflector.h"
#include "model/own.h"
#include "probe.h"
#include "probe_cluster.h"

struct watch {
    struct probe probe;
    const struct kind *kind;
    struct store *store;
    struct reflector *reflector;
    bool quiet;
};

static void on_change(void *arg, const struct object *before, const struct object *after) {
    struct watch *w = arg;
    if (w->quiet)
        return;
    struct str line = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &line, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "type", !before ? "ADDED" : after ? "MODIFIED" : "DELETED");
    jsonw_key(&j, "object");
    object_print(w->kind, &j, after ? after : before);
    jsonw_end(&j);
    probe_print(&line);
    str_done(&line);
}

static void on_synced(void *arg) {
    struct watch *w = arg;
    printf("{\"type\":\"SYNCED\",\"objects\":%zu,\"version\":\"%s\"}\n", store_len(w->store),
           strna(store_version(w->store)));
    fflush(stdout);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    (void)arg;
    struct str line = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &line, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "type", "PROBLEM");
    jsonw_kstr(&j, "outcome", kube_outcome_row(outcome)->name);
    jsonw_kstr(&j, "message", message);
    jsonw_kint(&j, "retryMilliseconds", retry_in / USEC_PER_MSEC);
    jsonw_end(&j);
    probe_print(&line);
    str_done(&line);
}

static void on_polling(void *arg, const char *message) {
    (void)arg;
    struct str line = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &line, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "type", "POLLING");
    jsonw_kstr(&j, "message", message);
    jsonw_end(&j);
    probe_print(&line);
    str_done(&line);
}

static void dump(struct watch *w) {
    size_t n;
    const struct object **all = store_sorted(w->store, &n);
    struct str line = STR_INIT;
    for (size_t i = 0; i < n; i++) {
        struct jsonw j;
        jsonw_init(&j, &line, false);
        object_print(w->kind, &j, all[i]);
        str_addc(&line, '\n');
        fwrite(line.p, 1, line.len, stdout);
        str_reset(&line);
    }
    free(all);
    str_done(&line);
    printf("{\"dumped\":%zu,\"version\":\"%s\"}\n", n, strna(store_version(w->store)));
    fflush(stdout);
}

static void stats(struct watch *w) {
    struct reflector_stats s = reflector_stats(w->reflector);
    printf("{\"lists\":%lu,\"watches\":%lu,\"events\":%lu,\"relists\":%lu,\"failures\":%lu}\n",
           (unsigned long)s.lists, (unsigned long)s.watches, (unsigned long)s.events,
           (unsigned long)s.relists, (unsigned long)s.failures);
    fflush(stdout);
}

static void on_line(void *arg, char *line) {
    struct watch *w = arg;
    char ns[256], name[256], version[64];
    if (!line) {
        loop_stop(w->probe.loop);
    } else if (!strcmp(line, "dump")) {
        dump(w);
    } else if (!strcmp(line, "stats")) {
        stats(w);
    } else if (sscanf(line, "wrote %255s %255s %63s", ns, name, version) == 3) {
        store_wrote(w->store, strcmp(ns, "-") ? ns : NULL, name, version);
        printf("{\"noted\":true}\n");
        fflush(stdout);
    } else if (sscanf(line, "fresh %255s %255s", ns, name) == 2) {
        printf("{\"fresh\":%s}\n",
               store_fresh(w->store, strcmp(ns, "-") ? ns : NULL, name) ? "true" : "false");
        fflush(stdout);
    }
}

/* Slipway's own are not among those that every cluster has. */
static const struct kind *find_kind(const char *name) {
    for (size_t i = 0; own_kinds[i]; i++)
        if (!strcmp(own_kinds[i]->name, name))
            return own_kinds[i];
    return kind_find(name);
}

int probe_watch(int argc, char **argv) {
    struct watch w = {0};
    const char *page, *silence, *poll;
    probe_connect(&w.probe, &argc, argv);
    struct reflector_options opts = {
        .ns = probe_option(&argc, argv, "-n"),
        .field_selector = probe_option(&argc, argv, "--field-selector"),
        .label_selector = probe_option(&argc, argv, "--label-selector"),
        .json = probe_flag(&argc, argv, "--json"),
        .no_watch_list = probe_flag(&argc, argv, "--list"),
        .page = (page = probe_option(&argc, argv, "--page")) ? atoi(page) : 0,
        .silence = (silence = probe_option(&argc, argv, "--silence")) ? MSEC(atol(silence)) : 0,
        .poll = (poll = probe_option(&argc, argv, "--poll")) ? MSEC(atol(poll)) : 0,
        .synced = on_synced,
        .problem = on_problem,
        .polling = on_polling,
        .arg = &w,
    };
    w.quiet = probe_flag(&argc, argv, "--quiet");
    w.kind = argc == 2 ? find_kind(argv[1]) : NULL;
    if (!w.kind) {
        fprintf(stderr, "usage: probe watch KIND [options]\n");
        return 64;
    }
    w.store = store_new(w.kind, w.probe.conn.client.pool);
    store_listen(w.store, on_change, &w);
    w.reflector = reflector_new(&w.probe.conn.client, w.store, &opts);
    probe_stdin(&w.probe, on_line, &w);
    loop_run(w.probe.loop);
    reflector_free(w.reflector);
    store_free(w.store);
    size_t left = pool_stats(w.probe.conn.client.pool).entries;
    if (left)
        fprintf(stderr, "probe: %zu pool entries were not given back\n", left);
    probe_disconnect(&w.probe);
    return left ? 1 : 0;
}
