/* Simulated clusters for tests. */
#include "support/sim_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void sim_site_seed(struct sim_site *s, bool fleet, uint64_t seed) {
    *s = (struct sim_site){0};
    s->sim = sim_new(
        &(struct sim_options){.seed = seed, .start = SIM_START, .speed = 1, .no_fleet = !fleet});
    s->api = sim_api(s->sim);
    s->fleet = sim_fleet(s->sim);
    s->world = sim_world(s->sim);
    if (!fleet) /* pods want one, and nobody is there to make it */
        sim_ask(s, 201, "POST", "/api/v1/namespaces/default/serviceaccounts",
                "{\"metadata\":{\"name\":\"default\"}}");
}

void sim_site_init(struct sim_site *s, bool fleet) {
    sim_site_seed(s, fleet, 42);
}

void sim_site_done(struct sim_site *s) {
    api_reply_done(&s->last);
    for (size_t i = 0; i < s->values.len; i++)
        json_decref(s->values.p[i]);
    vec_done(&s->values);
    sim_free(s->sim);
}

json_t *sim_ask_as(struct sim_site *s, int code, const char *method, const char *target,
                   const char *accept, const char *content_type, const char *body) {
    api_reply_done(&s->last);
    struct api_request req = {
        .method = method,
        .target = target,
        .accept = accept,
        .content_type = content_type,
        .body = view_of(body),
    };
    api_serve(s->api, &req, &s->last);
    if (s->last.code != code)
        fail_msg("%s %s: %d instead of %d: %s", method, target, s->last.code, code, sim_text(s));
    json_t *v = NULL;
    if (!s->last.stream && s->last.body.len && *s->last.body.p == '{')
        v = json_loadb(s->last.body.p, s->last.body.len, JSON_DISABLE_EOF_CHECK, NULL);
    if (v)
        *vec_push(&s->values) = v;
    return v;
}

json_t *sim_ask(struct sim_site *s, int code, const char *method, const char *target,
                const char *body) {
    const char *type = "application/json";
    if (strcmp(method, "PATCH") == 0)
        type =
            body && *body == '[' ? "application/json-patch+json" : "application/merge-patch+json";
    return sim_ask_as(s, code, method, target, NULL, type, body);
}

const char *sim_text(struct sim_site *s) {
    while (s->last.stream && api_stream_pull(s->last.stream, &s->last.body) == API_MORE)
        ;
    return str_get(&s->last.body);
}

const json_t *sim_at(const json_t *v, const char *path) {
    while (v && *path) {
        size_t n = strcspn(path, ".");
        char key[128];
        (void)snprintf(key, sizeof key, "%.*s", (int)n, path);
        v = json_is_array(v) ? json_array_get(v, strtoul(key, NULL, 10)) : json_object_get(v, key);
        path += n;
        path += *path == '.';
    }
    return v;
}

const char *sim_str(const json_t *v, const char *path) {
    const char *text = json_string_value(sim_at(v, path));
    return text ? text : "";
}

int64_t sim_int(const json_t *v, const char *path) {
    return json_integer_value(sim_at(v, path));
}

void sim_pass(struct sim_site *s, int64_t usec) {
    clock_run(&s->world->clock, s->world->clock.now + usec);
}

void sim_add_node(struct sim_site *s, const char *name) {
    char body[256];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"kubernetes.io/hostname\":\"%s\"},"
                   "\"annotations\":{\"sim.slipway.dev/machine\":\"\"}}}",
                   name, name);
    sim_ask(s, 201, "POST", "/api/v1/nodes", body);
    sim_pass(s, SEC(1));
}
