/* A drain against a simulated cluster. */
#include "support/drain_site.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"

static void on_note(void *arg, const struct drain_note *n) {
    struct drain_site *s = arg;
    struct str *o = &s->told;
    const char *pod_ns = n->pod ? n->pod->ns : "", *pod = n->pod ? n->pod->name : "";
    switch (n->kind) {
    case NOTE_CORDONED:
        str_addf(o, "cordoned %s\n", n->node->name);
        break;
    case NOTE_ALREADY_CORDONED:
        str_addf(o, "already cordoned %s\n", n->node->name);
        break;
    case NOTE_CORDON_FAILED:
        str_addf(o, "cordon failed %s: %s\n", n->node->name, n->text);
        break;
    case NOTE_UNCORDONED:
        str_addf(o, "uncordoned %s\n", n->node->name);
        break;
    case NOTE_PHASE:
        str_addf(o, "%s %s\n", drain_phase_word(n->node->phase), n->node->name);
        break;
    case NOTE_WARNINGS:
        str_addf(o, "warning %s\n", n->text);
        break;
    case NOTE_POD_EVICTING:
        str_addf(o, "evicting %s/%s\n", pod_ns, pod);
        break;
    case NOTE_POD_DELETING:
        str_addf(o, "deleting %s/%s\n", pod_ns, pod);
        break;
    case NOTE_POD_GONE:
        str_addf(o, "gone %s/%s\n", pod_ns, pod);
        break;
    case NOTE_POD_LATE:
        str_addf(o, "late %s/%s: %s\n", pod_ns, pod, n->text);
        break;
    case NOTE_POD_SKIPPED_WAIT:
        str_addf(o, "skipped %s/%s\n", pod_ns, pod);
        break;
    case NOTE_POD_FAILED:
        str_addf(o, "failed %s/%s: %s\n", pod_ns, pod, n->text);
        break;
    case NOTE_BLOCKED:
    case NOTE_UNBLOCKED:
        str_addf(o, "%s %s %s: %s\n", n->kind == NOTE_BLOCKED ? "blocked" : "unblocked",
                 blocker_row(n->blocker->code)->name, n->blocker->object, n->blocker->message);
        break;
    case NOTE_ESCALATED:
        str_addf(o, "escalated %s/%s: %s\n", pod_ns, pod, n->text);
        break;
    case NOTE_SURGE:
        str_addf(o, "surge %s/%s: %s\n", pod_ns, pod, n->text);
        break;
    case NOTE_REMARK:
        str_addf(o, "remark %s\n", n->text);
        break;
    }
}

static void on_remark(void *arg, const char *text) {
    str_addf(&((struct drain_site *)arg)->remarks, "%s\n", text);
}

static void on_failed(void *arg, const char *what, enum kube_outcome outcome, const char *message) {
    struct drain_site *s = arg;
    str_addf(&s->failure, "%s: %s", what, message);
    s->failed_with = outcome;
    s->over = true;
    loop_stop(s->loop);
}

static void on_over(void *arg) {
    struct drain_site *s = arg;
    s->over = true;
    loop_stop(s->loop);
}

void drain_site_init(struct drain_site *s, unsigned nodes) {
    *s = (struct drain_site){0};
    sim_site_init(&s->sim, true);
    for (unsigned i = 0; i < nodes; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", i);
        sim_add_node(&s->sim, name);
    }
    s->loop = loop_new_virtual(s->sim.world->clock.now);
    s->pace = pace_new(s->loop, s->sim.world, 1);
    struct kube_transport *inner = sim_transport_new(
        s->loop, s->sim.api, s->pace,
        &(struct sim_transport_options){.seed = 1, .latency_min = MSEC(1), .latency_max = MSEC(5)});
    s->fault = kube_fault_new(inner, s->loop, 1, NULL, 0);
    s->transport = kube_fault_transport(s->fault);
    s->client = (struct kube_client){
        .transport = s->transport, .loop = s->loop, .pool = pool_new(type_drop), .log = &s->log};
}

void drain_site_kill(struct drain_site *s) {
    drain_run_free(s->run);
    s->run = NULL;
    s->over = false;
}

void drain_site_done(struct drain_site *s) {
    drain_site_kill(s);
    kube_transport_free(s->transport);
    pace_free(s->pace);
    loop_free(s->loop);
    pool_free(s->client.pool);
    sim_site_done(&s->sim);
    str_done(&s->told);
    str_done(&s->remarks);
    str_done(&s->failure);
}

struct drain_opts drain_site_opts(void) {
    return (struct drain_opts){.ignore_daemonsets = true,
                               .grace = -1,
                               .rate = 20,
                               .keep_record = true,
                               .holder = {.id = "cli/test", .by = "test@host", .reason = "test"}};
}

