/* What completion asks files and clusters for. */
#include <stdlib.h>

#include "base/timefmt.h"
#include "cli/cli.h"
#include "cli/complete.h"
#include "cli/topics.h"
#include "cli/verb.h"
#include "kube/connect.h"
#include "kube/reflector.h"

static void add_topics(struct cli *cli, struct completion *c) {
    (void)cli;
    for (size_t i = 0; verbs[i]; i++)
        if (!verbs[i]->hidden)
            completion_add(c, verbs[i]->name, verbs[i]->summary);
    for (size_t i = 0; i < n_topics; i++)
        completion_add(c, topics[i].name, topics[i].summary);
}

static void add_contexts(struct cli *cli, struct completion *c) {
    struct kube_env env;
    char **names;
    (void)cli;
    kube_env_get(&env);
    if (kube_config_contexts(&c->connection->flags, &env, &names, NULL))
        return;
    for (char **name = names; *name; name++)
        completion_add(c, *name, NULL);
    kube_config_names_free(names);
}

/* Somebody waits for the next key: a cluster that does not answer at once is no help. */
enum { PATIENCE_MS = 1000 };

static void stop(void *arg) {
    loop_stop(arg);
}

static void on_problem(void *arg, enum kube_outcome outcome, const char *message,
                       int64_t retry_in) {
    (void)outcome, (void)message, (void)retry_in;
    loop_stop(arg);
}

static void add_objects(struct completion *c, const struct kind *kind) {
    struct loop *loop;
    struct kube_connection conn;
    struct kube_curl_options curl = {.user_agent = "slipway/" SLIPWAY_VERSION};
    if (loop_new(&loop, NULL))
        return;
    if (kube_connect(loop, &c->connection->flags, &curl, NULL, &conn, NULL)) {
        loop_free(loop);
        return;
    }
    struct store *store = store_new(kind, conn.client.pool);
    struct reflector_options opts = {
        .once = true, .synced = stop, .problem = on_problem, .arg = loop};
    struct reflector *reflector = reflector_new(&conn.client, store, &opts);
    struct loop_timer *timer = loop_timer_new(loop, stop, loop);
    loop_timer_set(timer, MSEC(PATIENCE_MS));
    loop_run(loop);
    size_t n;
    const struct object **all = store_sorted(store, &n);
    for (size_t i = 0; i < n; i++)
        completion_add(c, all[i]->meta.name, NULL);
    free(all);
    loop_timer_free(timer);
    reflector_free(reflector);
    store_free(store);
    kube_connection_done(&conn);
    loop_free(loop);
}

static void add_nodes(struct cli *cli, struct completion *c) {
    (void)cli;
    add_objects(c, &kind_node);
}

static void add_namespaces(struct cli *cli, struct completion *c) {
    (void)cli;
    add_objects(c, &kind_namespace);
}

const struct completer completer = {
    .by_hint = {[HINT_TOPIC] = add_topics,
                [HINT_CONTEXT] = add_contexts,
                [HINT_NODE] = add_nodes,
                [HINT_NAMESPACE] = add_namespaces},
};
