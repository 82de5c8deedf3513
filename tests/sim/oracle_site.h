/* A site for the tests of the oracle: a cluster without anything that acts by itself, an oracle
 * that watches it, and the hands of the process that is watched. */
#ifndef TESTS_SIM_ORACLE_SITE_H
#define TESTS_SIM_ORACLE_SITE_H

#include "oracle.h"
#include "plan.h"
#include "support/sim_site.h"

#define RECORD(before, holders)                                                                    \
    "{\\\"v\\\":1,\\\"before\\\":" before ",\\\"holders\\\":[" holders "]}"
#define HOLDER(id) "{\\\"id\\\":\\\"" id "\\\",\\\"by\\\":\\\"x\\\"}"
#define CORDON(record)                                                                             \
    "{\"metadata\":{\"annotations\":{\"slipway.dev/cordon\":\"" record                             \
    "\"}},\"spec\":{\"unschedulable\":true}}"
#define CORDON_AT(version, record)                                                                 \
    "{\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{\"slipway.dev/cordon\":\"" record  \
    "\"}},\"spec\":{\"unschedulable\":true}}"

struct site {
    struct sim_site sim;
    struct plan plan;
    struct oracle *oracle;
    int64_t known_nodes, known_pods; /* 0: everything up to now */
    unsigned pending;
    uint64_t number;
};

#define OWNED                                                                                      \
    ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"r\","    \
    "\"uid\":\"00000000-0000-4000-8000-000000000001\",\"controller\":true}]"

/* cmocka fixtures: a node w1 with a pod "p" of a ReplicaSet, before anybody has cordoned it, and
 * w2.
 */
int site_setup(void **state);
int site_teardown(void **state);

int64_t site_now(const struct site *s);
void site_pass(struct site *s, int64_t usec);

/* A request of the process that is watched; `code` is what it must come to, 0: it is only sent. */
void site_ours(struct site *s, int code, const char *method, const char *path, const char *body);
void site_evict_with(struct site *s, int code, const char *pod, const char *options);
void site_evict(struct site *s, int code, const char *pod);
void site_delete(struct site *s, int code, const char *pod, const char *grace);
/* A patch of w1; "%s" in it becomes the node's version, for a compare-and-swap. */
void site_write_node(struct site *s, int code, const char *fmt);
void site_cordon(struct site *s);

char *site_uid(struct site *s, const char *pod);
/* A running, ready pod on w1; `meta` and `spec` are more members. */
void site_add_pod(struct site *s, const char *name, const char *meta, const char *spec);

/* The oracle has found nothing; or it has found this, as what it is, whatever else beside it. */
void site_fine(struct site *s);
void site_found(struct site *s, int promise, const char *what);

/* The tests, a group for each subject; each returns how many failed. */
int oracle_test_evict(void);
int oracle_test_cordon(void);
int oracle_test_polite(void);

#define CASE(f) cmocka_unit_test_setup_teardown(f, site_setup, site_teardown)

#endif
