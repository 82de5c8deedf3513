/* The site, and what is done there. */
#include "oracle_site.h" /* before cmocka, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

int64_t site_now(const struct site *s) {
    return s->sim.world->clock.now;
}

static int64_t now_of(void *arg) {
    return site_now(arg);
}

static int64_t known(void *arg, const char *resource, const char *selected) {
    struct site *s = arg;
    (void)selected;
    int64_t k = streq(resource, "nodes") ? s->known_nodes : s->known_pods;
    return k ? k : site_now(s) + 1;
}

static unsigned pending(void *arg, enum chaos_kind kind, const char *ns, const char *name) {
    (void)kind;
    (void)ns;
    (void)name;
    return ((struct site *)arg)->pending;
}

void site_pass(struct site *s, int64_t usec) {
    sim_pass(&s->sim, usec);
}

void site_ours(struct site *s, int code, const char *method, const char *path, const char *body) {
    struct chaos_request req = {.number = ++s->number, .method = method, .path = path};
    req.body = view_of(body);
    chaos_target(path, &req.target);
    req.kind = chaos_kind(method, path, &req.target);
    oracle_sent(s->oracle, &req);
    if (!code) {
        oracle_told(s->oracle, &req, 0, -1);
        return;
    }
    oracle_serving(s->oracle, &req);
    sim_ask(&s->sim, code, method, path, body);
    oracle_served(s->oracle, &req, code);
    oracle_told(s->oracle, &req, code, s->sim.last.retry_after ? s->sim.last.retry_after : -1);
}

char *site_uid(struct site *s, const char *pod) {
    char path[128];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s", pod);
    return xstrdup(sim_str(sim_ask(&s->sim, 200, "GET", path, NULL), "metadata.uid"));
}

void site_evict_with(struct site *s, int code, const char *pod, const char *options) {
    char path[160], body[512];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s/eviction", pod);
    (void)snprintf(body, sizeof body,
                   "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":"
                   "\"%s\",\"namespace\":\"default\"},\"deleteOptions\":{%s}}",
                   pod, options);
    site_ours(s, code, "POST", path, body);
}

void site_evict(struct site *s, int code, const char *pod) {
    _cleanup_free_ char *uid = site_uid(s, pod);
    char options[128];
    (void)snprintf(options, sizeof options, "\"preconditions\":{\"uid\":\"%s\"}", uid);
    site_evict_with(s, code, pod, options);
}

void site_delete(struct site *s, int code, const char *pod, const char *grace) {
    _cleanup_free_ char *uid = site_uid(s, pod);
    char path[128], body[256];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s", pod);
    (void)snprintf(body, sizeof body, "{%s\"preconditions\":{\"uid\":\"%s\"}}", grace, uid);
    site_ours(s, code, "DELETE", path, body);
}

void site_write_node(struct site *s, int code, const char *fmt) {
    char body[1024];
    _cleanup_free_ char *version = xstrdup(sim_str(
        sim_ask(&s->sim, 200, "GET", "/api/v1/nodes/w1", NULL), "metadata.resourceVersion"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(body, sizeof body, fmt, version);
#pragma GCC diagnostic pop
    site_ours(s, code, "PATCH", "/api/v1/nodes/w1", body);
}

void site_add_pod(struct site *s, const char *name, const char *meta, const char *spec) {
    char body[1024], path[128];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"a\"}%s},\"spec\":{"
                   "\"nodeName\":\"w1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]%s}}",
                   name, meta, spec);
    sim_ask(&s->sim, 201, "POST", "/api/v1/namespaces/default/pods", body);
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/default/pods/%s/status", name);
    sim_ask(&s->sim, 200, "PATCH", path,
            "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
            "\"True\"}]}}");
}

int site_setup(void **state) {
    struct site *s = xnew(struct site);
    sim_site_init(&s->sim, false);
    s->plan = (struct plan){.seed = 1,
                            .nodes = 2,
                            .force = false,
                            .ignore_daemonsets = true,
                            .grace = -1,
                            .rate = 20,
                            .keep_record = true};
    *vec_push(&s->plan.targets) = xstrdup("w1");
    s->oracle = oracle_new(&(struct oracle_options){
        .plan = &s->plan,
        .world = s->sim.world,
        .now = now_of,
        .known = known,
        .pending = pending,
        .arg = s,
    });
    sim_ask(&s->sim, 201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"w1\"}}");
    sim_ask(&s->sim, 201, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"w2\"}}");
    site_add_pod(s, "p", OWNED, "");
    site_pass(s, SEC(10));
    oracle_begin(s->oracle);
    *state = s;
    return 0;
}

int site_teardown(void **state) {
    struct site *s = *state;
    oracle_free(s->oracle);
    sim_site_done(&s->sim);
    free(s->plan.targets.p[0]);
    vec_done(&s->plan.targets);
    vec_done(&s->plan.rules);
    free(s);
    return 0;
}

void site_cordon(struct site *s) {
    site_write_node(s, 200, CORDON_AT("%s", RECORD("false", HOLDER(PLAN_HOLDER))));
    site_pass(s, SEC(1));
}

void site_fine(struct site *s) {
    if (oracle_n_violations(s->oracle))
        fail_msg("blamed for nothing: %s", oracle_violation(s->oracle, 0));
}

void site_found(struct site *s, int promise, const char *what) {
    char start[32];
    (void)snprintf(start, sizeof start, "promise %d: ", promise);
    for (size_t i = 0; i < oracle_n_violations(s->oracle); i++) {
        const char *v = oracle_violation(s->oracle, i);
        if (str_starts(v, start) && strstr(v, what))
            return;
    }
    fail_msg("\"%s\" was not found among %zu, the first being: %s", what,
             oracle_n_violations(s->oracle),
             oracle_n_violations(s->oracle) ? oracle_violation(s->oracle, 0) : "none");
}
