/* The cluster of a seed of the soak of the controller: nodes, pods with budgets, policies. */
#include <stdio.h>
#include <stdlib.h>

#include "base/jsonw.h"
#include "base/timefmt.h"
#include "cluster_gen.h"
#include "draw.h"
#include "fleet_plan.h"
#include "model/own_crd.h"
#include "model/own_fields.h"

#define START SEC(1794700800)

__attribute__((format(printf, 3, 4))) static void create(struct sim *sim, const char *path,
                                                         const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    _cleanup_free_ char *body = xvasprintf(fmt, ap);
    va_end(ap);
    for (char *c = body; *c; c++)
        if (*c == '\'')
            *c = '"';
    int code = cluster_ask(sim, "POST", path, body);
    if (code != 201) {
        fprintf(stderr, "the generator made something that the API refuses (%d): POST %s %s\n",
                code, path, body);
        abort();
    }
}

static void pass(struct sim *sim, int64_t usec) {
    struct clock *clock = &sim_world(sim)->clock;
    clock_run(clock, clock->now + usec);
}

static void add_definitions(struct sim *sim) {
    for (const struct own_resource *r = own_resources; r->kind; r++) {
        _cleanup_str_ struct str json = STR_INIT;
        struct jsonw w;
        jsonw_init(&w, &json, false);
        own_crd(r, &w);
        if (cluster_ask(sim, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                        str_get(&json)) != 201)
            abort();
    }
    pass(sim, SEC(2));
}

static void add_nodes(struct sim *sim, const struct fleet_plan *p) {
    for (unsigned i = 0; i < p->nodes; i++)
        create(sim, "/api/v1/nodes",
               "{'metadata':{'name':'w%u','labels':{'kubernetes.io/hostname':'w%u','pool':'%s',"
               "'topology.kubernetes.io/zone':'z%u'},'annotations':{'sim.slipway.dev/machine':'',"
               "'sim.slipway.dev/boot':'10s-90s'}}}",
               i + 1, i + 1, i % 2 ? "b" : "a", i % 3);
    pass(sim, SEC(2));
}

static void add_policies(struct sim *sim, const struct fleet_plan *p) {
    for (unsigned i = 0; i < p->policies; i++) {
        const struct fleet_policy *one = &p->policy[i];
        _cleanup_free_ char *pool = *one->pool ? xasprintf("'pool':'%s'", one->pool) : xstrdup(""),
                            *zones = one->max_zones ? xasprintf("'maxZones':%u,", one->max_zones)
                                                    : xstrdup("");
        create(sim, "/apis/slipway.dev/v1alpha1/policies",
               "{'apiVersion':'slipway.dev/v1alpha1','kind':'Policy','metadata':{'name':'%s'},"
               "'spec':{'nodeSelector':{'matchLabels':{%s}},'maxUnavailable':%s%u%s,%s%s'drain':{},"
               "'fleetlock':{'groups':['default'],'ids':{'nodeNames':true}}}}",
               one->name, pool, one->percent ? "'" : "", one->max, one->percent ? "%'" : "", zones,
               one->impatient ? "'drainTimeout':'60s','escalation':'release'," : "");
    }
}

/* Budgets let one go at a time at least: what can never go is the drain's own soak. */
static void add_pods(struct sim *sim, const struct fleet_plan *p, struct prng *r) {
    for (unsigned i = 0; i < p->deployments; i++) {
        unsigned replicas = (unsigned)pick(r, 1, p->pods);
        create(sim, "/apis/apps/v1/namespaces/default/deployments",
               "{'metadata':{'name':'app-%u'},'spec':{'replicas':%u,'selector':{'matchLabels':{"
               "'app':'app-%u'}},'template':{'metadata':{'labels':{'app':'app-%u'},'annotations':{"
               "'sim.slipway.dev/stop':'1s-%ds','sim.slipway.dev/ready':'1s-%ds'}},'spec':{"
               "'terminationGracePeriodSeconds':%d,'containers':[{'name':'c','image':"
               "'example.com/a:1','resources':{'requests':{'cpu':'10m'}}}]}}}}",
               i, replicas, i, i, (int)pick(r, 1, 20), (int)pick(r, 1, 10), (int)pick(r, 1, 30));
        if (chance(r, 60))
            create(sim, "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                   "{'metadata':{'name':'app-%u'},'spec':{'maxUnavailable':1,'selector':{"
                   "'matchLabels':{'app':'app-%u'}}}}",
                   i, i);
    }
    if (chance(r, 50))
        create(sim, "/apis/apps/v1/namespaces/default/daemonsets",
               "{'metadata':{'name':'agent'},'spec':{'selector':{'matchLabels':{'app':'agent'}},"
               "'template':{'metadata':{'labels':{'app':'agent'}},'spec':{'tolerations':[{"
               "'operator':'Exists'}],'containers':[{'name':'c','image':'example.com/ds:1'}]}}}}");
}

struct sim *fleet_gen(const struct fleet_plan *p) {
    struct prng r = {p->seed * 0xd1342543de82ef95u + 5};
    struct sim *sim = sim_new(&(struct sim_options){.seed = p->seed, .start = START, .speed = 1});
    create(sim, "/api/v1/namespaces", "{'metadata':{'name':'" FLEET_NS "'}}");
    add_definitions(sim);
    add_nodes(sim, p);
    add_policies(sim, p);
    add_pods(sim, p, &r);
    (void)sim_settle(sim, SEC(120));
    return sim;
}
