/* Holds a cluster's nodes, pods and PodDisruptionBudgets as the controller does: three reflectors
 * and their stores. For `make bench`, beside a Go program that does the same with client-go.
 *
 *     hold --kubeconfig FILE
 *
 * Prints one line of JSON when it is synced (memory, CPU time, counts) and then watches. Standard
 * input: "dump KIND" prints the objects, "report" the line again; the end of input ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/mem.h"
#include "kube/connect.h"
#include "kube/reflector.h"
#include "model/pdbs.h"

enum { FEEDS = 3 };

struct hold {
    struct loop *loop;
    struct kube_connection conn;
    struct store *stores[FEEDS];
    struct reflector *reflectors[FEEDS];
    int left;
};

static long status_kb(const char *key) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key)))
            kb = strtol(line + strlen(key), NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

static void report(struct hold *h) {
    bool synced = h->left == 0;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    double cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
    struct pool_stats p = pool_stats(h->conn.client.pool);
    printf("{\"synced\":%s,\"rss_anon_kb\":%ld,\"rss_file_kb\":%ld,\"hwm_kb\":%ld,\"cpu_s\":%.3f,"
           "\"nodes\":%zu,\"pods\":%zu,\"pdbs\":%zu,\"pool_entries\":%zu,\"pool_bytes\":%zu}\n",
           synced ? "true" : "false", status_kb("RssAnon:"), status_kb("RssFile:"),
           status_kb("VmHWM:"), cpu, store_len(h->stores[0]), store_len(h->stores[1]),
           store_len(h->stores[2]), p.entries, p.bytes);
    fflush(stdout);
}

static void on_synced(void *arg) {
    struct hold *h = arg;
    if (!--h->left)
        report(h);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    (void)arg, (void)retry_in;
    fprintf(stderr, "hold: %s: %s\n", kube_outcome_row(outcome)->name, message);
}

static void dump(struct hold *h, const char *name) {
    for (int i = 0; i < FEEDS; i++) {
        const struct kind *kind = store_kind(h->stores[i]);
        if (!streq(kind->name, name))
            continue;
        size_t n;
        const struct object **all = store_sorted(h->stores[i], &n);
        for (size_t k = 0; k < n; k++) {
            _cleanup_str_ struct str line = STR_INIT;
            struct jsonw w;
            jsonw_init(&w, &line, false);
            object_print(kind, &w, all[k]);
            puts(str_get(&line));
        }
        free(all);
        printf("{\"dumped\":%zu}\n", n);
        fflush(stdout);
    }
}

static void on_input(evutil_socket_t fd, short what, void *arg) {
    struct hold *h = arg;
    char line[256];
    (void)fd, (void)what;
    if (!fgets(line, sizeof line, stdin)) {
        loop_stop(h->loop);
        return;
    }
    line[strcspn(line, "\n")] = '\0';
    if (!strncmp(line, "dump ", 5))
        dump(h, line + 5);
    else
        report(h);
}

int main(int argc, char **argv) {
    static const struct kind *const wanted[FEEDS] = {&kind_node, &kind_pod, &kind_pdb};
    struct kube_config_flags flags = {0};
    struct log log = {.level = LOG_WARN, .fd = 2};
    struct hold h = {.left = FEEDS};
    _cleanup_err_ struct err err = ERR_INIT;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--kubeconfig") && i + 1 < argc)
            flags.kubeconfig = argv[++i];
        else if (!strcmp(argv[i], "--json"))
            json = true;
    }
    if (loop_new(&h.loop, &err) ||
        kube_connect(h.loop, &flags, &(struct kube_curl_options){.user_agent = "slipway-hold"},
                     &log, &h.conn, &err)) {
        fprintf(stderr, "hold: %s\n", err_msg(&err));
        return 4;
    }
    for (int i = 0; i < FEEDS; i++) {
        struct reflector_options opts = {
            .json = json, .synced = on_synced, .problem = on_problem, .arg = &h};
        h.stores[i] = store_new(wanted[i], h.conn.client.pool);
        if (wanted[i] == &kind_pod)
            store_index(h.stores[i], store_key_node);
        h.reflectors[i] = reflector_new(&h.conn.client, h.stores[i], &opts);
    }
    struct pdbs *pdbs = pdbs_new(h.stores[1], h.stores[2]);
    setvbuf(stdin, NULL, _IONBF, 0);
    struct event *input = event_new(loop_base(h.loop), 0, EV_READ | EV_PERSIST, on_input, &h);
    event_add(input, NULL);
    loop_run(h.loop);
    event_free(input);
    pdbs_free(pdbs);
    for (int i = 0; i < FEEDS; i++) {
        reflector_free(h.reflectors[i]);
        store_free(h.stores[i]);
    }
    kube_connection_done(&h.conn);
    loop_free(h.loop);
    return 0;
}