void drain_site_start(struct drain_site *s, const struct drain_opts *opts, ...) {
    VEC(const char *) names = VEC_INIT;
    va_list ap;
    va_start(ap, opts);
    for (const char *name; (name = va_arg(ap, const char *));)
        *vec_push(&names) = name;
    va_end(ap);
    struct drain_run_opts run = {.drain = *opts,
                                 .names = names.p,
                                 .n_names = names.len,
                                 .selected = s->selected,
                                 .checks = s->checks,
                                 .note = on_note,
                                 .remark = on_remark,
                                 .failed = on_failed,
                                 .over = on_over,
                                 .arg = s};
    s->run = drain_run_new(&s->client, &run);
    vec_done(&names);
}

bool drain_site_run(struct drain_site *s, int64_t limit) {
    int64_t until = loop_now(s->loop) + limit;
    while (!s->over && loop_now(s->loop) < until)
        loop_advance(s->loop, MIN_OF(MSEC(100), until - loop_now(s->loop)));
    return s->over;
}

void drain_site_pass(struct drain_site *s, int64_t usec) {
    loop_advance(s->loop, usec);
}

/* --- objects --- */

static char *quoted(const char *json) {
    char *text = xstrdup(json);
    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    return text;
}

void site_post(struct drain_site *s, const char *target, const char *json) {
    _cleanup_free_ char *text = quoted(json);
    pace_catch_up(s->pace);
    sim_ask(&s->sim, 201, "POST", target, text);
    pace_update(s->pace);
}

void site_patch(struct drain_site *s, const char *target, const char *json) {
    _cleanup_free_ char *text = quoted(json);
    pace_catch_up(s->pace);
    sim_ask_as(&s->sim, 200, "PATCH", target, "application/json", "application/merge-patch+json",
               text);
    pace_update(s->pace);
}

void site_deployment(struct drain_site *s, const char *name, int replicas) {
    _cleanup_free_ char *json = xasprintf(
        "{'apiVersion':'apps/"
        "v1','kind':'Deployment','metadata':{'name':'%s'},'spec':{'replicas':%d,"
        "'selector':{'matchLabels':{'app':'%s'}},'template':{'metadata':{'labels':{'app':'%s'}},"
        "'spec':{'containers':[{'name':'c','image':'i'}]}}}}",
        name, replicas, name, name);
    site_post(s, "/apis/apps/v1/namespaces/default/deployments", json);
}

void site_budget(struct drain_site *s, const char *name, const char *rule) {
    _cleanup_free_ char *json =
        xasprintf("{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'%s'},"
                  "'spec':{%s,'selector':{'matchLabels':{'app':'%s'}}}}",
                  name, rule, name);
    site_post(s, "/apis/policy/v1/namespaces/default/poddisruptionbudgets", json);
}

void site_pod(struct drain_site *s, const char *name, const char *node, const char *spec) {
    _cleanup_free_ char *json =
        xasprintf("{'metadata':{'name':'%s','labels':{'app':'%s'}},'spec':{'nodeName':'%s',%s%s"
                  "'containers':[{'name':'c','image':'i'}]}}",
                  name, name, node, strna(spec), spec ? "," : "");
    site_post(s, "/api/v1/namespaces/default/pods", json);
}

unsigned site_pods_on(struct drain_site *s, const char *node) {
    _cleanup_free_ char *target = xasprintf("/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", node);
    pace_catch_up(s->pace);
    json_t *list = sim_ask(&s->sim, 200, "GET", target, NULL);
    unsigned n = 0;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(list, "items"), i, item) n +=
        !sim_at(item, "metadata.deletionTimestamp");
    return n;
}

const struct drain_node *site_node(struct drain_site *s, const char *name) {
    size_t n;
    const struct drain_node *const *nodes = drain_nodes(drain_run_engine(s->run), &n);
    for (size_t i = 0; i < n; i++)
        if (streq(nodes[i]->name, name))
            return nodes[i];
    return NULL;
}

/* --- what was told --- */

bool site_told(const struct drain_site *s, const char *line) {
    _cleanup_free_ char *all = xasprintf("\n%s", str_get(&s->told));
    _cleanup_free_ char *one = xasprintf("\n%s\n", line);
    return strstr(all, one) != NULL;
}

unsigned site_told_count(const struct drain_site *s, const char *prefix) {
    unsigned n = 0;
    for (const char *p = str_get(&s->told); *p; p = strchr(p, '\n') + 1)
        n += str_starts(p, prefix);
    return n;
}
