/* probe write VERB KIND NAME [-n NS] [--body JSON | --body-file FILE|-] [--patch
 * json|merge|strategic] [--uid U]
 * [--version V]
 * [--grace S] [--dry-run] [--subresource S] [--timeout MS]: one request and its outcome as a line
 * of JSON. VERB: get, create, replace, patch, delete, evict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/timefmt.h"
#include "kube/client.h"
#include "probe.h"
#include "probe_cluster.h"

struct write {
    struct probe probe;
    const struct kind *kind;
    char *body;
};

static void on_reply(void *arg, struct kube_reply *reply) {
    struct write *w = arg;
    struct str line = STR_INIT;
    struct jsonw j;
    jsonw_init(&j, &line, false);
    jsonw_begin(&j, '{');
    jsonw_kstr(&j, "outcome", kube_outcome_row(reply->outcome)->name);
    jsonw_kint(&j, "code", reply->code);
    jsonw_kstr(&j, "message", reply->message);
    jsonw_kopt(&j, "cause", reply->cause);
    jsonw_kopt(&j, "warning", reply->warning);
    jsonw_kint(&j, "retryAfter", reply->retry_after);
    if (reply->obj) {
        jsonw_key(&j, "object");
        object_print(w->kind, &j, reply->obj);
    }
    jsonw_end(&j);
    probe_print(&line);
    str_done(&line);
    loop_stop(w->probe.loop);
}

/* Without an end in the middle: bodies are JSON. */
static char *read_all(const char *path) {
    FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
    struct str text = STR_INIT;
    char buf[65536];
    size_t n;
    if (!f)
        return NULL;
    while ((n = fread(buf, 1, sizeof buf, f)) > 0)
        str_addn(&text, buf, n);
    if (f != stdin)
        fclose(f);
    return str_take(&text);
}

static int start(struct write *w, const char *verb, const struct kube_write *where, int *argc,
                 char **argv) {
    struct kube_client *c = &w->probe.conn.client;
    const char *body = probe_option(argc, argv, "--body");
    const char *file = probe_option(argc, argv, "--body-file");
    if (file && !(body = w->body = read_all(file)))
        return -1;
    const char *patch = probe_option(argc, argv, "--patch");
    const char *uid = probe_option(argc, argv, "--uid");
    const char *version = probe_option(argc, argv, "--version");
    const char *grace = probe_option(argc, argv, "--grace");
    int64_t seconds = grace ? atol(grace) : -1;
    if (!strcmp(verb, "get")) {
        struct kube_op_spec spec = {
            .kind = w->kind, .ns = where->ns, .name = where->name, .result = w->kind};
        kube_op_start(c, &spec, on_reply, w);
    } else if (!strcmp(verb, "create") && body) {
        kube_create(c, where, body, on_reply, w);
    } else if (!strcmp(verb, "replace") && body) {
        kube_replace(c, where, body, on_reply, w);
    } else if (!strcmp(verb, "patch") && body && patch) {
        enum kube_patch how = !strcmp(patch, "json")    ? KUBE_PATCH_JSON
                              : !strcmp(patch, "merge") ? KUBE_PATCH_MERGE
                                                        : KUBE_PATCH_STRATEGIC;
        kube_patch(c, where, how, body, on_reply, w);
    } else if (!strcmp(verb, "delete")) {
        struct kube_delete_options opts = {.uid = uid, .version = version, .grace = seconds};
        kube_delete(c, where, &opts, on_reply, w);
    } else if (!strcmp(verb, "evict")) {
        kube_evict(c, where, uid, seconds, on_reply, w);
    } else {
        return -1;
    }
    return 0;
}

int probe_write(int argc, char **argv) {
    struct write w = {0};
    probe_connect(&w.probe, &argc, argv);
    const char *timeout = probe_option(&argc, argv, "--timeout");
    struct kube_write where = {
        .timeout = timeout ? MSEC(atol(timeout)) : 0,
        .ns = probe_option(&argc, argv, "-n"),
        .subresource = probe_option(&argc, argv, "--subresource"),
        .dry_run = probe_flag(&argc, argv, "--dry-run"),
    };
    if (argc < 4 || !(w.kind = kind_find(argv[2]))) {
        fprintf(stderr, "usage: probe write VERB KIND NAME [options]\n");
        return 64;
    }
    where.kind = w.kind;
    where.name = argv[3];
    if (start(&w, argv[1], &where, &argc, argv) < 0) {
        fprintf(stderr, "probe: unknown verb or missing --body\n");
        return 64;
    }
    loop_run(w.probe.loop);
    free(w.body);
    probe_disconnect(&w.probe);
    return 0;
}
